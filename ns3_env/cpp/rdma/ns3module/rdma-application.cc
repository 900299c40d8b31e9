// SPDX-License-Identifier: GPL-2.0-or-later
// Application that sends one RDMA flow, or a stream at a constant rate, and reports its end.
#include "rdma-application.h"

#include "rdma-network.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/engine/watched-trace.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaApplication);

namespace
{
constexpr uint64_t MOST_BYTES = 1'000'000'000'000'000;
uint64_t g_made = 0; ///< applications so far
} // namespace

TypeId
RdmaApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaApplication")
            .SetParent<Application>()
            .SetGroupName("Rdma")
            .AddConstructor<RdmaApplication>()
            .AddAttribute("Local",
                          "Address of the card that the flow leaves by; none: the node's first.",
                          AddressValue(),
                          MakeAddressAccessor(&RdmaApplication::m_local),
                          MakeAddressChecker())
            .AddAttribute("Remote",
                          "Address of the card that the flow goes to.",
                          AddressValue(),
                          MakeAddressAccessor(&RdmaApplication::m_remote),
                          MakeAddressChecker())
            .AddAttribute("Size",
                          "Bytes of the flow; 0: it never ends.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaApplication::m_size),
                          MakeUintegerChecker<uint64_t>(0, MOST_BYTES))
            .AddAttribute(
                "Controller",
                "Congestion controller, with attributes of its own: hpcc[Eta=0.9|MaxStage=5].",
                StringValue("dcqcn"),
                MakeStringAccessor(&RdmaApplication::m_controller),
                MakeStringChecker())
            .AddAttribute("TrafficClass",
                          "Index of the flow's class, where the network has several.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaApplication::m_trafficClass),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("StreamRate",
                          "Above 0: a stream of this rate on the wire, which nothing steers.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RdmaApplication::m_streamRate),
                          MakeDataRateChecker())
            .AddTraceSource("Window",
                            "The controller's window, bytes.",
                            env::MakeWatchedTrace(&RdmaApplication::m_window),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("Rate",
                            "The controller's pacing rate, bit/s.",
                            env::MakeWatchedTrace(&RdmaApplication::m_rate),
                            "ns3::TracedValueCallback::Double")
            .AddTraceSource("FlowCompleted",
                            "The flow's last byte was acknowledged; how long that took.",
                            MakeTraceSourceAccessor(&RdmaApplication::m_completedTrace),
                            "ns3::RdmaApplication::CompletedCallback");
    return tid;
}

RdmaApplication::RdmaApplication()
    : m_serial(g_made++)
{
}

void
RdmaApplication::StartApplication()
{
    RdmaNetwork::Get()->StartFlow(this);
}

void
RdmaApplication::Watch()
{
    m_watched = true;
    RdmaNetwork::Get()->WatchWindows(this);
}

void
RdmaApplication::OnWindowAndRate(double windowBytes, double rateBps)
{
    m_window = windowBytes;
    m_rate = rateBps;
}

void
RdmaApplication::OnCompleted(Time duration)
{
    m_completed = true;
    m_duration = duration;
    m_completedTrace(this, duration);
}

} // namespace ns3
