// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of HPCC by one byte: the byte, the switch's meter, the sender's reaction (Basat 2020).
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/telemetry/utilisation-byte.h"
#include "ns3_env/cpp/rdma/telemetry/utilisation-meter.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <cmath>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-hpcc-pint");

/// A flow whose ACKs a test writes.
struct Driven
{
    explicit Driven(double frequency = 1)
    {
        control->SetAttribute("Frequency", DoubleValue(frequency));
        control->OnFlowStart(flow);
    }

    void Ack(uint64_t acked, uint32_t level)
    {
        flow.Acked(acked);
        const std::vector<IntRecord> hops{{0, 0, 0, 0, level}};
        control->OnAck(flow, {.ackedBytes = acked, .newlyAckedBytes = 1000, .hops = hops});
    }

    const PathFacts facts = DumbbellFacts(1049);
    FakeFlow flow{facts};
    Ptr<CongestionControl> control = ObjectFactory("rdma::hpcc-pint").Create<CongestionControl>();
};

TEST("eight bits hold a utilisation to 2.5 %, and are right in expectation")
{
    EXPECT_EQ(utilisation_byte::Encode(0.0, 0.0), 0, "an idle link");
    EXPECT_EQ(utilisation_byte::Decode(0), 0.0, "and back");
    EXPECT_EQ(utilisation_byte::Encode(1e6, 0.5), 255, "more than there is a level for");
    EXPECT_NEAR(utilisation_byte::Decode(255), 280, 10, "the last level");
    for (const double value : {0.0005, 0.001, 0.03, 0.5, 0.95, 1.0, 1.7, 64.0, 250.0})
    {
        constexpr int DRAWS = 1000;
        double sum = 0;
        for (int i = 0; i < DRAWS; ++i)
        {
            const double read =
                utilisation_byte::Decode(utilisation_byte::Encode(value, (i + 0.5) / DRAWS));
            sum += read;
            const bool near = std::abs(std::log(read / value)) < std::log(utilisation_byte::STEP);
            EXPECT(value < utilisation_byte::LEAST || near, "a level of the two next to " << value);
        }
        EXPECT_NEAR(sum / DRAWS,
                    value,
                    1e-3 * utilisation_byte::STEP * std::max(value, 0.001),
                    value);
    }
}

TEST("a switch averages what it sends and holds over a base RTT; of the hops the largest stays")
{
    constexpr Picos RTT = 6'240'000;
    UtilisationMeter meter;
    EXPECT_NEAR(meter.Measure(RTT, 78000, 0, 100e9, RTT), 1.0, 1e-12, "full since the start");
    EXPECT_NEAR(meter.Measure(2 * RTT, 78000, 39000, 100e9, RTT), 0.5, 1e-12, "half a BDP waits");
    // a quarter of an RTT, in which the link sent at half its rate
    EXPECT_NEAR(meter.Measure(2 * RTT + RTT / 4, 78000 + 9750, 0, 100e9, RTT),
                0.75 * 0.5 + 0.25 * 0.5,
                1e-12,
                "U <- (T - tau) / T U + tau / T u");
    EXPECT_NEAR(meter.Measure(12 * RTT + RTT / 4, 87750, 0, 100e9, RTT), 0, 1e-12, "idle for long");
    EXPECT_EQ(meter.Measure(12 * RTT + RTT / 4, 99999, 9, 100e9, RTT), 0, "the same instant");

    Packet packet{};
    UtilisationMeter::Write(packet, 140);
    UtilisationMeter::Write(packet, 150);
    UtilisationMeter::Write(packet, 145);
    EXPECT_EQ(packet.IntRecords().size(), 1, "one for all hops");
    EXPECT_EQ(packet.IntRecords()[0].flows, 150, "the busiest");
}

TEST("the sender sets HPCC's rate by the byte as it is, without an average of its own")
{
    Driven driven;
    const FakeFlow& flow = driven.flow;
    EXPECT_EQ(driven.control->GetIntRequest().wireBytes, 1, "one byte");
    EXPECT(!driven.control->GetIntRequest().hopRecords, "no records");
    driven.flow.Sent(20000);
    const uint32_t level = utilisation_byte::Encode(1.9, 0.0);
    const auto from = [&](double reference)
    { return std::floor(reference / (utilisation_byte::Decode(level) / 0.95)) + 40e6; };
    const double rate = from(100e9);
    driven.Ack(1000, level);
    EXPECT_NEAR(flow.RateBps(), rate, 1.0, "rate = reference / (U / eta) + AI");
    EXPECT_NEAR(flow.WindowBytes(), std::floor(78000 * rate / 100e9), 1e-9, "W");
    driven.Ack(2000, level);
    EXPECT_NEAR(flow.RateBps(), rate, 1.0, "from the same reference until a window is through");
    driven.Ack(20001, level);
    driven.Ack(21000, level);
    EXPECT_NEAR(flow.RateBps(), from(rate), 1.0, "committed");
}

TEST("a share of the packets alone is read")
{
    Driven driven(1.0 / 16);
    driven.flow.Sent(100'000'000);
    int read = 0;
    constexpr int PACKETS = 16000;
    for (int i = 1; i <= PACKETS; ++i)
    {
        const double before = driven.flow.RateBps();
        driven.Ack(1000 * static_cast<uint64_t>(i), i % 2 == 0 ? 120 : 150);
        read += driven.flow.RateBps() != before ? 1 : 0;
    }
    // each that is read differs from the one before with a probability of a half
    EXPECT_NEAR(read, PACKETS / 32, 100, "one in sixteen");
}

} // namespace

} // namespace ns3::env::rdma::test
