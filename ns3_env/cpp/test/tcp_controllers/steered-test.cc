// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a controller on a TCP flow: window, rate, less than a packet, waiting, marks, losses.
#include "ns3_env/cpp/tcp/controllers/steered.h"
#include "ns3_env/cpp/test/tcp/episodes.h"

#include <cmath>
#include <functional>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-steered");

constexpr double RATE = 10e9;
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
        atAck(ack);
    }

    void OnNack(FlowState&, Picos) override { ++losses; }
    void OnFlowEnd(FlowState&, Picos) override { ++ends; }

    std::function<void(FlowState&)> atStart;
    std::function<void(const AckSample&)> atAck = [](const AckSample&) {};
    std::vector<AckSample> acks;
    uint64_t mostInflight{0};
    uint32_t losses{0};
    uint32_t ends{0};
};

/// One flow through a link under a script.
class Scripted
{
  public:
    Scripted(const std::function<void(FlowState&)>& atStart,
             uint64_t bytes = ENDLESS_BYTES,
             double middleBps = RATE,
             const TcpSettings& settings = AckEach(),
             double loss = 0)
    {
        Scenario s = SlowMiddle(1, RATE, middleBps, 5 * US);
        s.lossProbability = loss;
        AddFlow(s, 0, 1, bytes);
        run = std::make_unique<TestEpisode>(s, settings, ControllerSpec{"agent", {}});
        script->atStart = atStart;
        Flow().SetController(script, dynamic_cast<Steered&>(Flow().Sender().CongestionOps()));
    }

    TcpFlow& Flow() { return run->Flow(0); }

    Ptr<Script> script{CreateObject<Script>()};
    std::unique_ptr<TestEpisode> run;
};

/// Gives a flow a window of so many segments at its start.
std::function<void(FlowState&)>
Window(double segments)
{
    return [segments](FlowState& flow) { flow.SetWindow(segments * SEGMENT); };
}

TEST("a window of bytes lets a segment go while less is in flight")
{
    for (const double segments : {1.0, 3.0, 3.5, 8.0})
    {
        Scripted scripted(Window(segments));
        scripted.run->RunUntil(10 * MS);
        const double inFlight = std::ceil(segments) * SEGMENT;
        const auto rtt = static_cast<double>(scripted.Flow().Path().baseRtt) / PS_PER_SECOND;
        const double possible = inFlight * 10e-3 / rtt;
        EXPECT_NEAR(scripted.Flow().AckedBytes(), possible, 0.02 * possible, segments);
        EXPECT_LE(scripted.script->mostInflight, static_cast<uint64_t>(inFlight), segments);
    }
}

TEST("a rate is of bytes on the wire, and a new one holds from the next segment on")
{
    Scripted scripted([](FlowState& flow) { flow.SetRate(1e9); });
    EXPECT_NEAR(scripted.run->GoodputShare(0, 10 * MS, 1e9), 1, 0.01, "1 Gb/s");
    scripted.Flow().SetRate(4e9);
    scripted.Flow().WindowAndRateWritten();
    EXPECT_NEAR(scripted.run->GoodputShare(10 * MS, 20 * MS, 4e9), 1, 0.01, "4 Gb/s");
}

TEST("a window below a packet lets one go every gap that its share of a packet makes")
{
    constexpr double PACKETS = 0.25; // per base RTT
    Scripted scripted([](FlowState& flow) { flow.SetWindow(PACKETS * flow.Path().packetBytes); });
    scripted.run->RunUntil(20 * MS);
    const auto& acks = scripted.script->acks;
    const double gap = static_cast<double>(scripted.Flow().Path().baseRtt) / PACKETS;
    for (size_t i = 2; i < acks.size(); ++i) // the first waits for the handshake
    {
        EXPECT_NEAR(acks[i].now - acks[i - 1].now, gap, NS, i);
    }
    EXPECT_GT(acks.size(), 50, "it goes on");
}

TEST("a flow that is held sends nothing new until it is let go")
{
    Scripted scripted(Window(20));
    TcpFlow& flow = scripted.Flow();
    bool held = false;
    scripted.script->atAck = [&](const AckSample& ack)
    {
        if (!held && ack.now > MS)
        {
            held = true;
            flow.SetHeld(true);
        }
    };
    scripted.run->RunUntil(2 * MS);
    const uint64_t sent = flow.TransmittedBytes();
    scripted.run->RunUntil(3 * MS);
    EXPECT(held, "it was held");
    EXPECT_EQ(flow.TransmittedBytes(), sent, "nothing is sent");
    EXPECT_EQ(flow.AckedBytes(), sent, "what was sent has arrived");
    flow.SetHeld(false);
    flow.WindowAndRateWritten();
    EXPECT_EQ(flow.TransmittedBytes(), sent + SEGMENT, "at once");
    scripted.run->RunUntil(4 * MS);
    EXPECT_GT(flow.AckedBytes(), sent + 100 * SEGMENT, "it goes on");
}

TEST("an ACK tells its RTT, its bytes and whether its segment was marked")
{
    constexpr uint64_t BYTES = 400ULL * SEGMENT + 77;
    TcpSettings settings = AckEach();
    settings.queue.discipline = EcnThreshold{.threshold = Packets(4)};
    Scripted scripted(Window(30), BYTES, 5e9, settings);
    scripted.run->Run();
    uint64_t bytes = 0;
    uint64_t reported = 0;
    for (const AckSample& ack : scripted.script->acks)
    {
        bytes += ack.newlyAckedBytes;
        reported += ack.ecnMarked ? 1 : 0;
        EXPECT_GE(ack.rtt, US, "an RTT");
    }
    EXPECT_EQ(bytes, BYTES, "every byte once");
    EXPECT_EQ(scripted.script->acks.size(), 401, "each segment has its ACK");
    const uint64_t marked = scripted.run->PortTo(2, 3).Marked();
    EXPECT_GT(marked, 100, "the queue was long");
    EXPECT_EQ(reported, marked, "each mark is reported once");
    EXPECT_EQ(scripted.script->ends, 1, "and the end");
}

TEST("TCP repairs what is lost, and the window stays the controller's")
{
    constexpr uint64_t BYTES = 4000ULL * SEGMENT;
    TcpSettings settings = AckEach();
    settings.minRto = 2 * MS;
    settings.delayedAckTimeout = MS;
    Scripted scripted(Window(40), BYTES, RATE, settings, 2e-3);
    scripted.run->Run();
    EXPECT(scripted.Flow().IsFinished(), "it ends");
    EXPECT_EQ(scripted.Flow().ReceivedBytes(), BYTES, "whole");
    EXPECT_GT(scripted.script->losses, 3, "losses are reported");
    EXPECT_GT(scripted.Flow().RetransmittedBytes(), 0, "and repaired");
    EXPECT_EQ(scripted.Flow().Sender().WindowBytes(), 40 * SEGMENT, "the window");
}

} // namespace

} // namespace ns3::env::tcp::test
