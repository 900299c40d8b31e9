// SPDX-License-Identifier: GPL-2.0-or-later
// Links of a fluid: their rates, some of which change over time.
#include "fluid-links.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

namespace ns3::env
{

FluidLinks::FluidLinks(std::vector<double> rates,
                       std::vector<std::pair<uint32_t, LinkSchedule>> changing)
    : m_rates(std::move(rates)),
      m_changing(std::move(changing))
{
}

void
FluidLinks::Schedule(const std::function<void()>& changed)
{
    for (size_t index = 0; index < m_changing.size(); ++index)
    {
        Simulator::ScheduleNow([this, index, changed] { Change(index, changed); });
    }
}

void
FluidLinks::Change(size_t index, const std::function<void()>& changed)
{
    auto& [link, schedule] = m_changing[index];
    const Picos now = NowPicos();
    m_rates[link] = schedule.RateAt(now);
    changed();
    const Picos end = schedule.EndOfStep(now);
    if (end != NEVER)
    {
        Simulator::Schedule(Time(end - now), [this, index, changed] { Change(index, changed); });
    }
}

} // namespace ns3::env
