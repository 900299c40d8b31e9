// SPDX-License-Identifier: GPL-2.0-or-later
// Rate and propagation delay of one direction of a link over time.
#include "link-schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::env
{

LinkSchedule::LinkSchedule(std::vector<LinkStep> steps, Picos period)
    : m_steps(std::move(steps)),
      m_period(period)
{
}

Picos
LinkSchedule::End() const
{
    if (m_step + 1 < m_steps.size())
    {
        return m_repetition + m_steps[m_step + 1].begin;
    }
    return m_period == NEVER ? NEVER : m_repetition + m_period;
}

void
LinkSchedule::Seek(Picos time)
{
    if (m_period != NEVER && time - m_repetition >= m_period)
    {
        m_repetition += (time - m_repetition) / m_period * m_period;
        m_step = 0;
    }
    while (End() <= time)
    {
        ++m_step;
    }
}

Picos
LinkSchedule::TransmissionEnd(uint32_t bytes, Picos now)
{
    double bits = 8.0 * bytes;
    for (Picos time = now;; time = End())
    {
        Seek(time);
        const double rate = m_steps[m_step].rateBps;
        const Picos end = End();
        const double duration = rate > 0 ? bits * PS_PER_SECOND / rate : LONGEST_PS;
        if (rate > 0 && (end == NEVER || duration <= static_cast<double>(end - time)))
        {
            return time + std::llround(duration);
        }
        bits = std::max(bits - rate * static_cast<double>(end - time) / PS_PER_SECOND, 0.0);
    }
}

Picos
LinkSchedule::Arrival(Picos end)
{
    Seek(end);
    m_lastArrival = std::max(m_lastArrival, end + m_steps[m_step].delay);
    return m_lastArrival;
}

Picos
LinkSchedule::LeastDelay() const
{
    return std::min_element(m_steps.begin(),
                            m_steps.end(),
                            [](const LinkStep& x, const LinkStep& y) { return x.delay < y.delay; })
        ->delay;
}

bool
LinkSchedule::HasOnly(Picos delay) const
{
    return std::all_of(m_steps.begin(),
                       m_steps.end(),
                       [delay](const LinkStep& step) { return step.delay == delay; });
}

double
LinkSchedule::RateAt(Picos now)
{
    Seek(now);
    return m_steps[m_step].rateBps;
}

Picos
LinkSchedule::EndOfStep(Picos now)
{
    Seek(now);
    return End();
}

} // namespace ns3::env
