// SPDX-License-Identifier: GPL-2.0-or-later
// Costs of the flows of a training job: a share of the time in which the job sends.
#include "job-costs.h"

#include "flow-costs.h"

#include <utility>

namespace ns3::env
{

void
JobCosts::Job::Settle(Picos now)
{
    if (live > 0)
    {
        time += static_cast<double>(now - since) / live;
    }
    since = now;
}

JobCosts::JobCosts(std::vector<int32_t> jobs)
    : m_jobOf(std::move(jobs))
{
}

int64_t
JobCosts::JobOf(uint32_t flow) const
{
    const bool has = flow < m_jobOf.size() && m_jobOf[flow] >= 0;
    return has ? m_jobOf[flow] : -1 - static_cast<int64_t>(flow);
}

void
JobCosts::OnStart(const Flow& flow, Picos now)
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

void
JobCosts::OnEnd(const Flow& flow, Picos now)
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

void
JobCosts::OnCut()
{
    for (auto& [id, member] : m_live)
    {
        member.left = ShareLeft(*member.flow);
    }
}

double
JobCosts::Take(uint32_t flow, Picos now)
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

} // namespace ns3::env
