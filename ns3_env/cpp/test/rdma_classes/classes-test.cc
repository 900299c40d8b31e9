// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of traffic classes: shares, priority, pauses and marks of each, and that nothing is lost.
#include "ns3_env/cpp/rdma/classes/class-switch.h"
#include "ns3_env/cpp/rdma/link/wire-frame.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <array>
#include <map>
#include <string>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-classes");

constexpr uint32_t FRAME = 1000 + MAX_HEADER_BYTES;
constexpr Picos PACKET_TIME = PACKET_BYTES * 80; // at 100 Gb/s

/// Classes of these weights, lossless and without marks.
void
AddClasses(Scenario& s, const std::vector<double>& weights)
{
    for (const double weight : weights)
    {
        TrafficClass own;
        own.name = static_cast<char>('a' + s.classes.size());
        own.weight = weight;
        s.classes.push_back(own);
    }
}

/// A dumbbell's flows in classes of these weights, with windows that fill the link.
Scenario
Classed(const std::vector<double>& weights, const std::vector<FlowRow>& flows, uint64_t window)
{
    Scenario s = Exact(2, flows);
    AddClasses(s, weights);
    SetWindow(s, window);
    s.timeLimit = 1000 * US;
    return s;
}

const ClassPort&
ClassesOf(const SwitchPort& port)
{
    return dynamic_cast<const ClassPort&>(port);
}

Picos
Duration(TestNetwork& net, size_t flow)
{
    return net.Of(flow).end - net->GetScenario().flows[flow].flow.start;
}

