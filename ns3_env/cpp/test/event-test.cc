// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the order of events: the queue against a plain one, the loop against ns-3's own.
#include "ns3/default-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/event-queue.h"
#include "ns3_env/cpp/events/reusable-event.h"
#include "ns3_env/cpp/test/suite.h"

#include <deque>
#include <functional>
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

struct Marker final : RearmedEvent
{
    void Fire() override {}
};

/// Near, far and simultaneous entries leave the queue as from an ordered set, also when the grain changes.
void
QueueOf(Picos grain, uint64_t slots)
{
    const Case about(std::to_string(grain) + " ps, " + std::to_string(slots) + " slots");
    std::mt19937_64 random(7);
    EventQueue queue;
    queue.SetGrain(grain, slots);
    std::deque<Marker> events;
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
            queue.Push(events.emplace_back(), {time, ++order});
            expected.emplace(time, order);
            continue;
        }
        ASSERT_EQ(queue.NextTime(), expected.begin()->first, "step " << step);
        ASSERT(queue.PopBefore(queue.NextTime()) == nullptr, "step " << step);
        const EventKey key = queue.PopBefore(NEVER)->Key();
        now = key.time;
        ASSERT(std::pair(now, key.order) == *expected.begin(), "step " << step);
        expected.erase(expected.begin());
    }
    size_t left = 0;
    queue.ForEach([&left](const RearmedEvent&) { ++left; });
    ASSERT_EQ(left, expected.size(), "entries left");
}

TEST("near, far and simultaneous entries come out in order, at every grain and number of slots")
{
    for (const Picos grain : {1, 256, 131'000, 1'000'000'000})
    {
        QueueOf(grain, EventQueue::SLOTS);
        QueueOf(grain, 16 * EventQueue::SLOTS);
    }
}

/// A program of events that schedule, cancel, stop and ask; its observations, as text.
class Diary
{
  public:
    std::string Play()
    {
        Simulator::ScheduleDestroy(Writes("destroy"));
        EventId never = Simulator::ScheduleDestroy(Writes("never"));
        never.Cancel();
        for (int i = 0; i < 3; ++i)
        {
            const std::string tie = "tie" + std::to_string(i);
            Simulator::Schedule(Time(500),
                                [this, tie]
                                {
                                    Note(tie);
                                    Simulator::ScheduleNow(Writes(tie + ", now"));
                                });
        }
        m_victim = Simulator::Schedule(Time(900), Writes("victim"));
        m_removed = Simulator::Schedule(Time(901), Writes("removed"));
        Simulator::ScheduleWithContext(17, Time(700), Writes("context"));
        Simulator::Schedule(Time(800), &Diary::CancelBoth, this);
        for (int i = 0; i < 500; ++i) // a far future, all but one event of which is cancelled
        {
            EventId far = Simulator::Schedule(Time(1'000'000'000 + i), Writes("far"));
            m_far.push_back(far);
        }
        for (int i = 0; i < 499; ++i)
        {
            m_far[i].Cancel();
        }
        Simulator::Stop(Time(2000));
        Simulator::Schedule(Time(2000), Writes("at the stop"));
        Simulator::Run();
        Note("stopped");
        Simulator::Run();
        Note("done");
        m_text << " finished " << Simulator::IsFinished();
        Simulator::Destroy();
        return m_text.str();
    }

  private:
    std::function<void()> Writes(const std::string& what)
    {
        return [this, what] { Note(what); };
    }

    void Note(const std::string& what)
    {
        m_text << what << '@' << Simulator::Now().GetTimeStep() << '/' << Simulator::GetContext()
               << ' ';
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
    std::vector<EventId> m_far;
};

void
UseLoop()
{
    Simulator::Destroy();
    Simulator::SetImplementation(CreateObject<EventLoop>());
}

void
UseNs3()
{
    Simulator::SetImplementation(CreateObject<DefaultSimulatorImpl>());
    Simulator::SetScheduler(ObjectFactory("ns3::MapScheduler"));
}

/// The loop does the same as ns-3's own implementation, to the last tie.
TEST("the loop runs a program of events as ns-3's own implementation does")
{
    UseLoop();
    ASSERT_NE(EventLoop::Current(), nullptr, "the loop runs");
    const std::string ours = Diary().Play();
    ASSERT_EQ(EventLoop::Current(), nullptr, "it went with its simulation");
    UseNs3();
    ASSERT_EQ(ours, Diary().Play(), "order");
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
    UseLoop();
    ASSERT(play() == expected, "under the loop");
    UseNs3();
    ASSERT(play() == expected, "under ns-3's own");
}

/// Time that passes is a sign of life; endless events at one instant are not.
TEST("the loop beats as time passes, and only then")
{
    const auto beatsOf = [](Picos step)
    {
        UseLoop();
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
    ASSERT_EQ(beatsOf(1), 100, "one in sixteen events");
    ASSERT_EQ(beatsOf(0), 1, "the time at which it began to go in circles");
}

/// A process that plays several networks leaves one in the middle of an event, and plays another.
TEST("a simulation that is left for another one continues as if nothing had been")
{
    UseLoop();
    std::vector<Picos> at;
    const auto note = [&at] { at.push_back(NowPicos()); };
    EventLoop::Left other;
    Simulator::Schedule(Time(10),
                        [&]
                        {
                            note();
                            const EventLoop::Left first = EventLoop::Exchange(other);
                            EventLoop::Begin();
                            Simulator::Schedule(Time(3), note);
                            Simulator::Run();
                            EventLoop::End();
                            other = EventLoop::Exchange(first);
                            Simulator::Schedule(Time(2), note);
                            note();
                        });
    Simulator::Schedule(Time(11), note);
    Simulator::Run();
    Simulator::Destroy();
    ASSERT((at == std::vector<Picos>{10, 3, 10, 11, 12}), "times of each");
    ASSERT_EQ(other.simulation, nullptr, "the other one has ended");
}

/// The captures of an event are released when it throws, as with a refused flow.
TEST("an event that throws is let go of")
{
    UseLoop();
    const auto held = std::make_shared<int>(0);
    Simulator::Schedule(Time(1), [held] { throw std::runtime_error("refused"); });
    ASSERT_EQ(Refusal([] { Simulator::Run(); }), "refused", "thrown");
    Simulator::Destroy();
    ASSERT_EQ(held.use_count(), 1, "this one only");
}

} // namespace

} // namespace ns3::env::test
