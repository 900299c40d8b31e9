// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA network of a simulation: settings and components for the engine's network.
#include "rdma-network.h"

#include "script-run.h"
#include "script-scenario.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/scenario-error.h"
#include "ns3_env/cpp/run/attributes.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaNetwork);

namespace
{

Ptr<RdmaNetwork> g_network; ///< of the present simulation

/// Makes ns3::Simulator the engine's event loop, in picoseconds.
void
ChooseEventLoop()
{
    if (env::EventLoop::Current() != nullptr)
    {
        return;
    }
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
    GlobalValue::Bind("SimulatorImplementationType", StringValue("rdma::EventLoop"));
    Simulator::Now(); // from here on there is a loop
    NS_ABORT_MSG_IF(env::EventLoop::Current() == nullptr,
                    "RdmaHelper: another event loop runs already: make the helper before the first "
                    "node and the first event");
}

} // namespace

TypeId
RdmaNetwork::GetTypeId()
{
    using namespace env;
    static TypeId tid =
        TypeId("ns3::RdmaNetwork")
            .SetParent<Object>()
            .SetGroupName("Rdma")
            .AddConstructor<RdmaNetwork>()
            .AddAttribute("PayloadBytes",
                          "Payload of a full packet.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&RdmaNetwork::m_payloadBytes),
                          MakeUintegerChecker<uint32_t>(1, bounds::PAYLOAD_BYTES))
            .AddAttribute("BufferBytes",
                          "Buffer of each switch, shared by its ports; 0: 32 MiB with links of 100 "
                          "Gb/s and more, else 16, or what reserves and headrooms ask for.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaNetwork::m_bufferBytes),
                          MakeUintegerChecker<uint64_t>(0, bounds::BUFFER_BYTES))
            .AddAttribute("Pfc",
                          "Whether switches pause their neighbours; a full buffer loses otherwise.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaNetwork::m_pfc),
                          MakeBooleanChecker())
            .AddAttribute("PfcAlphaShift",
                          "A port is paused above the free buffer >> this.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaNetwork::m_alphaShift),
                          MakeUintegerChecker<uint32_t>(0, bounds::ALPHA_SHIFT))
            .AddAttribute("ReserveBytes",
                          "Bytes that each ingress port has to itself.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RdmaNetwork::m_reserveBytes),
                          MakeUintegerChecker<uint32_t>(0, bounds::RESERVE_BYTES))
            .AddAttribute("ResumeOffsetBytes",
                          "A paused port is resumed so many bytes below its threshold.",
                          UintegerValue(3072),
                          MakeUintegerAccessor(&RdmaNetwork::m_resumeOffsetBytes),
                          MakeUintegerChecker<uint32_t>(0, bounds::RESERVE_BYTES))
            .AddAttribute("HeadroomFrames",
                          "Full frames of headroom beyond 3 x rate x delay of the link.",
                          UintegerValue(2),
                          MakeUintegerAccessor(&RdmaNetwork::m_headroomFrames),
                          MakeUintegerChecker<uint32_t>(0, bounds::HEADROOM_FRAMES))
            .AddAttribute("Ecn",
                          "Marking: auto (as the flows' controllers are published), off, or \"KMIN "
                          "KMAX PMAX RATE\", bytes at that rate: \"100000 400000 0.2 25Gbps\".",
                          StringValue("auto"),
                          MakeStringAccessor(&RdmaNetwork::m_ecn),
                          MakeStringChecker())
            .AddAttribute("LoadBalancing",
                          "What switches choose among equal paths by: ecmp (the flow's hash), or "
                          "for each packet random, round_robin or least_queue.",
                          StringValue("ecmp"),
                          MakeStringAccessor(&RdmaNetwork::m_balancing),
                          MakeStringChecker())
            .AddAttribute("MinRate",
                          "Least rate of a flow; 0: a hundredth of its card's.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RdmaNetwork::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute(
                "RetransmissionTimeout",
                "After so long without an answer a flow sends again; 0: from the buffers.",
                TimeValue(Time(0)),
                MakeTimeAccessor(&RdmaNetwork::m_retransmissionTimeout),
                MakeTimeChecker(Time(0)))
            .AddAttribute(
                "Settings",
                "What else the engine knows, as JSON with the keys of rdma-sim's scenario: "
                "classes, load_balancing, failures, loss, selective_repeat, nic.",
                StringValue(""),
                MakeStringAccessor(&RdmaNetwork::m_settings),
                MakeStringChecker())
            .AddAttribute("OtherClass",
                          "Index of the class that frames of other stacks are in (TCP, UDP, ARP).",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaNetwork::m_otherClass),
                          MakeUintegerChecker<uint8_t>(0, 7))
            .AddAttribute("ResultsFile",
                          "File that results go to at the end, as rdma-sim writes them.",
                          StringValue(""),
                          MakeStringAccessor(&RdmaNetwork::m_results),
                          MakeStringChecker())
            .AddAttribute("StopWithLastFlow",
                          "Whether the simulation stops when all flows that it knows have ended.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaNetwork::m_stopsWithLastFlow),
                          MakeBooleanChecker());
    return tid;
}

