// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of traffic classes: shares, priority, pauses and marks of each, and that nothing is lost.
#include "ns3_env/cpp/rdma/classes/class-switch.h"
#include "ns3_env/cpp/rdma/link/wire-frame.h"
#include "ns3_env/cpp/test/rdma/test-network.h"
#include "ns3_env/cpp/test/suite.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-classes");

constexpr Picos NS = PS_PER_NS;
constexpr Picos US = 1000 * NS;
constexpr uint32_t PACKET = 1048; // on the wire, of fixed-window's flows
constexpr uint32_t FRAME = 1000 + MAX_HEADER_BYTES;

/// Classes of these weights, lossless and without marks.
void
AddClasses(Scenario& s, const std::vector<double>& weights)
{
    s.published = false;
    for (const double weight : weights)
    {
        TrafficClass own;
        own.name = static_cast<char>('a' + s.classes.size());
        own.weight = weight;
        s.classes.push_back(own);
    }
}

void
AddFlowOf(Scenario& s,
          uint8_t trafficClass,
          uint32_t from,
          uint32_t to,
          uint64_t bytes,
          Picos start = 0)
{
    AddFlow(s, from, to, bytes, start);
    s.flows.back().flow.trafficClass = trafficClass;
}

/// Serialisation at 100 Gb/s.
Picos
At100G(uint64_t bytes)
{
    return static_cast<Picos>(bytes * 80);
}

const ClassPort&
ClassesOf(const SwitchPort& port)
{
    return dynamic_cast<const ClassPort&>(port);
}

