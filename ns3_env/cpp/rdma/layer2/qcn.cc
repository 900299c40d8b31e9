// SPDX-License-Identifier: GPL-2.0-or-later
// QCN controller: a switch's feedback lowers the rate, its own counter and timer raise it.
#include "ns3/nstime.h"
#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>

namespace ns3::env::rdma
{

namespace
{

constexpr double TIMER_RATE_BPS = 1e9; // of the link that TimeReset is meant for

// Extra fast recovery: a target so far above the rate is brought nearer in the first cycle (IEEE 802.1Q, 32.14).
constexpr double FAR_TARGET = 10;
constexpr double NEARER = 8;

} // namespace

/// The reaction point of IEEE 802.1Q (clause 32, once 802.1Qau; Jiang 2015, eqs. 3 and 4). The standard's names are in brackets.
class Qcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    CongestionPointConfig GetCongestionPointConfig() const override { return {.enabled = true}; }

    void OnFlowStart(FlowState& flow) override { m_target.Set(flow.RateBps()); }

    void OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes) override
    {
        if (!m_limited)
        {
            return;
        }
        RunTimer(flow, now);
        m_bytesLeft -= wireBytes;
        if (m_limited && m_bytesLeft < 0)
        {
            m_byteStage.Set(m_byteStage.Get() + 1);
            m_bytesLeft = Cycle(m_byteReset, static_cast<uint64_t>(m_byteStage.Get()));
            Increase(flow);
        }
    }

    void OnAck(FlowState&, const AckSample&) override {}

    void OnCongestionNotification(FlowState& flow, const CongestionNotification& frame) override
    {
        if (frame.feedback <= 0)
        {
            return;
        }
        RunTimer(flow, frame.now);
        // Frames that arrive before any increase do not lower the target again (IEEE 802.1Q, 32.14);
        // that of Jiang 2015, sec. 2.2 always is the rate "just before the latest".
        if (!m_limited || m_byteStage.Get() > 0 || m_latestTarget)
        {
            m_target.Set(flow.RateBps());
            m_bytesLeft = m_byteReset;
        }
        m_limited = true;
        m_byteStage.Set(0);
        m_timeStage.Set(0);
        m_timerDue = m_timeReset.IsZero() ? NEVER : frame.now + TimerCycle(flow);
        const double factor =
            std::max(1 - m_gd * frame.feedback, m_minDecrease); // Jiang 2015, eq. 2
        flow.SetRate(std::max(flow.RateBps() * factor, flow.Path().minRateBps));
    }

  private:
    /// Works off the timer's expiries up to `now`.
    void RunTimer(FlowState& flow, Picos now);

    /// Length of a cycle at this stage: half of the whole after fast recovery.
    double Cycle(double whole, uint64_t stage) const
    {
        return stage < m_threshold ? whole : whole / 2;
    }

    Picos TimerCycle(const FlowState& flow) const
    {
        const double whole = static_cast<double>(m_timeReset.GetPicoSeconds()) * TIMER_RATE_BPS /
                             flow.Path().hostRateBps;
        const double cycle = Cycle(whole, static_cast<uint64_t>(m_timeStage.Get()));
        return std::max<Picos>(1, static_cast<Picos>(std::min(cycle, LONGEST_PS)));
    }

    /// A cycle of the byte counter or the timer is over (self increase; AdjustRates).
    void Increase(FlowState& flow);

    double m_byteReset;      ///< attribute ByteReset (rpgByteReset)
    Time m_timeReset;        ///< attribute TimeReset (rpgTimeReset)
    uint32_t m_threshold;    ///< attribute Threshold (rpgThreshold)
    double m_activeFraction; ///< attribute ActiveIncrease (rpgAiRate)
    double m_hyperFraction;  ///< attribute HyperIncrease (rpgHaiRate)
    double m_gd;             ///< attribute Gd (rpgGd)
    double m_minDecrease;    ///< attribute MinDecrease (rpgMinDecFac)
    bool m_latestTarget;     ///< attribute LatestTarget (Jiang 2015, sec. 2.2)

    bool m_limited{false};           ///< below line rate since a feedback frame
    TracedValue<double> m_target{0}; ///< R (rpTargetRate)
    TracedValue<double> m_byteStage{
        0}; ///< cycles of the counter since the last decrease (rpByteStage)
    TracedValue<double> m_timeStage{0}; ///< of the timer (rpTimeStage)
    double m_bytesLeft{0};              ///< of the counter's cycle (rpByteCount)
    Picos m_timerDue{NEVER};            ///< (RpWhile)
};

