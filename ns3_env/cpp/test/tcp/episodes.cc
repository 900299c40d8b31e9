// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's TCP flows on a separate network, for tests.
#include "episodes.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

namespace ns3::env::tcp::test
{

namespace
{
constexpr uint16_t FIRST_SOURCE_PORT = 10000;
}

TcpSettings
ShortTimeouts(Picos minRto, Picos delayedAck)
{
    TcpSettings settings;
    settings.delayedAckTimeout = delayedAck;
    settings.minRto = minRto;
    return settings;
}

TcpSettings
AckEach()
{
    TcpSettings settings;
    settings.segmentsPerAck = 1;
    return settings;
}

TestEpisode::TestEpisode(Scenario scenario,
                         const TcpSettings& settings,
                         const ControllerSpec& controller)
    : m_scenario(std::move(scenario))
{
    RngSeedManager::ResetNextStreamIndex();
    m_fabric = std::make_unique<Fabric>(m_scenario, settings);
    for (const FlowEntry& entry : m_scenario.flows)
    {
        const auto port = static_cast<uint16_t>(FIRST_SOURCE_PORT + entry.flow.id);
        m_flows.push_back(m_fabric->Connect(
            entry.flow,
            port,
            entry.controller == 0 ? controller : m_scenario.controllers[entry.controller]));
        m_unfinished += entry.flow.IsEndless() ? 0 : 1;
        m_flows.back()->SetFinishedCallback(
            [this](env::Flow&)
            {
                if (--m_unfinished == 0)
                {
                    Simulator::Stop();
                }
            });
        m_flows.back()->Start();
    }
}

TestEpisode::~TestEpisode()
{
    m_flows.clear();
    m_fabric.reset();
    Simulator::Destroy();
}

void
TestEpisode::Run()
{
    RunUntil(m_scenario.timeLimit);
}

void
TestEpisode::RunUntil(Picos time)
{
    const Picos now = Simulator::Now().GetTimeStep();
    const EventId end =
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(time - now)), [] { Simulator::Stop(); });
    Simulator::Run();
    Simulator::Cancel(end);
}

uint64_t
TestEpisode::ReceivedBytes() const
{
    uint64_t bytes = 0;
    for (const auto& flow : m_flows)
    {
        bytes += flow->ReceivedBytes();
    }
    return bytes;
}

double
TestEpisode::GoodputShare(Picos begin, Picos end, double rateBps, uint64_t segmentBytes)
{
    RunUntil(begin);
    const uint64_t before = ReceivedBytes();
    RunUntil(end);
    const auto frames =
        static_cast<double>(ReceivedBytes() - before) / static_cast<double>(segmentBytes);
    const double seconds = static_cast<double>(end - begin) / PS_PER_SECOND;
    return frames * static_cast<double>(FrameBytes(segmentBytes)) * 8 / seconds / rateBps;
}

uint64_t
TestEpisode::SentPayload() const
{
    uint64_t bytes = 0;
    for (const auto& flow : m_flows)
    {
        bytes += flow->TransmittedBytes();
    }
    return bytes;
}

Scenario
SlowMiddle(uint32_t senders, double hostBps, double middleBps, Picos delay)
{
    Scenario s = env::test::Dumbbell(senders, hostBps, delay);
    s.links[senders].rateBps = middleBps;
    return s;
}

OnTheWay::OnTheWay(const Fabric& fabric)
{
    for (const Egress& egress : fabric.Egresses())
    {
        egress.egress->Add(*this);
    }
}

void
OnTheWay::OnTaken(const Port&, const Segment& segment)
{
    m_bytes[segment.channel->tuple] += segment.payload;
}

void
OnTheWay::OnReceived(const Port&, const Segment& segment)
{
    m_bytes[segment.channel->tuple] -= segment.payload;
}

void
OnTheWay::OnLost(const Port&, const Segment& segment, LossCause cause)
{
    m_bytes[segment.channel->tuple] -= cause == LossCause::Link ? segment.payload : 0;
}

int64_t
OnTheWay::Bytes() const
{
    int64_t bytes = 0;
    for (const auto& [tuple, some] : m_bytes)
    {
        bytes += some;
    }
    return bytes;
}

int64_t
OnTheWay::BytesOf(const FiveTuple& tuple) const
{
    const auto some = m_bytes.find(tuple);
    return some == m_bytes.end() ? 0 : some->second;
}

} // namespace ns3::env::tcp::test