Picos
Duration(TestNetwork& net, size_t flow)
{
    return net->Records()[flow].end - net->GetScenario().flows[flow].flow.start;
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
        const auto [least, most] = std::minmax_element(rounds.begin(), rounds.end());
        ASSERT_LE(*most - *least, 2.0 * FRAME, "shares after " << i << " packets");
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

/// Two classes that always have something to send, from two hosts or from one.
void
Shares(double weight, bool oneHost)
{
    const Case about("weights " + std::to_string(weight) + " : 1, " +
                     (oneHost ? "at the NIC" : "at the switch"));
    Scenario s = Dumbbell(2, 100e9);
    AddClasses(s, {weight, 1});
    s.timeLimit = 1000 * US;
    s.controllers[0].attributes = {{"Window", "1000000"}};
    AddFlowOf(s, 0, 0, 2, ENDLESS_BYTES);
    AddFlowOf(s, 1, oneHost ? 0 : 1, 2, ENDLESS_BYTES);
    TestNetwork net(std::move(s));
    const ClassPort& port = ClassesOf(net.PortTo(3, 4));
    std::array<double, 2> before{};
    Simulator::Schedule(Time(100 * US),
                        [&]
                        {
                            for (size_t i = 0; i < 2; ++i)
                            {
                                before[i] = static_cast<double>(port.Queues()[i].txBytes);
                            }
                        });
    net->Run();
    const double first = static_cast<double>(port.Queues()[0].txBytes) - before[0];
    const double second = static_cast<double>(port.Queues()[1].txBytes) - before[1];
    ASSERT_NEAR(first / weight, second, 2.0 * FRAME, "shares of a saturated link");
    ASSERT_NEAR(first + second, 900e-6 * 100e9 / 8, 2.0 * PACKET, "the link is full");
}

TEST("a saturated link is shared by the weights, to a quantum")
{
    for (const bool oneHost : {false, true})
    {
        Shares(1, oneHost);
        Shares(3, oneHost);
        Shares(7.5, oneHost);
    }
}

TEST("shares that one class does not use are the other's")
{
    const auto last = [](bool classes)
    {
        Scenario s = Dumbbell(2, 100e9);
        s.published = false;
        s.controllers[0].attributes = {{"Window", "10000000"}};
        AddFlow(s, 0, 2, 1'000'000);
        AddFlow(s, 1, 2, 4'000'000);
        if (classes)
        {
            AddClasses(s, {100, 1});
            s.flows[1].flow.trafficClass = 1;
        }
        TestNetwork net(std::move(s));
        net->Run();
        return std::pair{Duration(net, 0), Duration(net, 1)};
    };
    const auto [small, large] = last(true);
    const auto [smallFifo, largeFifo] = last(false);
    ASSERT_EQ(large, largeFifo, "the link is busy as long, whoever comes first");
    ASSERT_LT(small, smallFifo * 6 / 10, "though one had nearly all of it");
}

/// A message of a strict class competes with one that fills all links, between the same hosts.
TEST("a strict class takes as long as alone, and one packet at most for each hop")
{
    for (const Picos start : {1 * US, 50 * US + 17 * NS, 333 * US + 333 * NS})
    {
        const Case about("from " + std::to_string(start / NS) + " ns on");
        const auto duration = [start](bool alone)
        {
            Scenario s = Dumbbell(2, 100e9);
            AddClasses(s, {0, 0});
            s.timeLimit = 1000 * US;
            s.controllers[0].attributes = {{"Window", "2000000"}};
            AddFlowOf(s, 0, 0, 2, 200'000, start);
            if (!alone)
            {
                AddFlowOf(s, 1, 0, 2, ENDLESS_BYTES);
                AddFlowOf(s, 1, 1, 2, ENDLESS_BYTES);
            }
            TestNetwork net(std::move(s));
            net->Run();
            return Duration(net, 0);
        };
        const Picos alone = duration(true);
        const Picos beside = duration(false);
        constexpr int HOPS = 3; // of data, and the same number of the last ACK
        ASSERT_GE(beside, alone, "no faster");
        ASSERT_LE(beside, alone + HOPS * (At100G(PACKET) + At100G(AckBytes(0))), "no slower");
    }
}

/// Host 0 sends to a slow link in one class and to a fast one in another; a pause of one does not stop the other.
struct Victim
{
    Picos duration;
    Picos pause;
    Picos pauseOfOther;
    uint64_t lost;
};

Victim
HeadOfLine(bool classes)
{
    constexpr uint32_t SWITCH = 4;
    Scenario s;
    s.timeLimit = 10'000 * US;
    s.isSwitch = {false, false, false, false, true};
    for (uint32_t host = 0; host < 4; ++host)
    {
        s.links.push_back({host, SWITCH, host == 2 ? 10e9 : 100e9, 1 * US});
    }
    s.controllers.push_back({"fixed-window", {{"Window", "1000000"}}});
    s.buffer.bufferBytes = 500'000;
    AddFlow(s, 0, 2, 1'000'000);
    AddFlow(s, 1, 2, 1'000'000);
    AddFlow(s, 0, 3, 500'000, 100 * US);
    if (classes)
    {
        AddClasses(s, {1, 1});
        s.flows[2].flow.trafficClass = 1;
    }
    TestNetwork net(std::move(s));
    net->Run();
    return {Duration(net, 2),
            net->Records()[2].pause,
            net->Records()[0].pause,
            net->Context().droppedPackets};
}

TEST("a pause of one class does not stop another")
{
    const Victim of = HeadOfLine(true);
    ASSERT_GT(of.pauseOfOther, 100 * US, "the class that meets the slow link is paused");
    ASSERT_EQ(of.pause, 0, "the other one is not");
    ASSERT_EQ(of.lost, 0, "nothing is lost");
    // 500 packets at half of the link at worst, and a round trip.
    ASSERT_LE(of.duration, 2 * 500 * At100G(PACKET) + 10 * US, "it takes its share at least");
    const Victim one = HeadOfLine(false);
    ASSERT_GT(one.pause, 100 * US, "in one class both are paused");
    ASSERT_GT(one.duration, 3 * of.duration, "and the other waits for the slow link");
}

/// An incast of eight classes over a buffer that is hardly larger than the reserve for pauses.
void
TinyBuffer(Picos delay, const std::vector<double>& weights, bool lossyLast)
{
    const Case about("eight classes, links of " + std::to_string(delay / NS) + " ns" +
                     (lossyLast ? ", the last one without PFC" : ""));
    constexpr uint32_t SENDERS = 16;
    Scenario s = Dumbbell(SENDERS, 100e9, delay);
    AddClasses(s, weights);
    s.classes.back().pfc = !lossyLast;
    s.links.back().rateBps = 25e9;
    s.retransmissionTimeout = 2000 * US;
    const auto headroom = static_cast<uint64_t>(3 * 100e9 / 8 * delay / PS_PER_SECOND) + 2 * FRAME +
                          MOST_CLASSES * PFC_FRAME_BYTES;
    const uint64_t pool = lossyLast ? 400 : 20; // go-back-N makes no progress if nothing fits
    s.buffer.bufferBytes = (SENDERS + 1) * MOST_CLASSES * (4096 + headroom) + pool * FRAME;
    s.controllers[0].attributes = {{"Window", "60000"}};
    for (uint32_t sender = 0; sender < SENDERS; ++sender)
    {
        for (uint8_t own = 0; own < 2; ++own)
        {
            AddFlowOf(s, (sender + 3 * own) % MOST_CLASSES, sender, SENDERS, 100'000, own * 7 * US);
        }
    }
    TestNetwork net(std::move(s));
    std::array<uint64_t, MOST_CLASSES> dropped{};
    for (Port* port : net->Ports())
    {
        port->TraceConnectWithoutContext(
            "Drop",
            Callback<void, const Packet&, LossCause>([&](const Packet& packet, LossCause)
                                                     { ++dropped[packet.flow->Class()]; }));
    }
    net->Run();
    ASSERT_EQ(net->Unfinished(), 0, "every flow ends");
    ASSERT_GT(net->Context().pfcFrames, 0, "it was tight");
    for (size_t i = 0; i < MOST_CLASSES; ++i)
    {
        const bool mayLose = lossyLast && i + 1 == MOST_CLASSES;
        ASSERT_EQ(dropped[i] > 0, mayLose, "losses of class " << i);
    }
    for (const auto& [id, sw] : net->Switches())
    {
        uint64_t waiting = 0; // of the class without PFC, including packets sent in vain
        for (const auto& port : sw->Ports())
        {
            uint64_t sent = 0;
            for (const ClassPort::Queue& own : ClassesOf(*port).Queues())
            {
                waiting += own.bytes;
                sent += own.txBytes;
            }
            const uint64_t frames = port->TxBytes() - sent;
            ASSERT_EQ(frames % PFC_FRAME_BYTES, 0, "all bytes are a class's, or PFC frames");
        }
        ASSERT_EQ(sw->Buffer().UsedBytes(), waiting, "buffer of switch " << id);
        ASSERT_EQ(waiting > 0 && !lossyLast, false, "nothing is left of what is never lost");
    }
    std::array<uint64_t, MOST_CLASSES> delivered{};
    const auto& flows = net->GetScenario().flows;
    for (size_t i = 0; i < flows.size(); ++i)
    {
        delivered[flows[i].flow.trafficClass] +=
            PACKET * (net->Records()[i].ackedBytes + net->Records()[i].retransmittedBytes) / 1000;
    }
    const auto& last = ClassesOf(net.PortTo(SENDERS + 2, SENDERS)).Queues();
    for (size_t i = 0; i < MOST_CLASSES - (lossyLast ? 1 : 0); ++i)
    {
        ASSERT_EQ(last[i].txBytes, delivered[i], "bytes of class " << i << " at the last link");
    }
}

TEST("nothing is lost in a class with PFC, whatever the buffer, and every byte is accounted for")
{
    const std::vector<double> strict(MOST_CLASSES, 0);
    const std::vector<double> mixed{0, 0, 8, 4, 2, 1, 1, 1};
    for (const Picos delay : {Picos{0}, 10 * NS, 1 * US})
    {
        TinyBuffer(delay, strict, false);
        TinyBuffer(delay, mixed, false);
        TinyBuffer(delay, mixed, true);
    }
}

/// Flows of 20 packets each wait at a port; one class marks above 10 packets, the other above 100.
TEST("each class marks by its own queue and thresholds")
{
    Scenario s = Dumbbell(2, 100e9);
    AddClasses(s, {1, 1});
    const auto from = [](double packets)
    { return EcnConfig{true, packets * PACKET, packets * PACKET, 1.0, 100e9}; };
    s.classes[0].ecn = from(10);
    s.classes[1].ecn = from(100);
    s.timeLimit = 200 * US;
    s.controllers[0].attributes = {{"Window", "130000"}}; // some 90 packets wait, of either
    AddFlowOf(s, 0, 0, 2, ENDLESS_BYTES);
    AddFlowOf(s, 1, 1, 2, ENDLESS_BYTES);
    TestNetwork net(std::move(s));
    std::map<uint32_t, int> marks;
    net->TraceEvents([&](uint32_t flow) { ++marks[flow]; }, [](uint32_t, uint32_t, bool) {});
    const SwitchPort& port = net.PortTo(3, 4);
    uint64_t longest = 0;
    for (Picos at = 20 * US; at < 200 * US; at += 10 * US)
    {
        Simulator::Schedule(Time(at), [&] { longest = std::max(longest, port.QueueBytes()); });
    }
    net->Run();
    ASSERT_GT(longest, 100 * PACKET, "together they are above either threshold");
    ASSERT_GT(marks[0], 500, "the first class's are marked");
    ASSERT_EQ(marks[1], 0, "the second one's are not");
}

TEST("telemetry has the queue of the packet's own class")
{
    constexpr uint64_t UNIT = 80 * 4; // of HPCC's header at 100 Gb/s
    Scenario s = Dumbbell(2, 100e9);
    AddClasses(s, {1, 1});
    s.timeLimit = 100 * US;
    s.controllers = {{"hpcc", {}}, {"fixed-window", {{"Window", "300000"}}}};
    AddFlowOf(s, 0, 0, 2, ENDLESS_BYTES);
    AddFlowOf(s, 1, 1, 2, ENDLESS_BYTES);
    s.flows[1].controller = 1;
    TestNetwork net(std::move(s));
    SwitchPort& port = net.PortTo(3, 4);
    int seen = 0;
    uint64_t hidden = 0;
    const auto look = [&](const Packet& packet)
    {
        if (packet.telemetry == Telemetry::None)
        {
            return;
        }
        const uint64_t own = ClassesOf(port).Queues()[0].bytes;
        ASSERT_EQ(packet.IntRecords().back().queueBytes, own - own % UNIT, "its class's queue");
        hidden = std::max(hidden, port.QueueBytes() - own);
        ++seen;
    };
    port.TraceConnectWithoutContext("Tx", Callback<void, const Packet&>(look));
    net->Run();
    ASSERT_GT(seen, 100, "packets with records");
    ASSERT_GT(hidden, 100'000, "the other class's queue was long");
}

TEST("the queues of a port's classes sum up to the port's")
{
    Scenario s = Dumbbell(2, 100e9);
    AddClasses(s, {2, 1});
    s.controllers[0].attributes = {{"Window", "200000"}};
    AddFlowOf(s, 0, 0, 2, 2'000'000);
    AddFlowOf(s, 1, 1, 2, 1'000'000);
    TestNetwork net(std::move(s));
    net->Run();
    int seen = 0;
    net->ForEachQueue(
        [&](const EgressQueue& queue)
        {
            ASSERT_EQ(queue.classes.size(), 2, "a record for each class");
            const double sum = queue.classes[0].stats->Mean() + queue.classes[1].stats->Mean();
            ASSERT_NEAR(sum, queue.stats->Mean(), 1e-6 * sum, "mean length");
            seen += sum > 10'000 ? 1 : 0;
        });
    ASSERT_EQ(seen, 1, "one of them is the bottleneck");
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
        Scenario s = Dumbbell(1, 100e9);
        AddFlow(s, 0, 1, 1000);
        AddClasses(s, {1, 1});
        change(s);
        return env::test::Refusal([&] { TestNetwork net(std::move(s)); });
    };
    ASSERT_EQ(refusal([](Scenario&) {}), "", "these it can");
    ASSERT_NE(refusal([](Scenario& s) { s.published = true; }), "", "published timing");
    ASSERT_NE(refusal([](Scenario& s) { s.scheduling = Scheduling::LeastRemaining; }),
              "",
              "least remaining first");
}

} // namespace

} // namespace ns3::env::rdma::test
