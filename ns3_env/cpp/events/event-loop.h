// SPDX-License-Identifier: GPL-2.0-or-later
// Simulator implementation for ns-3 with a fast path for re-armed events.
#pragma once

#include "parts.h"
#include "timeline.h"

#include "ns3/simulator-impl.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3::env
{

/// Simulation of one network: its events.
struct Simulation
{
    /// Timeline for events scheduled for node `context`.
    Timeline& TimelineOf(uint32_t context);
    void Run();
    void RunAtDestroy();

    Timeline whole;
    std::unique_ptr<Parts> parts;
    PartExchange* exchange{nullptr};
    bool stop{false};
    std::vector<EventId> atDestroy;
};

/// Runs a timeline as ns-3's own implementations do, or the timelines of a network's parts (Divide). For one thread,
/// except those that simulate parts: events scheduled by other threads are not accepted. ns3::Simulator has one loop;
/// a process that plays several networks changes between their simulations (Exchange).
class EventLoop : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();

    EventLoop();
    ~EventLoop() override;

    /// The simulation that ns3::Simulator runs; null without one, or with another implementation.
    static Simulation* Current() { return s_current; }
    /// Begins a simulation, unless there is one.
    static void Begin();
    /// Ends the simulation, if there is one: runs what is scheduled for its destruction.
    static void End();

    /// A simulation that was left between two of its events, or in the middle of one.
    struct Left
    {
        Simulation* simulation{nullptr};
        Timeline* timeline{nullptr};
    };
    /// Continues with another simulation. \returns the present one
    static Left Exchange(const Left& other);

    /// A hint to the running loop, if there is one (Timeline::FitGrain).
    static void FitGrain(uint32_t frameBytes, double fastestBps, size_t links);

    /// Gives nodes their parts' timelines; `exchange` must live until the run ends. Call before any event.
    static void Divide(std::unique_ptr<Parts> parts, PartExchange& exchange);
    /// Calls the function as an event of the whole network: now, or at the end of the present window (Parts::Report).
    static void Report(Picos time, uint64_t key, std::function<void()> told);
    // --- For an event of a whole network
    /// Delivers what parts have sent to each other.
    static void Settle();
    /// Calls `call` as an event of the node `node` now: events that it schedules are that node's.
    template <class Call>
    static void RunAt(uint32_t node, Call call)
    {
        EnterNode(node);
        call();
        LeaveNode();
    }
    /// This process is a copy of one that ran: it has one thread (Parts::GoOnAlone).
    static void GoOnAlone();
    /// Reports whether the network is simulated in parts.
    static bool IsDivided() { return s_current != nullptr && s_current->parts; }
    /// Reports whether the running event is a part's, and not the whole network's.
    static bool IsInPart() { return IsDivided() && Timeline::Current() != &s_current->whole; }
    /// The part of a divided network that a node is in.
    static uint32_t PartOf(uint32_t node) { return s_current->parts->PartOf(node); }

    // --- ns3::SimulatorImpl
    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    /// Ignores the factory: the loop has its own heap.
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  private:
    /// The timeline of a node is this thread's until LeaveNode(); of a network in parts.
    static void EnterNode(uint32_t node);
    static void LeaveNode();

    static Simulation* s_current;
};

} // namespace ns3::env
