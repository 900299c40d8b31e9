// SPDX-License-Identifier: GPL-2.0-or-later
// DCQCN controller: marks cut the rate by alpha/2, a timer brings it back in three stages.
#pragma once

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/events/reusable-event.h"

#include <functional>
#include <optional>

namespace ns3::env::rdma::published
{

/// Three timers, which start at the first mark. Whether a timer acts before or after a departure or an ACK of its
/// own nanosecond is left to the order of events: the one scheduled first runs first.
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

    DcqcnTimers(DcqcnTimers&&) = delete;

    /// Restarts the increase after a cut of the rate.
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

namespace ns3::env::rdma
{

/// DCQCN's reaction point (Zhu 2015, sec. 3) as the published simulator runs it: marks come with ACKs, and the rate
/// increases only by a timer (docs/sources/published-simulator.md, "Controllers"); with the attribute ByteCounter also
/// by a byte counter, as in the paper. Its timers are evaluated when a packet leaves or an ACK arrives, as only then
/// does the rate matter: a flow costs no event, unless the attribute TimerEvents requests them.
class Dcqcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    EcnConfig GetEcnConfig() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnFlowEnd(FlowState& flow, Picos now) override;

    double Alpha() const { return m_alpha; }

  private:
    /// Applies the timers' effects up to `now`. At one instant the increase, armed long before, comes first.
    void CatchUp(FlowState& flow, Picos now);
    /// Writes the present rate to the flow.
    void WriteRate(FlowState& flow);
    void StartTimers(const FlowState& flow);
    /// Alpha at `now`: one step of its average per elapsed interval, all but the first without a mark.
    void AdvanceAlpha(Picos now);
    /// Alpha after one more step of its average.
    double StepAlpha();
    void Decrease(const FlowState& flow);
    /// \param stage of the timer or of the byte counter, whichever has run out
    /// \returns whether the next increase would do anything
    bool Increase(const FlowState& flow, uint32_t& stage);

    double m_gain;             ///< attribute Gain
    Time m_alphaInterval;      ///< attribute AlphaInterval
    Time m_decreaseInterval;   ///< attribute DecreaseInterval
    Time m_increaseInterval;   ///< attribute IncreaseInterval
    double m_byteCounter;      ///< attribute ByteCounter
    bool m_keepTarget;         ///< attribute KeepTarget
    uint32_t m_fastRecovery;   ///< attribute FastRecoveryStages
    double m_increaseFraction; ///< attribute AdditiveIncrease
    double m_hyperFraction;    ///< attribute HyperIncrease
    double m_kminBytes;        ///< attribute Kmin
    double m_kmaxBytes;        ///< attribute Kmax
    double m_pmax;             ///< attribute Pmax
    double m_markingRateBps;   ///< attribute MarkingRate
    bool m_timerEvents;        ///< attribute TimerEvents
    bool m_bdpWindow;          ///< attribute BdpWindow (Zhang 2023, sec. 5.3)
    bool m_rateWindow;         ///< attribute RateWindow (Li 2019, sec. 5.1)

    Picos m_origin{NEVER};       ///< the first mark: both timers count from here
    Picos m_nextDecrease{NEVER}; ///< the check that will find a mark
    Picos m_nextIncrease{NEVER};
    TracedValue<double> m_alpha{1.0};
    int64_t m_alphaSteps{0};
    bool m_markedThisStep{false};
    double m_rateBps{
        0.0}; ///< from the first mark on; the flow has it from the next packet or ACK on
    TracedValue<double> m_targetBps{0.0};
    uint32_t m_stage{0};     ///< increases by the timer since the last decrease
    uint32_t m_byteStage{0}; ///< by the byte counter
    double m_sentBytes{0};   ///< since its last increase, or the last decrease

    std::optional<published::DcqcnTimers> m_timers;
    bool m_markedThisCheck{false}; ///< with m_timers only
};

} // namespace ns3::env::rdma
