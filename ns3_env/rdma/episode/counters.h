// SPDX-License-Identifier: GPL-2.0-or-later
// What did the controllers count? Over all flows and flow by flow.
#ifndef RDMA_COUNTERS_H
#define RDMA_COUNTERS_H

#include "flow-run.h"

#include "ns3_env/rdma/contract/decision-times.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::rdma
{

/// Takes each flow's counters when it is over.
class Counters
{
  public:
    explicit Counters(FlowRun& run);

    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    /// Sums over all flows; decision times as mean and percentiles.
    std::map<std::string, double> Totals() const;
    /// By flow; NaN where a flow's controller has no such counter.
    const std::map<std::string, std::vector<double>>& ByFlow() const { return m_byFlow; }

  private:
    void Add(const LiveFlow& flow);
    double& Of(const LiveFlow& flow, const std::string& name);

    size_t m_flows;
    std::map<std::string, double> m_totals;
    std::map<std::string, std::vector<double>> m_byFlow;
    DecisionTimes m_decisionTimes;
};

} // namespace ns3::rdma

#endif // RDMA_COUNTERS_H
