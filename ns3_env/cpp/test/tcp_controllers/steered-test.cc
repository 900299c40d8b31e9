// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a controller on a TCP flow: window, rate, less than a packet, waiting, marks, losses.
#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/controllers/steered.h"
#include "ns3_env/cpp/test/suite.h"
#include "ns3_env/cpp/test/tcp/episodes.h"

#include <cmath>
#include <functional>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-steered");

constexpr double RATE = 10e9;
constexpr Picos DELAY = 5 * PS_PER_US;
constexpr uint32_t SEGMENT = 1448;

/// Applies the test's settings, and records its inputs.
class Script final : public CongestionControl
{
  public:
    void OnFlowStart(FlowState& flow) override { atStart(flow); }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        acks.push_back(ack);
        mostInflight = std::max(mostInflight, flow.InflightBytes());
        atAck(flow, ack);
    }

    void OnNack(FlowState&, Picos) override { ++losses; }
    void OnTimeout(FlowState&, Picos) override { ++timeouts; }
    void OnFlowEnd(FlowState&, Picos) override { ++ends; }

    std::function<void(FlowState&)> atStart = [](FlowState&) {};
    std::function<void(FlowState&, const AckSample&)> atAck = [](FlowState&, const AckSample&) {};
    std::vector<AckSample> acks;
    uint64_t mostInflight{0};
    uint32_t losses{0};
    uint32_t timeouts{0};
    uint32_t ends{0};
};

TcpSettings
AckEach()
{
    TcpSettings settings;
    settings.segmentsPerAck = 1;
    return settings;
}

/// One flow through a link under a script.
class Scripted
{
  public:
    explicit Scripted(uint64_t bytes,
                      double middleBps = RATE,
                      const TcpSettings& settings = AckEach(),
                      double loss = 0)
        : m_scenario(SlowMiddle(1, RATE, middleBps, DELAY))
    {
        m_scenario.lossProbability = loss;
        AddFlow(m_scenario, 0, 1, bytes);
        m_episode =
            std::make_unique<TestEpisode>(m_scenario, settings, ControllerSpec{"agent", {}});
        Flow().SetController(script, dynamic_cast<Steered&>(Flow().Sender().CongestionOps()));
    }

    TcpFlow& Flow() { return m_episode->Flow(0); }
    TestEpisode& Run() { return *m_episode; }

    Ptr<Script> script{CreateObject<Script>()};

  private:
    Scenario m_scenario;
    std::unique_ptr<TestEpisode> m_episode;
};

TEST("a window of bytes lets a segment go while less is in flight")
{
    for (const double segments : {1.0, 3.0, 3.5, 8.0})
    {
        Scripted run(ENDLESS_BYTES);
        run.script->atStart = [segments](FlowState& flow) { flow.SetWindow(segments * SEGMENT); };
        run.Run().RunUntil(10 * PS_PER_MS);
        const double inFlight = std::ceil(segments);
        const auto rtt = static_cast<double>(run.Flow().Path().baseRtt) / PS_PER_SECOND;
        const double bytes = static_cast<double>(run.Flow().AckedBytes());
        const double possible = inFlight * SEGMENT * 10e-3 / rtt;
        EXPECT_NEAR(bytes, possible, 0.02 * possible, segments << " segments");
        EXPECT_LE(run.script->mostInflight,
                  static_cast<uint64_t>(inFlight) * SEGMENT,
                  segments << " segments");
    }
}

TEST("a rate is of bytes on the wire, and a new one holds from the next segment on")
{
    Scripted run(ENDLESS_BYTES);
    run.script->atStart = [](FlowState& flow) { flow.SetRate(1e9); };
    run.Run().RunUntil(10 * PS_PER_MS);
    const auto first = static_cast<double>(run.Flow().AckedBytes());
    const double share = double{SEGMENT} / FrameBytes(SEGMENT);
    EXPECT_NEAR(first * 8, 1e9 * share * 10e-3, 1e9 * share * 1e-4, "1 Gb/s");
    run.Flow().SetRate(4e9);
    run.Flow().WindowAndRateWritten();
    run.Run().RunUntil(20 * PS_PER_MS);
    const auto second = static_cast<double>(run.Flow().AckedBytes()) - first;
    EXPECT_NEAR(second * 8, 4e9 * share * 10e-3, 4e9 * share * 1e-4, "4 Gb/s");
}

