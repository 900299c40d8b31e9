// SPDX-License-Identifier: GPL-2.0-or-later
// Costs of the flows of a training job: a share of the time in which the job sends.
#pragma once

#include "flow-costs.h"

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/engine/flow.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::env
{

/// While a job has k active flows each of them costs dt / k, over its ideal completion time. So a flow that is the only
/// one, because all other flows wait for it, costs most, and the total cost of equal flows of a job is the time in which
/// the job sends. A flow of no job is a job by itself. If the episode truncates a flow it also costs the share of its
/// bytes that is left. Endless flows cost nothing.
class JobCosts
{
  public:
    /// \param jobs of each flow, -1 without; may be shorter than the number of flows
    explicit JobCosts(std::vector<int32_t> jobs)
        : m_jobOf(std::move(jobs))
    {
    }

    void OnStart(const Flow& flow, Picos now)
    {
        if (flow.Standalone() <= 0)
        {
            return;
        }
        Job& job = m_jobs[JobOf(flow.Id())];
        job.Settle(now);
        ++job.live;
        m_live.insert_or_assign(flow.Id(), Member{.flow = &flow, .job = &job, .paid = job.time});
    }

    void OnEnd(const Flow& flow, Picos now)
    {
        const auto found = m_live.find(flow.Id());
        if (found == m_live.end())
        {
            return;
        }
        found->second.job->Settle(now);
        --found->second.job->live;
        m_live.erase(found);
    }

    /// The episode ends here for every live flow.
    void OnCut()
    {
        for (auto& [id, member] : m_live)
        {
            member.left = ShareLeft(*member.flow);
        }
    }

    /// Returns the flow's cost since its start or the last call.
    double Take(uint32_t flow, Picos now)
    {
        const auto found = m_live.find(flow);
        if (found == m_live.end())
        {
            return 0;
        }
        Member& member = found->second;
        member.job->Settle(now);
        const double time = member.job->time - std::exchange(member.paid, member.job->time);
        return time * CostRate(*member.flow) + std::exchange(member.left, 0.0);
    }

  private:
    /// Active flows of a job, and the integral of 1 / k over time, in ps.
    struct Job
    {
        uint32_t live{0};
        double time{0};
        Picos since{0};

        void Settle(Picos now)
        {
            if (live > 0)
            {
                time += static_cast<double>(now - since) / live;
            }
            since = now;
        }
    };

    struct Member
    {
        const Flow* flow;
        Job* job;
        double paid; ///< up to there of the job's time
        double left{0};
    };

    int64_t JobOf(uint32_t flow) const
    {
        const bool has = flow < m_jobOf.size() && m_jobOf[flow] >= 0;
        return has ? m_jobOf[flow] : -1 - static_cast<int64_t>(flow);
    }

    std::vector<int32_t> m_jobOf;
    std::unordered_map<int64_t, Job> m_jobs; ///< places in it stay
    std::unordered_map<uint32_t, Member> m_live;
};

} // namespace ns3::env
