// SPDX-License-Identifier: GPL-2.0-or-later
// One message by TCP: both ends of its connection, from the SYN to the last byte's ACK.
#include "tcp-flow.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/controllers/steered.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::env::tcp
{

namespace
{

constexpr double BITS = 8;

} // namespace

TcpFlow::TcpFlow(const FlowSpec& spec,
                 Network& network,
                 const FiveTuple& tuple,
                 PathFacts path,
                 EndpointPair ends)
    : m_spec(spec),
      m_network(network),
      m_tuple(tuple),
      m_facts(std::move(path)),
      m_sender(std::move(ends.sender)),
      m_receiver(std::move(ends.receiver))
{
    m_path = &m_facts;
    m_id = spec.id;
    m_sizeBytes = spec.sizeBytes;
    m_startTime = spec.start;
    m_pacing.SetPath(m_facts, m_facts.hostRateBps);
    m_sender->SetAcknowledgedCallback([this] { OnAcknowledged(); });
    m_receiver->SetLastByte(spec.IsEndless() ? 0 : spec.sizeBytes);
}

TcpFlow::~TcpFlow()
{
    Abort();
}

// --- its life ------------------------------------------------------------------------------------

void
TcpFlow::Start()
{
    // Also now by an event: nodes are ready when theirs of the same instant have run.
    const Picos wait = std::max<Picos>(m_spec.start - NowPicos(), 0);
    m_start = Simulator::Schedule(TimeStep(static_cast<uint64_t>(wait)), &TcpFlow::Open, this);
}

void
TcpFlow::Open()
{
    if (m_controller)
    {
        CallHook([this] { m_controller->OnFlowStart(*this); });
        m_sender->SteerFromStart(SegmentsOfWindow(), PayloadBps());
        ReportWindowAndRate();
    }
    Connection& connection = m_network.Open(m_tuple, TCP_PROTOCOL);
    m_receiver->Await(connection.back);
    m_sender->Dial(connection.there, m_spec.sizeBytes);
    m_network.Close(connection); // its ends keep it alive
}

void
TcpFlow::Abort()
{
    m_start.Cancel();
    m_sender->Release();
    m_receiver->Release();
}

void
TcpFlow::OnAcknowledged()
{
    m_ackedBytes = m_sender->AcknowledgedBytes();
    m_sentBytes = m_sender->NextByte();
    if (m_ackedBytes < m_spec.sizeBytes || IsFinished())
    {
        return;
    }
    m_end = NowPicos();
    if (m_controller)
    {
        CallHook([this] { m_controller->OnFlowEnd(*this, m_end); });
    }
    ReportFinished();
}

// --- steered by a controller ---------------------------------------------------------------------

void
TcpFlow::SetController(Ptr<CongestionControl> controller, Steered& socket)
{
    m_controller = controller;
    socket.SetEvents(
        {.acknowledged = [this] { PassAck(); },
         .recovers = [this] { CallHook([this] { m_controller->OnNack(*this, NowPicos()); }); },
         .timedOut = [this] { CallHook([this] { m_controller->OnTimeout(*this, NowPicos()); }); }});
}

void
TcpFlow::CallHook(const std::function<void()>& hook)
{
    m_inHook = true; // the controller's settings take effect when it returns
    hook();
    m_inHook = false;
}

void
TcpFlow::PassAck()
{
    const uint64_t before = m_ackedBytes;
    m_ackedBytes = m_sender->AcknowledgedBytes();
    m_sentBytes = m_sender->NextByte();
    const RttSamples& rtts = m_sender->Rtts();
    // A repeated ACK has no RTT sample.
    const Picos rtt = m_sender->LastAckRtt() > 0 ? m_sender->LastAckRtt()
                      : rtts.Count() > 0         ? rtts.Last()
                                                 : m_facts.baseRtt;
    const AckSample sample{.now = NowPicos(),
                           .rtt = rtt,
                           .ackedBytes = m_ackedBytes,
                           .newlyAckedBytes = m_ackedBytes - before,
                           .ecnMarked = m_sender->LastAckMarked(),
                           .hops = {}};
    CallHook([&] { m_controller->OnAck(*this, sample); });
    ApplyWindowAndRate();
}

void
TcpFlow::WindowAndRateWritten()
{
    if (m_inHook)
    {
        return;
    }
    ApplyWindowAndRate();
    m_sender->GoOn();
}

uint32_t
TcpFlow::SegmentsOfWindow() const
{
    // A segment may leave while the data in flight is below the window: the window's segments, rounded up.
    const double segments = std::ceil(WindowBytes() / m_facts.payloadBytes);
    const double most = std::floor(m_sender->SendBufferBytes() / m_facts.payloadBytes);
    return static_cast<uint32_t>(std::clamp(segments, 1.0, std::max(most, 1.0)));
}

double
TcpFlow::PayloadBps() const
{
    double bps = RateBps();
    if (WindowBytes() < m_facts.payloadBytes)
    {
        // One packet of L bytes on the wire every base RTT * L / W (Pacing).
        const double baseSeconds = static_cast<double>(m_facts.baseRtt) / PS_PER_SECOND;
        bps = std::min(bps, std::max(WindowBytes(), 1.0) * BITS / baseSeconds);
    }
    return std::max(bps * m_facts.payloadBytes / m_facts.packetBytes, 1.0);
}

void
TcpFlow::ApplyWindowAndRate()
{
    m_sender->Steer(SegmentsOfWindow() * m_facts.payloadBytes, PayloadBps());
    if (m_pacing.TakeRepaced())
    {
        m_sender->Repace();
    }
    ReportWindowAndRate();
}

// --- reported ------------------------------------------------------------------------------------

void
TcpFlow::ReportWindowAndRate()
{
    if (m_report && m_pacing.TakeChange())
    {
        m_report(*this);
    }
}

void
TcpFlow::TraceWindowAndRate(std::function<void(const FlowState&)> report)
{
    m_report = std::move(report);
    if (m_controller)
    {
        return; // the controller writes them itself
    }
    m_sender->Variables().TraceConnectWithoutContext("CongestionWindow",
                                                     Callback<void, uint32_t, uint32_t>(
                                                         [this](uint32_t, uint32_t bytes)
                                                         {
                                                             SetWindow(bytes);
                                                             ReportWindowAndRate();
                                                         }));
    const auto pace = [this](double payloadBps) // as ns-3 paces
    {
        const double wire = payloadBps * m_facts.packetBytes / m_facts.payloadBytes;
        SetRate(std::min(wire, m_facts.hostRateBps));
    };
    if (m_sender->IsPaced())
    {
        pace(m_sender->PacingRateBps()); // the first packets'
    }
    m_sender->Variables().TraceConnectWithoutContext(
        "PacingRate",
        Callback<void, DataRate, DataRate>(
            [this, pace](DataRate, DataRate rate)
            {
                pace(static_cast<double>(rate.GetBitRate()));
                ReportWindowAndRate();
            }));
}

} // namespace ns3::env::tcp
