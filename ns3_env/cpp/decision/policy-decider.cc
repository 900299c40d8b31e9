// SPDX-License-Identifier: GPL-2.0-or-later
// Decider by a policy in the simulator, with each flow's history and exploration.
#include "policy-decider.h"

#include "ns3/string.h"
#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

namespace ns3::env
{

namespace
{

/// SplitMix64's finaliser (Steele et al. 2014).
uint64_t
Mixed(uint64_t z)
{
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15U;

} // namespace

Exploration::Exploration(const ExplorationSettings& settings, uint64_t seed, uint32_t flow)
    : m_settings(settings),
      m_state(Mixed(Mixed(Mixed(settings.play) + seed + GOLDEN) + flow * GOLDEN)),
      m_random(Uniform() < settings.randomShare)
{
}

uint64_t
Exploration::Next()
{
    m_state += GOLDEN;
    return Mixed(m_state);
}

double
Exploration::Normal()
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform())); // Box and Muller 1958
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

double
Exploration::operator()(double action)
{
    if (!m_random)
    {
        return m_settings.noise > 0 ? action + m_settings.noise * Normal() : action;
    }
    if (m_holdFor == 0)
    {
        m_held = 2.0 * Uniform() - 1.0;
        // Geometric: P(n) = p (1 - p)^(n-1), p = 1 / MEAN_HOLD.
        m_holdFor =
            1 + static_cast<uint64_t>(std::log(1.0 - Uniform()) / std::log(1.0 - 1.0 / MEAN_HOLD));
    }
    --m_holdFor;
    return m_held;
}

PolicyDecider::PolicyDecider(Policy& policy, uint64_t seed, TransitionLog* log)
    : m_policy(policy),
      m_seed(seed),
      m_log(log)
{
}

void
PolicyDecider::Adopt(uint32_t flow, DecidingController& controller)
{
    auto& own = static_cast<PolicyController&>(controller);
    const auto exploration = own.Exploring();
    Memory& memory = m_memories[flow];
    memory.controller = &own;
    if (!exploration.None())
    {
        memory.exploration.emplace(exploration, m_seed, flow);
    }
}

bool
PolicyDecider::Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now)
{
    m_due.clear();
    m_histories.clear();
    for (const DecisionRow& row : rows)
    {
        if (!row.NeedsAction())
        {
            m_memories.erase(row.flow);
            continue;
        }
        Memory& memory = m_memories.at(row.flow);
        m_policy.Observe(memory.history, row.record);
        m_due.push_back(&memory);
        m_histories.push_back(&memory.history);
    }
    m_outputs.resize(std::max(m_outputs.size(), m_due.size()));
    if (!m_due.empty())
    {
        m_policy.Evaluate(m_histories, std::span(m_outputs).first(m_due.size()));
    }
    size_t next = 0;
    for (const DecisionRow& row : rows)
    {
        ActionRow action;
        if (row.NeedsAction())
        {
            Memory& memory = *m_due[next];
            const double wanted = m_outputs[next];
            const double tried = memory.exploration ? (*memory.exploration)(wanted) : wanted;
            const double taken = std::clamp(tried, -1.0, 1.0);
            action = m_policy.Actions()(taken, row.record);
            if (const Safety* safety = m_policy.Secured())
            {
                action = memory.controller->Secure(*safety, action, row.record, now);
            }
            actions[next++] = action;
            // A learner needs the answer itself, not the value of the field "last_action".
            action.echo = taken;
        }
        if (m_log != nullptr && !m_log->Add(row, action, now))
        {
            return false;
        }
    }
    return true;
}

NS_OBJECT_ENSURE_REGISTERED(AgentController);

TypeId
AgentController::GetTypeId()
{
    static TypeId tid =
        Declaration<AgentController, DecidingController>("rdma::agent")
            .Number("TelemetryBytes",
                    "Wire bytes of in-band telemetry per packet (42 as HPCC's, 32 as MPCC's).",
                    &AgentController::m_telemetryBytes,
                    {42, 0, bounds::TELEMETRY_BYTES});
    return tid;
}

IntRequest
AgentController::GetIntRequest() const
{
    return {.wireBytes = m_telemetryBytes, .hopRecords = true, .quantised = Quantised()};
}

