// SPDX-License-Identifier: GPL-2.0-or-later
// The controllers' counters, over all flows and flow by flow.
#ifndef NS3_ENV_RECORDERS_COUNTERS_H
#define NS3_ENV_RECORDERS_COUNTERS_H

#include "ns3_env/cpp/contract/decision-times.h"
#include "ns3_env/cpp/run/episode.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::env
{

/// Takes each flow's counters when it is over.
class Counters
{
  public:
    explicit Counters(Episode& episode);

    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    /// Sums over all flows; decision times as mean and percentiles.
    std::map<std::string, double> Totals() const;
    /// By flow; NaN where a flow's controller has no such counter.
    const std::map<std::string, std::vector<double>>& ByFlow() const { return m_byFlow; }

  private:
    void Add(const Flow& flow);
    double& Of(const Flow& flow, const std::string& name);

    size_t m_flows;
    std::map<std::string, double> m_totals;
    std::map<std::string, std::vector<double>> m_byFlow;
    DecisionTimes m_decisionTimes;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_COUNTERS_H