RdmaNetwork::RdmaNetwork() = default;
RdmaNetwork::~RdmaNetwork() = default;

Ptr<RdmaNetwork>
RdmaNetwork::Get()
{
    if (!g_network)
    {
        ChooseEventLoop();
        g_network = CreateObject<RdmaNetwork>();
        Config::RegisterRootNamespaceObject(g_network);
        Simulator::ScheduleNow(&RdmaNetwork::Build, PeekPointer(g_network));
        Simulator::ScheduleDestroy(&RdmaNetwork::End, PeekPointer(g_network));
    }
    return g_network;
}

void
RdmaNetwork::CheckController(const std::string& controller)
{
    const std::string refused =
        env::Refused([&] { env::CreateController(env::ControllerOf(controller)); });
    NS_ABORT_MSG_UNLESS(refused.empty(), "RdmaHelper: " << refused);
}

void
RdmaNetwork::Capture(const std::string& prefix, Ptr<RdmaNetDevice> device, const std::string& file)
{
    NS_ABORT_MSG_IF(m_run,
                    "RdmaHelper: captures begin with the simulation: ask before Simulator::Run");
    NS_ABORT_MSG_IF(!m_capture.prefix.empty() && m_capture.prefix != prefix,
                    "RdmaHelper: captures of one network have one prefix, not '"
                        << m_capture.prefix << "' and '" << prefix << "'");
    m_capture.prefix = prefix;
    m_capture.files[device] = file;
}

void
RdmaNetwork::Describe(env::ScriptSettings& settings) const
{
    settings.payloadBytes = m_payloadBytes;
    settings.bufferBytes = m_bufferBytes;
    settings.pfc = m_pfc;
    settings.alphaShift = m_alphaShift;
    settings.reserveBytes = m_reserveBytes;
    settings.resumeOffsetBytes = m_resumeOffsetBytes;
    settings.headroomFrames = m_headroomFrames;
    settings.ecn = m_ecn;
    settings.balancing = m_balancing;
    settings.minRateBps = static_cast<double>(m_minRate.GetBitRate());
    settings.retransmissionTimeout = m_retransmissionTimeout.GetTimeStep();
    settings.more = m_settings;
    settings.switches = m_switches;
}

void
RdmaNetwork::Build()
{
    env::ScriptSettings settings;
    Describe(settings);
    m_run = env::ScriptRun::Begin(settings, m_capture, m_results, m_stopsWithLastFlow);
}

void
RdmaNetwork::End()
{
    const Ptr<RdmaNetwork> self = g_network; // keeps the object until this returns
    if (m_run)
    {
        m_run->End();
    }
    Config::UnregisterRootNamespaceObject(self);
    g_network = nullptr;
    Dispose();
}

void
RdmaNetwork::DoDispose()
{
    m_run.reset();
    m_capture = {};
    Object::DoDispose();
}

void
RdmaNetwork::StartFlow(Ptr<RdmaApplication> application)
{
    if (m_run)
    {
        m_run->StartFlow(application);
    }
}

void
RdmaNetwork::WatchWindows(Ptr<RdmaApplication> application)
{
    if (m_run)
    {
        m_run->WatchWindows(*application);
    }
}

bool
RdmaNetwork::Carry(Ptr<RdmaNetDevice> device,
                   Ptr<Packet> packet,
                   const Address& dest,
                   uint16_t protocol)
{
    return m_run && m_run->Carry(*device, packet, dest, protocol, m_otherClass);
}

std::size_t
RdmaNetwork::GetNLiveFlows() const
{
    return m_run ? m_run->Network().LiveFlows().size() : 0;
}

uint64_t
RdmaNetwork::GetNPauseFrames() const
{
    return m_run ? m_run->Network().Totals().pauseFrames : 0;
}

uint64_t
RdmaNetwork::GetNDrops() const
{
    return m_run ? m_run->Network().Totals().droppedPackets : 0;
}

} // namespace ns3
