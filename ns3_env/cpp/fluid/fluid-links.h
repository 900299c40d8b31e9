// SPDX-License-Identifier: GPL-2.0-or-later
// Links of a fluid: their rates, some of which change over time.
#pragma once

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/link-schedule.h"
#include "ns3_env/cpp/events/now.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ns3::env
{

/// The rates of a network's links, by index.
class FluidLinks
{
  public:
    /// \param rates bit/s
    /// \param changing schedules of the links whose rates change
    FluidLinks(std::vector<double> rates, std::vector<std::pair<uint32_t, LinkSchedule>> changing)
        : m_rates(std::move(rates)),
          m_changing(std::move(changing))
    {
    }

    /// Calls `changed` whenever a rate changes.
    void Schedule(const std::function<void()>& changed)
    {
        for (size_t index = 0; index < m_changing.size(); ++index)
        {
            Simulator::ScheduleNow([this, index, changed] { Change(index, changed); });
        }
    }

    /// bit/s now.
    const std::vector<double>& Rates() const { return m_rates; }

  private:
    /// Takes the link's rate of now, and schedules its next change.
    void Change(size_t index, const std::function<void()>& changed)
    {
        auto& [link, schedule] = m_changing[index];
        const Picos now = NowPicos();
        m_rates[link] = schedule.RateAt(now);
        changed();
        const Picos end = schedule.EndOfStep(now);
        if (end != NEVER)
        {
            Simulator::Schedule(Time(end - now),
                                [this, index, changed] { Change(index, changed); });
        }
    }

    std::vector<double> m_rates;
    std::vector<std::pair<uint32_t, LinkSchedule>> m_changing;
};

} // namespace ns3::env
