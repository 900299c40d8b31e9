// SPDX-License-Identifier: GPL-2.0-or-later
// Full-duplex link between two RDMA devices, as an ns-3 channel.
#include "rdma-channel.h"

#include "rdma-net-device.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaChannel);

TypeId
RdmaChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RdmaChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Rdma")
                            .AddConstructor<RdmaChannel>()
                            .AddAttribute("Delay",
                                          "Propagation delay of the link, the same both ways.",
                                          TimeValue(MicroSeconds(1)),
                                          MakeTimeAccessor(&RdmaChannel::m_delay),
                                          MakeTimeChecker(Time(0), Seconds(10)));
    return tid;
}

void
RdmaChannel::Attach(Ptr<RdmaNetDevice> device)
{
    NS_ABORT_MSG_IF(m_ends[1], "RdmaChannel: a link has two ends, and both have a device");
    m_ends[m_ends[0] ? 1 : 0] = device;
}

std::size_t
RdmaChannel::GetNDevices() const
{
    return m_ends[1] ? 2 : (m_ends[0] ? 1 : 0);
}

Ptr<NetDevice>
RdmaChannel::GetDevice(std::size_t i) const
{
    return m_ends[i];
}

void
RdmaChannel::DoDispose()
{
    m_ends = {};
    Channel::DoDispose();
}

} // namespace ns3
