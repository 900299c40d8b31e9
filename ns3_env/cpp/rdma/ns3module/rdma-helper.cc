// SPDX-License-Identifier: GPL-2.0-or-later
// Helper that builds RDMA networks: cards, switches, links, controllers, flows and captures.
#include "rdma-helper.h"

#include "ns3/abort.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/// Sets an attribute, or reports the accepted values in one sentence.
void
SetOrAbort(TypeId type, const std::string& name, const AttributeValue& value)
{
    TypeId::AttributeInformation info;
    NS_ABORT_MSG_IF(!type.LookupAttributeByName(name, &info),
                    "RdmaHelper: " << type.GetName() << " has no attribute '" << name << "'");
    NS_ABORT_MSG_IF(!info.checker->CreateValidValue(value),
                    "RdmaHelper: attribute " << name << " of " << type.GetName() << " takes "
                                             << info.checker->GetUnderlyingTypeInformation()
                                             << " and not '"
                                             << value.SerializeToString(info.checker) << "'");
}

} // namespace

RdmaHelper::RdmaHelper()
    : m_network(RdmaNetwork::Get())
{
}

void
RdmaHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    SetOrAbort(RdmaNetDevice::GetTypeId(), name, value);
    m_devices.Set(name, value);
}

void
RdmaHelper::SetChannelAttribute(const std::string& name, const AttributeValue& value)
{
    SetOrAbort(RdmaChannel::GetTypeId(), name, value);
    m_channels.Set(name, value);
}

void
RdmaHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    SetOrAbort(RdmaNetwork::GetTypeId(), name, value);
    m_network->SetAttribute(name, value);
}

void
RdmaHelper::InstallSwitch(const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        m_network->AddSwitch(*node);
    }
}

NetDeviceContainer
RdmaHelper::Connect(Ptr<Node> a, Ptr<Node> b)
{
    NS_ABORT_MSG_IF(a == b, "RdmaHelper: node " << a->GetId() << " cannot be connected to itself");
    const auto channel = m_channels.Create<RdmaChannel>();
    NetDeviceContainer devices;
    for (const Ptr<Node>& node : {a, b})
    {
        const auto device = m_devices.Create<RdmaNetDevice>();
        node->AddDevice(device);
        device->Attach(channel);
        devices.Add(device);
    }
    return devices;
}

NetDeviceContainer
RdmaHelper::Install(const NodeContainer& hosts, Ptr<Node> leaf)
{
    m_network->AddSwitch(leaf);
    NetDeviceContainer cards;
    for (auto host = hosts.Begin(); host != hosts.End(); ++host)
    {
        cards.Add(Connect(*host, leaf).Get(0));
    }
    return cards;
}

Ptr<RdmaNetDevice>
RdmaHelper::CardOf(Ptr<Node> host)
{
    for (uint32_t i = 0; i < host->GetNDevices(); ++i)
    {
        if (const auto card = DynamicCast<RdmaNetDevice>(host->GetDevice(i)))
        {
            return card;
        }
    }
    NS_ABORT_MSG("RdmaHelper: node " << host->GetId() << " has no RdmaNetDevice");
}

Ptr<RdmaApplication>
RdmaHelper::AddFlow(Ptr<Node> from, Ptr<Node> to, uint64_t bytes, Time start)
{
    return AddFlow(Ptr<NetDevice>(CardOf(from)), CardOf(to), bytes, start);
}

Ptr<RdmaApplication>
RdmaHelper::AddFlow(Ptr<NetDevice> from, Ptr<NetDevice> to, uint64_t bytes, Time start)
{
    const Ptr<Node> node = from->GetNode();
    NS_ABORT_MSG_IF(node == to->GetNode(),
                    "RdmaHelper: a flow from node " << node->GetId() << " to itself");
    const auto application =
        CreateObjectWithAttributes<RdmaApplication>("Local",
                                                    AddressValue(from->GetAddress()),
                                                    "Remote",
                                                    AddressValue(to->GetAddress()),
                                                    "Size",
                                                    UintegerValue(bytes),
                                                    "Controller",
                                                    StringValue(m_controller));
    application->SetStartTime(start);
    node->AddApplication(application);
    return application;
}

Ptr<RdmaApplication>
RdmaHelper::AddStream(Ptr<Node> from, Ptr<Node> to, DataRate rate, Time start, Time stop)
{
    return AddStream(Ptr<NetDevice>(CardOf(from)), CardOf(to), rate, start, stop);
}

Ptr<RdmaApplication>
RdmaHelper::AddStream(Ptr<NetDevice> from, Ptr<NetDevice> to, DataRate rate, Time start, Time stop)
{
    const Ptr<RdmaApplication> application = AddFlow(from, to, 0, start);
    application->SetAttribute("StreamRate", DataRateValue(rate));
    application->SetStopTime(stop);
    return application;
}

void
RdmaHelper::EnablePcapInternal(std::string prefix,
                               Ptr<NetDevice> device,
                               bool,
                               bool explicitFilename)
{
    if (const auto card = DynamicCast<RdmaNetDevice>(device))
    {
        const std::string file =
            explicitFilename ? prefix : PcapHelper().GetFilenameFromDevice(prefix, device);
        m_network->Capture(prefix, card, file);
    }
}

} // namespace ns3
