// SPDX-License-Identifier: GPL-2.0-or-later
// Traces that controllers declare: counters over all flows, and every state or counter over time.
#pragma once

#include "ns3_env/cpp/contract/decision-times.h"
#include "ns3_env/cpp/run/episode.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace ns3::env
{

/// Records each flow's counters when it is over.
class Counters
{
  public:
    explicit Counters(Episode& episode);

    Counters(Counters&&) = delete;

    /// Sums over all flows; decision times as mean and percentiles.
    std::map<std::string, double> Totals() const;
    /// Counters by flow; NaN if a flow's controller has no such counter.
    const std::map<std::string, std::vector<double>>& ByFlow() const { return m_byFlow; }

  private:
    void Add(const Flow& flow);
    double& Of(const Flow& flow, const std::string& name);

    size_t m_flows;
    std::map<std::string, double> m_totals;
    std::map<std::string, std::vector<double>> m_byFlow;
    DecisionTimes m_decisionTimes;
};

/// A new value of one of a flow's controller's trace sources.
struct ControllerChange
{
    Picos time;
    uint32_t flow;
    uint32_t name; ///< index of ControllerLog::Names()
    double value;
};

/// Follows the trace sources of one type that the TypeIds of the flows' controllers declare, under any name: states are
/// TracedValue<double>, counters TracedValue<uint64_t>. A row per change; a value that stays as it was at the flow's
/// start has none.
class ControllerLog
{
  public:
    enum class Kind : uint8_t
    {
        States,
        Counters,
    };

    ControllerLog(Episode& episode, Kind kind);

    ControllerLog(ControllerLog&&) = delete;

    const std::deque<ControllerChange>& Changes() const { return m_changes; }
    const std::vector<std::string>& Names() const { return m_names; }

  private:
    void OnCreated(Flow& flow);
    void Follow(Flow& flow, const std::string& source);
    uint32_t IndexOf(const std::string& name);

    Kind m_kind;
    std::vector<std::string> m_names;
    std::deque<ControllerChange> m_changes;
};

} // namespace ns3::env