TEST("strict classes come first, the others in rounds by their weights, to a quantum")
{
    Scenario s;
    AddClasses(s, {0, 5, 2, 1});
    ClassScheduler scheduler(s.classes, FRAME);
    std::array<uint64_t, 4> sent{};
    std::array<bool, 4> ready{true, true, true, true};
    const auto isReady = [&](uint32_t i) { return ready[i]; };
    const auto serve = [&](uint32_t bytes)
    {
        const auto own = scheduler.Next(isReady);
        ASSERT(own.has_value(), "something is ready");
        scheduler.OnSent(*own, bytes);
        sent[*own] += bytes;
    };
    serve(FRAME);
    serve(60);
    ASSERT_EQ(sent[0], FRAME + 60, "the strict class");
    ready[0] = false;
    for (uint32_t i = 0; i < 100'000; ++i)
    {
        serve(60 + i * 7919 % (FRAME - 59)); // any length
        const std::array<double, 3> rounds{sent[1] / 5.0, sent[2] / 2.0, sent[3] / 1.0};
        const auto [least, most] = std::ranges::minmax(rounds);
        ASSERT_LE(most - least, 2.0 * FRAME, "shares after " << i << " packets");
    }
    ready = {false, false, true, false};
    const uint64_t before = sent[2];
    serve(FRAME);
    serve(FRAME);
    serve(FRAME);
    ASSERT_EQ(sent[2] - before, 3 * FRAME, "one alone has all");
    ready = {};
    ASSERT(!scheduler.Next(isReady).has_value(), "nothing is ready");
}

TEST("a saturated link is shared by the weights, to a quantum, at the switch and at the NIC")
{
    for (const uint32_t second : {1, 0}) // the second class's host
    {
        for (const double weight : {1.0, 3.0, 7.5})
        {
            const Case about(Shown(weight) + " : 1 from hosts 0 and " + Shown(second));
            TestNetwork net(Classed({weight, 1},
                                    {{0, 2, ENDLESS_BYTES}, {second, 2, ENDLESS_BYTES, 0, 1}},
                                    1'000'000));
            const ClassPort& port = ClassesOf(net.PortTo(3, 4));
            std::array<double, 2> sent{};
            const auto count = [&](double sign)
            {
                sent[0] += sign * static_cast<double>(port.Queues()[0].txBytes);
                sent[1] += sign * static_cast<double>(port.Queues()[1].txBytes);
            };
            At(100 * US, [&] { count(-1); });
            net->Run();
            count(1);
            ASSERT_NEAR(sent[0] / weight, sent[1], 2.0 * FRAME, "shares of a saturated link");
            ASSERT_NEAR(sent[0] + sent[1], 900e-6 * 100e9 / 8, 2.0 * PACKET_BYTES, "full");
        }
    }
}

/// A message of a strict class competes with one that fills all links, between the same hosts.
TEST("a strict class takes as long as alone, and one packet at most for each hop")
{
    for (const Picos start : {1 * US, 50 * US + 17 * NS, 333 * US + 333 * NS})
    {
        const auto duration = [start](bool alone)
        {
            std::vector<FlowRow> flows{{0, 2, 200'000, start},
                                       {0, 2, ENDLESS_BYTES, 0, 1},
                                       {1, 2, ENDLESS_BYTES, 0, 1}};
            flows.resize(alone ? 1 : 3);
            Played net(Classed({0, 0}, flows, 2'000'000));
            return Duration(net, 0);
        };
        const Picos more = duration(false) - duration(true);
        constexpr int HOPS = 3; // of data, and the same number of the last ACK
        ASSERT_GE(more, 0, "no faster, from " << start);
        ASSERT_LE(more, HOPS * (PACKET_TIME + 80 * AckBytes(0)), "no slower, from " << start);
    }
}

/// Host 0 sends to a slow link in one class and to a fast one in another; a pause of one does not stop the other.
TEST("a pause of one class does not stop another")
{
    struct Victim
    {
        Picos duration;
        Picos pause;
        Picos pauseOfOther;
    };
    const auto headOfLine = [](bool classes) -> Victim
    {
        Scenario s = NetworkOf(4, 1, {{0, 4}, {1, 4}, {2, 4}, {3, 4}});
        s.links[2].rateBps = 10e9;
        s.buffer.bufferBytes = 500'000;
        SetWindow(s, 1'000'000);
        AddFlows(s, {{0, 2, 1'000'000}, {1, 2, 1'000'000}, {0, 3, 500'000, 100 * US}});
        if (classes)
        {
            AddClasses(s, {1, 1});
            s.flows[2].flow.trafficClass = 1;
        }
        Played net(std::move(s));
        EXPECT_EQ(net->Context().droppedPackets, 0, "nothing is lost");
        return {Duration(net, 2), net.Of(2).pause, net.Of(0).pause};
    };
    const Victim of = headOfLine(true);
    ASSERT_GT(of.pauseOfOther, 100 * US, "the class that meets the slow link is paused");
    ASSERT_EQ(of.pause, 0, "the other one is not");
    // 500 packets at half of the link at worst, and a round trip.
    ASSERT_LE(of.duration, 2 * 500 * PACKET_TIME + 10 * US, "it takes its share at least");
    const Victim one = headOfLine(false);
    ASSERT_GT(one.pause, 100 * US, "in one class both are paused");
    ASSERT_GT(one.duration, 3 * of.duration, "and the other waits for the slow link");
}

/// An incast of eight classes over a buffer that is hardly larger than the reserve for pauses.
void
TinyBuffer(Picos delay, const std::vector<double>& weights, bool lossyLast)
{
    const Case about(std::string(lossyLast ? "the last class without PFC" : "PFC") + ", links of " +
                     Shown(delay / NS) + " ns");
    constexpr uint32_t SENDERS = 16;
    Scenario s = Dumbbell(SENDERS, 100e9, delay);
    s.published = false;
    AddClasses(s, weights);
    s.classes.back().pfc = !lossyLast;
    s.links.back().rateBps = 25e9;
    s.retransmissionTimeout = 2000 * US;
    const auto headroom = static_cast<uint64_t>(3 * 100e9 / 8 * delay / PS_PER_SECOND) + 2 * FRAME +
                          MOST_CLASSES * PFC_FRAME_BYTES;
    const uint64_t pool = lossyLast ? 400 : 20; // go-back-N makes no progress if nothing fits
    s.buffer.bufferBytes = (SENDERS + 1) * MOST_CLASSES * (4096 + headroom) + pool * FRAME;
    SetWindow(s, 60'000);
    for (uint32_t i = 0; i < 2 * SENDERS; ++i)
    {
        const auto own = static_cast<uint8_t>((i / 2 + 3 * (i % 2)) % MOST_CLASSES);
        AddFlows(s, {{i / 2, SENDERS, 100'000, i % 2 * 7 * US, own}});
    }
    TestNetwork net(std::move(s));
    std::array<uint64_t, MOST_CLASSES> dropped{};
    const auto onDrop = [&](const Packet& packet, LossCause) { ++dropped[packet.flow->Class()]; };
    for (Port* port : net->Ports())
    {
        port->TraceConnectWithoutContext("Drop", Callback<void, const Packet&, LossCause>(onDrop));
    }
    net->Run();
    ASSERT_EQ(net->Unfinished(), 0, "every flow ends");
    ASSERT_GT(net->Context().pfcFrames, 0, "it was tight");
    for (const auto& [id, sw] : net->Switches())
    {
        uint64_t waiting = 0; // of the class without PFC, including packets sent in vain
        for (const auto& port : sw->Ports())
        {
            uint64_t frames = port->TxBytes();
            for (const ClassPort::Queue& own : ClassesOf(*port).Queues())
            {
                waiting += own.bytes;
                frames -= own.txBytes;
            }
            ASSERT_EQ(frames % PFC_FRAME_BYTES, 0, "all bytes are a class's, or PFC frames");
        }
        ASSERT_EQ(sw->Buffer().UsedBytes(), waiting, "buffer of switch " << id);
        ASSERT(waiting == 0 || lossyLast, "nothing is left of what is never lost");
    }
    std::array<uint64_t, MOST_CLASSES> delivered{};
    for (size_t i = 0; i < 2 * SENDERS; ++i)
    {
        delivered[net->GetScenario().flows[i].flow.trafficClass] +=
            PACKET_BYTES * (net.Of(i).ackedBytes + net.Of(i).retransmittedBytes) / 1000;
    }
    for (size_t i = 0; i < MOST_CLASSES; ++i)
    {
        const bool mayLose = lossyLast && i + 1 == MOST_CLASSES;
        const auto& last = ClassesOf(net.PortTo(SENDERS + 2, SENDERS)).Queues();
        ASSERT_EQ(dropped[i] > 0, mayLose, "losses of class " << i);
        ASSERT(mayLose || last[i].txBytes == delivered[i], "class " << i << " at the last link");
    }
}

TEST("nothing is lost in a class with PFC, whatever the buffer, and every byte is accounted for")
{
    const std::vector<double> mixed{0, 0, 8, 4, 2, 1, 1, 1};
    for (const Picos delay : {Picos{0}, 10 * NS, 1 * US})
    {
        TinyBuffer(delay, std::vector<double>(MOST_CLASSES, 0), false);
        TinyBuffer(delay, mixed, false);
        TinyBuffer(delay, mixed, true);
    }
}

/// Some 90 packets of either class wait; one class marks above 10 packets, the other above 100.
TEST("each class marks by its own queue and thresholds")
{
    const std::vector<FlowRow> endless{{0, 2, ENDLESS_BYTES}, {1, 2, ENDLESS_BYTES, 0, 1}};
    Scenario s = Classed({1, 1}, endless, 130'000);
    const auto from = [](double bytes) { return EcnConfig{true, bytes, bytes, 1.0, 100e9}; };
    s.classes[0].ecn = from(10 * PACKET_BYTES);
    s.classes[1].ecn = from(100 * PACKET_BYTES);
    s.timeLimit = 200 * US;
    TestNetwork net(std::move(s));
    std::map<uint32_t, int> marks;
    net->TraceEvents([&](uint32_t flow) { ++marks[flow]; }, [](uint32_t, uint32_t, bool) {});
    const SwitchPort& port = net.PortTo(3, 4);
    uint64_t longest = 0;
    for (Picos at = 20 * US; at < 200 * US; at += 10 * US)
    {
        At(at, [&] { longest = std::max(longest, port.QueueBytes()); });
    }
    net->Run();
    ASSERT_GT(longest, 100 * PACKET_BYTES, "together they are above either threshold");
    ASSERT_GT(marks[0], 500, "the first class's are marked");
    ASSERT_EQ(marks[1], 0, "the second one's are not");
}

TEST("telemetry has the queue of the packet's own class")
{
    constexpr uint64_t UNIT = 80 * 4; // of HPCC's header at 100 Gb/s
    const std::vector<FlowRow> endless{{0, 2, ENDLESS_BYTES}, {1, 2, ENDLESS_BYTES, 0, 1}};
    Scenario s = Classed({1, 1}, endless, 0);
    s.timeLimit = 100 * US;
    s.controllers = {{"hpcc", {}}, {"fixed-window", {{"Window", "300000"}}}};
    s.flows[1].controller = 1;
    TestNetwork net(std::move(s));
    SwitchPort& port = net.PortTo(3, 4);
    int seen = 0;
    uint64_t hidden = 0;
    const auto look = [&](const Packet& packet)
    {
        if (packet.telemetry != Telemetry::None)
        {
            const uint64_t own = ClassesOf(port).Queues()[0].bytes;
            ASSERT_EQ(packet.IntRecords().back().queueBytes, own - own % UNIT, "its class's");
            hidden = std::max(hidden, port.QueueBytes() - own);
            ++seen;
        }
    };
    Trace(port, "Tx", look);
    net->Run();
    ASSERT_GT(seen, 100, "packets with records");
    ASSERT_GT(hidden, 100'000, "the other class's queue was long");
}

TEST("a captured frame has its class's priority, and a pause the bit and the time of its own")
{
    const std::vector<uint8_t> pause = PfcFrame(PacketKind::Pause, 0, PriorityOf(2));
    constexpr size_t VECTOR = 16; // after addresses, EtherType and opcode
    for (uint8_t priority = 0; priority < 8; ++priority)
    {
        const bool own = priority == 5;
        ASSERT_EQ(pause[VECTOR + 1] >> priority & 1, own, "enabled");
        ASSERT_EQ(pause[VECTOR + 3 + 2 * priority] > 0, own, "time");
    }
    Packet packet{};
    packet.payloadBytes = 1000;
    FlowHeaders headers{0, 0, 1, 10'000, 1000, 5000, true, false, PriorityOf(2) << 3};
    constexpr size_t DS_FIELD = 14 + 1;
    ASSERT_EQ(RoceFrame(packet, headers, 0, 1)[DS_FIELD] >> 5, 5, "class selector 5");
}

TEST("classes that a network cannot have are refused")
{
    const auto refusal = [](auto change)
    {
        Scenario s = Classed({1, 1}, {{0, 2, 1000}}, 0);
        change(s);
        return Refusal([&] { TestNetwork net(std::move(s)); });
    };
    const auto leastRemaining = [](Scenario& s) { s.scheduling = Scheduling::LeastRemaining; };
    ASSERT_EQ(refusal([](Scenario&) {}), "", "these it can");
    ASSERT_NE(refusal([](Scenario& s) { s.published = true; }), "", "published timing");
    ASSERT_NE(refusal(leastRemaining), "", "least remaining first");
}

} // namespace

} // namespace ns3::env::rdma::test