NS_OBJECT_ENSURE_REGISTERED(Qcn);

TypeId
Qcn::GetTypeId()
{
    static TypeId tid =
        Declaration<Qcn>("rdma::qcn")
            .Number("ByteReset",
                    "Bytes sent in a cycle of the byte counter; half of it after fast recovery.",
                    &Qcn::m_byteReset,
                    {150e3, 1.0, 1e12})
            .Number("TimeReset",
                    "A cycle of the timer at 1 Gb/s, in proportion shorter at a faster link; half "
                    "of it after fast recovery; 0: no timer.",
                    &Qcn::m_timeReset,
                    {MilliSeconds(15), Time(0), Seconds(1000)})
            .Number("Threshold", "Cycles of fast recovery.", &Qcn::m_threshold, {5, 0, 1'000'000})
            .Number("ActiveIncrease",
                    "R_AI, as a fraction of the host's link rate (1 Mb/s at 1 Gb/s).",
                    &Qcn::m_activeFraction,
                    {1e-3, 0.0, 1.0})
            .Number("HyperIncrease",
                    "R_HAI, likewise: once counter and timer are both out of fast recovery.",
                    &Qcn::m_hyperFraction,
                    {1e-2, 0.0, 1.0})
            .Number("Gd",
                    "Decrease per level of the feedback, of which there are 63.",
                    &Qcn::m_gd,
                    {1.0 / 128, 0.0, 1.0})
            .Number("MinDecrease",
                    "Least factor of one decrease.",
                    &Qcn::m_minDecrease,
                    {0.5, 0.0, 1.0})
            .Flag("LatestTarget",
                  "The target is the rate before the latest feedback frame, whatever has been "
                  "increased since the one before; otherwise as the standard has it.",
                  &Qcn::m_latestTarget,
                  false)
            .State("TargetRateBps", "R: where fast recovery leads to.", &Qcn::m_target)
            .State("ByteStage",
                   "Cycles of the byte counter since the last decrease.",
                   &Qcn::m_byteStage)
            .State("TimeStage", "Cycles of the timer since the last decrease.", &Qcn::m_timeStage);
    return tid;
}

void
Qcn::RunTimer(FlowState& flow, Picos now)
{
    while (m_limited && m_timerDue <= now)
    {
        m_timeStage.Set(m_timeStage.Get() + 1);
        m_timerDue += TimerCycle(flow);
        Increase(flow);
    }
}

void
Qcn::Increase(FlowState& flow)
{
    const double line = flow.Path().hostRateBps;
    const double fastest = std::max(m_byteStage.Get(), m_timeStage.Get());
    const double slowest = std::min(m_byteStage.Get(), m_timeStage.Get());
    double step = 0; // fast recovery (Jiang 2015, eq. 3)
    if (slowest > m_threshold)
    {
        step = m_hyperFraction * line * (slowest - m_threshold);
    }
    else if (fastest > m_threshold)
    {
        step = m_activeFraction * line; // active increase (eq. 4)
    }
    const bool first = m_byteStage.Get() == 1 || m_timeStage.Get() == 1;
    if (first && m_target.Get() > FAR_TARGET * flow.RateBps())
    {
        m_target.Set(m_target.Get() / NEARER);
    }
    else
    {
        m_target.Set(std::min(m_target.Get() + step, line));
    }
    flow.SetRate(std::min((flow.RateBps() + m_target.Get()) / 2, line));
    m_limited = flow.RateBps() < line;
}

} // namespace ns3::env::rdma
