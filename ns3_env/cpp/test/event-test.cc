// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the order of events: the queue against a plain one, the loop against ns-3's own.
#include "ns3/default-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/event-queue.h"
#include "ns3_env/cpp/events/reusable-event.h"
#include "ns3_env/cpp/test/suite.h"

#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::env::test
{

namespace
{

SUITE("rdma-events");

/// Near, far and simultaneous entries leave the queue as from an ordered set, at every grain, and when the grain
/// changes.
void
QueueOf(Picos grain, uint64_t slots)
{
    const env::test::Case about("entries come out in order with a grain of " +
                                std::to_string(grain) + " ps and " + std::to_string(slots) +
                                " slots");
    std::mt19937_64 random(7);
    EventQueue queue;
    queue.SetGrain(grain, slots);
    std::set<std::pair<Picos, uint64_t>> expected;
    Picos now = 0;
    uint64_t order = 0;
    for (int step = 0; step < 40'000; ++step)
    {
        const bool grow = step % 1000 < 600;
        if (step % 7000 == 6999)
        {
            queue.SetGrain(8 * grain + step % 5, slots); // while entries wait
        }
        if (expected.empty() || random() % 10 < (grow ? 6U : 3U))
        {
            constexpr Picos RANGES[] = {1, 100, 20'000, 1'000'000, 5'000'000'000};
            const Picos time = now + static_cast<Picos>(random() % RANGES[random() % 5]);
            queue.Push({time, ++order, 0});
            expected.emplace(time, order);
            continue;
        }
        const EventEntry entry = queue.Pop();
        const auto least = *expected.begin();
        expected.erase(expected.begin());
        now = entry.time;
        ASSERT_EQ(entry.time, least.first, "time at step " << step);
        ASSERT_EQ(entry.order, least.second, "order at step " << step);
    }
    size_t left = 0;
    queue.ForEach([&left](const EventEntry&) { ++left; });
    ASSERT_EQ(left, expected.size(), "entries left");
}

/// A program of events that schedule, cancel, stop and ask; its observations, as text.
class Diary
{
  public:
    std::string Play()
    {
        Simulator::ScheduleDestroy([this] { Note("destroy"); });
        EventId never = Simulator::ScheduleDestroy([this] { Note("never"); });
        never.Cancel();
        for (int i = 0; i < 3; ++i)
        {
            Simulator::Schedule(Time(500), &Diary::Tie, this, i);
        }
        m_victim = Simulator::Schedule(Time(900), [this] { Note("victim"); });
        m_removed = Simulator::Schedule(Time(901), [this] { Note("removed"); });
        Simulator::ScheduleWithContext(17, Time(700), [this] { Note("context"); });
        Simulator::Schedule(Time(800), &Diary::CancelBoth, this);
        std::vector<EventId> many; // a far future that is cancelled
        for (int i = 0; i < 500; ++i)
        {
            many.push_back(Simulator::Schedule(Time(1'000'000'000 + i), [this] { Note("far"); }));
        }
        for (int i = 0; i < 499; ++i)
        {
            many[i].Cancel();
        }
        Simulator::Stop(Time(2000));
        Simulator::Schedule(Time(2000), [this] { Note("at the stop"); });
        Simulator::Run();
        Note("stopped");
        Simulator::Run();
        Note("done");
        m_text << " finished " << Simulator::IsFinished() << " events "
               << Simulator::GetEventCount();
        Simulator::Destroy();
        return m_text.str();
    }

  private:
    void Note(const std::string& what)
    {
        m_text << what << '@' << Simulator::Now().GetTimeStep() << '/' << Simulator::GetContext()
               << ' ';
    }

    void Tie(int i)
    {
        Note("tie" + std::to_string(i));
        Simulator::ScheduleNow([this, i] { Note("now" + std::to_string(i)); });
    }

    void CancelBoth()
    {
        m_text << "left " << Simulator::GetDelayLeft(m_victim).GetTimeStep() << ' ';
        m_victim.Cancel();
        Simulator::Remove(m_removed);
        m_text << "expired " << m_victim.IsExpired() << m_removed.IsExpired() << ' ';
        Note("cancel");
    }

    std::ostringstream m_text;
    EventId m_victim;
    EventId m_removed;
};

/// The loop does the same as ns-3's own implementation, to the last tie.
TEST("the loop runs a program of events as ns-3's own implementation does")
{
    Simulator::Destroy();
    Simulator::SetImplementation(CreateObject<EventLoop>());
    ASSERT_NE(EventLoop::Current(), nullptr, "the loop runs");
    const std::string ours = Diary().Play();
    ASSERT_EQ(EventLoop::Current(), nullptr, "it went with its simulation");
    Simulator::SetImplementation(CreateObject<DefaultSimulatorImpl>());
    ObjectFactory scheduler("ns3::MapScheduler");
    Simulator::SetScheduler(scheduler);
    const std::string ns3Order = Diary().Play();
    // Cancelled events that the loop has dropped are not counted.
    const auto program = [](const std::string& text)
    { return text.substr(0, text.find(" events")); };
    ASSERT_EQ(program(ours), program(ns3Order), "order");
    ASSERT(ours.find("tie0@500") != std::string::npos, ours);
}

/// Re-armed and ordinary events share one order, and the former also work without the loop.
TEST("re-armed events keep their place among others under any implementation")
{
    struct Fired
    {
        std::vector<Picos> at;
        void Fire() { at.push_back(NowPicos() * 10); }
    };
    const auto play = []
    {
        Fired fired;
        ReusableEvent<Fired, &Fired::Fire> event(&fired, 3);
        event.Arm(5);
        Simulator::Schedule(Time(5), [&] { fired.at.push_back(NowPicos() * 10 + 1); });
        event.Arm(5);
        event.Arm(2);
        Simulator::Run();
        Simulator::Destroy();
        return fired.at;
    };

    const std::vector<Picos> expected{20, 50, 51, 50};
    Simulator::Destroy();
    Simulator::SetImplementation(CreateObject<EventLoop>());
    ASSERT(play() == expected, "under the loop");
    Simulator::SetImplementation(CreateObject<DefaultSimulatorImpl>());
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
    ASSERT(play() == expected, "under ns-3's own");
}

/// Time that passes is a sign of life; endless events at one instant are not.
TEST("the loop beats as time passes, and only then")
{
    const auto beatsOf = [](Picos step)
    {
        int left = 1600;
        std::function<void()> next = [&]
        {
            if (--left > 0)
            {
                Simulator::Schedule(Time(step), [&] { next(); });
            }
        };
        std::atomic<uint64_t> beats{0};
        const Heartbeat::Listener listener(beats);
        Simulator::Schedule(Time(1), [&] { next(); });
        Simulator::Run();
        Simulator::Destroy();
        return beats.load();
    };

    Simulator::Destroy();
    Simulator::SetImplementation(CreateObject<EventLoop>());
    ASSERT_EQ(beatsOf(1), 100, "one in sixteen events");
    Simulator::SetImplementation(CreateObject<EventLoop>());
    ASSERT_EQ(beatsOf(0), 1, "the time at which it began to go in circles");
}

/// The captures of an event are released when it throws, as with a refused flow.
TEST("an event that throws is let go of")
{
    Simulator::Destroy();
    Simulator::SetImplementation(CreateObject<EventLoop>());
    const auto held = std::make_shared<int>(0);
    Simulator::Schedule(Time(1), [held] { throw std::runtime_error("refused"); });
    try
    {
        Simulator::Run();
    }
    catch (const std::runtime_error&)
    {
    }
    Simulator::Destroy();
    ASSERT_EQ(held.use_count(), 1, "this one only");
}

TEST("near, far and simultaneous entries come out in order, at every grain and number of slots")
{
    for (Picos grain : {1, 256, 131'000, 1'000'000'000})
    {
        for (uint64_t slots : {EventQueue::LEAST_SLOTS, 16 * EventQueue::LEAST_SLOTS})
        {
            QueueOf(grain, slots);
        }
    }
}

} // namespace

} // namespace ns3::env::test
