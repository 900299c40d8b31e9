// SPDX-License-Identifier: GPL-2.0-or-later
// Event that is re-armed instead of allocated again.
#pragma once

#include "now.h"
#include "timeline.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/units.h"

namespace ns3::env
{

/// Calls `(owner->*Method)()` each time it is due: a member of its owner, next to the data that the method reads. The
/// same object may be in the event queue more than once; it must outlive the simulation run. Under another simulator
/// implementation than EventLoop it goes through ns3::Simulator.
template <class T, void (T::*Method)()>
class ReusableEvent final : public RearmedEvent
{
  public:
    ReusableEvent(T* owner, uint32_t context)
        : RearmedEvent(context),
          m_owner(owner)
    {
    }

    /// Arms the event for `delay` from now.
    /// \returns its place under EventLoop, otherwise its time
    Moment Arm(Picos delay)
    {
        if (Timeline* timeline = Timeline::Current(); timeline != nullptr) [[likely]]
        {
            return timeline->Arm(*this, delay, Context());
        }
        return Schedule(delay);
    }
    /// Arms the event for `time`, which has not passed.
    [[gnu::always_inline]] void ArmFor(Picos time)
    {
        if (Timeline* timeline = Timeline::Current(); timeline != nullptr) [[likely]]
        {
            timeline->ArmAt(*this, timeline->ReserveAt(time), Context());
            return;
        }
        ScheduleFor(time);
    }

    void Fire() override { (m_owner->*Method)(); }
    void Prefetch() const override
    {
        if constexpr (requires { m_owner->PrefetchFor(this); })
        {
            m_owner->PrefetchFor(this);
        }
    }

  private:
    [[gnu::noinline]] Moment Schedule(Picos delay)
    {
        Simulator::ScheduleWithContext(Timeline::ContextOf(Key()), Time(delay), [this] { Fire(); });
        return {Simulator::Now().GetTimeStep() + delay, 0};
    }
    [[gnu::noinline]] void ScheduleFor(Picos time)
    {
        Schedule(time - Simulator::Now().GetTimeStep());
    }

    /// Context of every turn: the key's, which spares a member.
    uint32_t Context() const { return static_cast<uint32_t>(Key().order); }

    T* m_owner;
};

} // namespace ns3::env