double
PolicyController::DecidesFromBdps() const
{
    const double own = DecidingController::DecidesFromBdps();
    return own < 0 && !m_file.empty() ? PolicyCache::Get(m_file).DecidesFromBdps() : own;
}

double
PolicyController::TelemetryFromBdps() const
{
    const double own = DecidingController::TelemetryFromBdps();
    return own < 0 && !m_file.empty() ? PolicyCache::Get(m_file).TelemetryFromBdps() : own;
}

double
PolicyController::TelemetryEveryRtts() const
{
    const double own = DecidingController::TelemetryEveryRtts();
    return own < 0 && !m_file.empty() ? PolicyCache::Get(m_file).TelemetryEveryRtts() : own;
}

ActionRow
PolicyController::Secure(const Safety& safety,
                         const ActionRow& action,
                         const ObservationRecord& record,
                         Picos now)
{
    if (!safety.Covers(record))
    {
        return FallBack(now);
    }
    const ActionRow bounded = safety.Bounded(action, record);
    m_bounded += bounded.windowBytes != action.windowBytes ? 1 : 0;
    return bounded;
}

void
PolicyController::OnLoss(Picos now)
{
    const Safety* safety = m_file.empty() ? nullptr : PolicyCache::Get(m_file).Secured();
    if (safety != nullptr &&
        safety->Loses(Decided().RetransmittedBytes(), Decided().TransmittedBytes()))
    {
        FallBack(now);
    }
}

ActionRow
PolicyController::FallBack(Picos now)
{
    static std::mutex making; // ns-3 counts references to an object's defaults without locks
    const std::lock_guard lock(making);
    ++m_fallbacks;
    return HandOver(CreateController({FALLBACK, {}}), now);
}

std::vector<std::pair<std::string, double>>
PolicyController::GetCounters() const
{
    if (m_file.empty() || PolicyCache::Get(m_file).Secured() == nullptr)
    {
        return {};
    }
    return {{"policy_fallbacks", m_fallbacks}, {"policy_windows_bounded", m_bounded}};
}

NS_OBJECT_ENSURE_REGISTERED(PolicyController);

TypeId
PolicyController::GetTypeId()
{
    static TypeId tid =
        Declaration<PolicyController, DecidingController>("rdma::policy")
            .Text("File",
                  "The policy: an exported one, or policy.safetensors of a checkpoint.",
                  &PolicyController::m_file,
                  "")
            .Number("TelemetryBytes",
                    "Wire bytes of in-band telemetry per packet; -1: as the file says.",
                    &PolicyController::m_telemetryBytes,
                    {-1, -1, bounds::TELEMETRY_BYTES})
            .Flag("HopRecords",
                  "Switches write a record per hop even where the policy observes none, for a "
                  "reader of its flows' telemetry.",
                  &PolicyController::m_hopRecords,
                  false)
            .Number("ActionNoise",
                    "Standard deviation of the noise on actions in [-1, 1].",
                    &PolicyController::m_noise,
                    {0.0, 0.0, 10.0})
            .Number("RandomShare",
                    "Share of flows whose actions are random, each held for some decisions.",
                    &PolicyController::m_randomShare,
                    {0.0, 0.0, 1.0})
            .Number("ExplorationPlay",
                    "Number of this run of the same flows; each number explores differently.",
                    &PolicyController::m_play,
                    {0, 0, bounds::PLAYS})
            .Counter("PolicyDecisions",
                     "Actions that were applied.",
                     &PolicyController::m_decisions);
    return tid;
}

IntRequest
PolicyController::GetIntRequest() const
{
    if (m_file.empty())
    {
        return {};
    }
    const Policy& policy = PolicyCache::Get(m_file);
    const bool shorter = std::ranges::count(policy.Fields(), Field::ShorterBacklog) > 0;
    return {.wireBytes = m_telemetryBytes < 0 ? policy.TelemetryBytes()
                                              : static_cast<uint32_t>(m_telemetryBytes),
            .hopRecords = m_hopRecords || NeedsHops(policy.Fields()),
            .quantised = Quantised(),
            .shorterBacklog = shorter};
}

} // namespace ns3::env
