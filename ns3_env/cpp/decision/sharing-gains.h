// SPDX-License-Identifier: GPL-2.0-or-later
// Gains of flows over processor sharing, for flows that delay each other.
#pragma once

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/flow.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace ns3::env
{

/// Compares the service of a link with processor sharing, under which the flows there would share it equally and no flow
/// would join: flow i would be done after the sum over j of min(L_i, L_j), L the time that the link needs for the rest
/// of a flow. A flow costs its time over its ideal completion time. A link that is full and shared equally gains
/// nothing, an idle one loses, and one that serves short flows first gains.
///
/// A flow's link is the one of its path that would need the longest for it, as of the last call. Endless flows are on no
/// link.
class SharingGains
{
  public:
    void OnStart(const Flow& flow, Picos now);
    void OnEnd(const Flow& flow, Picos now);

    /// Returns the gain of the flows on this one's link since its start or the last call, in ideal completion times,
    /// over the number of flows there at its start. Flows that join count as no loss.
    double Take(uint32_t flow, Picos now);

  private:
    struct Member
    {
        const Flow* flow;
        uint64_t link{0};
        double bps{0};     ///< of the link
        double atStart{0}; ///< flows there at its start
        double rate{0};    ///< cost of the flows there, per ps
        double cost{0};    ///< up to `since`, after the last call
        Picos since{0};
        double expected{
            0}; ///< their expected cost at the last call; flows that joined since included

        void Settle(Picos now);
    };

    /// Remaining time of a flow on a link, and the cost rate of that time.
    struct Work
    {
        double left; ///< ps
        double rate; ///< per ps
    };

    /// Applies `change` to the flows that another flow on this link affects.
    template <typename Change>
    void ForAllOn(uint64_t link, Change&& change);
    void Choose(Member& member, Picos now);
    /// Time that the flow would need on a link, in ps.
    double TimeOn(const Flow& flow, uint64_t link, double bps) const;
    double CostOn(uint64_t link, double bps);

    std::map<uint32_t, Member> m_live; ///< by flow
    std::unordered_map<uint64_t, std::vector<Member*>> m_onLink;
    std::vector<Work> m_work; ///< of a link, reused
};

} // namespace ns3::env
