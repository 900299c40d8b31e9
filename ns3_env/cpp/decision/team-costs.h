// SPDX-License-Identifier: GPL-2.0-or-later
// What the flows that share a hop cost together while one of them lives.
#ifndef NS3_ENV_DECISION_TEAM_COSTS_H
#define NS3_ENV_DECISION_TEAM_COSTS_H

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/flow.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::env
{

/**
 * The team of a flow: it and the flows that share a link with it, while they live. A flow costs its time over its
 * ideal completion time, and where the episode cuts it the share of its bytes that is left. Endless flows cost
 * nothing and are in no team.
 */
class TeamCosts
{
  public:
    void OnStart(const Flow& flow, Picos now);
    void OnEnd(const Flow& flow, Picos now);
    /// The episode ends here for every live flow.
    void OnCut();

    /// What the flow's team cost since its start or the last call, over the flows in it at its start.
    double Take(uint32_t flow, Picos now);

  private:
    struct Member
    {
        const Flow* flow;
        double rate;    ///< of what its team costs, per ps
        double cost{0}; ///< up to `since`
        Picos since{0};
        double atStart{1}; ///< flows of its team

        void Settle(Picos now);
    };

    static bool ShareALink(const Flow& a, const Flow& b);

    std::map<uint32_t, Member> m_live; ///< by flow
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_TEAM_COSTS_H