TEST("a window below a packet lets one go every gap that its share of a packet makes")
{
    constexpr double PACKETS = 0.25; // per base RTT
    Scripted run(ENDLESS_BYTES);
    run.script->atStart = [](FlowState& flow)
    { flow.SetWindow(PACKETS * flow.Path().packetBytes); };
    run.Run().RunUntil(20 * PS_PER_MS);
    const auto& acks = run.script->acks;
    const auto gap = static_cast<Picos>(static_cast<double>(run.Flow().Path().baseRtt) / PACKETS);
    for (size_t i = 2; i < acks.size(); ++i) // the first waits for the handshake
    {
        EXPECT_NEAR(acks[i].now - acks[i - 1].now, gap, PS_PER_NS, i);
    }
    EXPECT_GT(acks.size(), 50, "it goes on");
}

TEST("a flow that is held sends nothing new until it is let go")
{
    Scripted run(ENDLESS_BYTES);
    bool held = false;
    run.script->atAck = [&](FlowState& state, const AckSample& ack)
    {
        if (!held && ack.now > PS_PER_MS)
        {
            held = true;
            run.Flow().SetHeld(true);
        }
        static_cast<void>(state);
    };
    run.script->atStart = [](FlowState& flow) { flow.SetWindow(20.0 * SEGMENT); };
    run.Run().RunUntil(2 * PS_PER_MS);
    const uint64_t sent = run.Flow().TransmittedBytes();
    run.Run().RunUntil(3 * PS_PER_MS);
    EXPECT(held, "it was held");
    EXPECT_EQ(run.Flow().TransmittedBytes(), sent, "nothing is sent");
    EXPECT_EQ(run.Flow().AckedBytes(), sent, "what was sent has arrived");
    run.Flow().SetHeld(false);
    run.Flow().WindowAndRateWritten();
    EXPECT_EQ(run.Flow().TransmittedBytes(), sent + SEGMENT, "at once");
    run.Run().RunUntil(4 * PS_PER_MS);
    EXPECT_GT(run.Flow().AckedBytes(), sent + 100 * SEGMENT, "it goes on");
}

TEST("an ACK tells its RTT, its bytes and whether its segment was marked")
{
    constexpr uint64_t BYTES = 400ULL * SEGMENT + 77;
    TcpSettings settings = AckEach();
    settings.queue.discipline = EcnThreshold{.threshold = {4, QueueLength::Unit::Packets}};
    Scripted run(BYTES, 5e9, settings);
    run.script->atStart = [](FlowState& flow) { flow.SetWindow(30.0 * SEGMENT); };
    run.Run().Run();
    uint64_t bytes = 0;
    uint64_t reported = 0;
    for (const AckSample& ack : run.script->acks)
    {
        bytes += ack.newlyAckedBytes;
        reported += ack.ecnMarked ? 1 : 0;
        EXPECT_GE(ack.rtt, PS_PER_US, "an RTT");
    }
    EXPECT_EQ(bytes, BYTES, "every byte once");
    EXPECT_EQ(run.script->acks.size(), 401, "each segment has its ACK");
    uint64_t marked = 0;
    for (const Egress& egress : run.Run().Net().Egresses())
    {
        marked += egress.egress->Marked();
    }
    EXPECT_GT(marked, 100, "the queue was long");
    EXPECT_EQ(reported, marked, "each mark is reported once");
    EXPECT_EQ(run.script->ends, 1, "and the end");
}

TEST("TCP repairs what is lost, and the window stays the controller's")
{
    constexpr uint64_t BYTES = 4000ULL * SEGMENT;
    TcpSettings settings = AckEach();
    settings.minRto = 2 * PS_PER_MS;
    Scripted run(BYTES, RATE, settings, 2e-3);
    run.script->atStart = [](FlowState& flow) { flow.SetWindow(40.0 * SEGMENT); };
    run.Run().Run();
    EXPECT(run.Flow().IsFinished(), "it ends");
    EXPECT_EQ(run.Flow().ReceivedBytes(), BYTES, "whole");
    EXPECT_GT(run.script->losses, 3, "losses are reported");
    EXPECT_GT(run.Flow().RetransmittedBytes(), 0, "and repaired");
    EXPECT_EQ(run.Flow().Sender().WindowBytes(), 40 * SEGMENT, "the window");
}

} // namespace

} // namespace ns3::env::tcp::test
