// SPDX-License-Identifier: GPL-2.0-or-later
// Event that is re-armed rather than allocated anew.
#ifndef NS3_ENV_ENGINE_REUSABLE_EVENT_H
#define NS3_ENV_ENGINE_REUSABLE_EVENT_H

#include "event-loop.h"
#include "now.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/units.h"

namespace ns3::env
{

/**
 * Calls `(owner->*Method)()` each time it comes due. The same object may stand in the event queue
 * more than once; the owner must outlive the simulation run. Under another simulator implementation than
 * EventLoop it goes through ns3::Simulator.
 */
template <class T, void (T::*Method)()>
class ReusableEvent
{
  public:
    ReusableEvent(T* owner, uint32_t context)
        : m_impl(Create<Impl>(owner)),
          m_context(context)
    {
    }

    /// Comes due `delay` from now.
    void Arm(Picos delay)
    {
        if (EventLoop* loop = EventLoop::Current(); loop != nullptr)
        {
            loop->Arm(*m_impl, delay, m_context);
            return;
        }
        m_impl->Ref(); // the simulator drops one reference when the event has run
        Simulator::ScheduleWithContext(m_context, Time(delay), PeekPointer(m_impl));
    }

  private:
    class Impl final : public RearmedEvent
    {
      public:
        explicit Impl(T* owner)
            : m_owner(owner)
        {
        }

        void Fire() override { (m_owner->*Method)(); }

      private:
        T* m_owner;
    };

    Ptr<Impl> m_impl;
    uint32_t m_context;
};

} // namespace ns3::env

#endif // NS3_ENV_ENGINE_REUSABLE_EVENT_H
