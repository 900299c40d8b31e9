// SPDX-License-Identifier: GPL-2.0-or-later
// DCQCN's timers as in the published simulator: events, each scheduled by the one before.
#ifndef NS3_ENV_RDMA_CONTROLLERS_DCQCN_TIMERS_H
#define NS3_ENV_RDMA_CONTROLLERS_DCQCN_TIMERS_H

#include "ns3/event-id.h"
#include "ns3_env/cpp/engine/reusable-event.h"

#include <functional>

namespace ns3::env::rdma::published
{

/**
 * Three timers, which start at the first mark. Whether a timer acts before or after a departure or an ACK of its
 * own nanosecond is left to the order of events: what was scheduled first comes first.
 */
class DcqcnTimers
{
  public:
    struct Timer
    {
        Picos interval;
        std::function<void()> act;
    };

    DcqcnTimers(Timer alpha, Timer decrease, Timer increase)
        : m_alpha(std::move(alpha)),
          m_decrease(std::move(decrease)),
          m_increase(std::move(increase))
    {
        Run(m_alpha, m_alpha.timer.interval);
        Run(m_decrease, m_decrease.timer.interval + PS_PER_NS); // just after alpha's step
    }

    ~DcqcnTimers()
    {
        for (Chain* chain : {&m_alpha, &m_decrease, &m_increase})
        {
            chain->next.Cancel();
        }
    }

    DcqcnTimers(const DcqcnTimers&) = delete;
    DcqcnTimers& operator=(const DcqcnTimers&) = delete;

    /// The rate was cut: the increase counts from now.
    void RestartIncrease()
    {
        m_increase.next.Cancel();
        Run(m_increase, m_increase.timer.interval);
    }

  private:
    struct Chain
    {
        explicit Chain(Timer t)
            : timer(std::move(t))
        {
        }

        Timer timer;
        EventId next;
    };

    static void Run(Chain& chain, Picos delay)
    {
        chain.next = Simulator::Schedule(Time(delay),
                                         [&chain]
                                         {
                                             Run(chain, chain.timer.interval);
                                             chain.timer.act();
                                         });
    }

    Chain m_alpha;
    Chain m_decrease;
    Chain m_increase;
};

} // namespace ns3::env::rdma::published

#endif // NS3_ENV_RDMA_CONTROLLERS_DCQCN_TIMERS_H
