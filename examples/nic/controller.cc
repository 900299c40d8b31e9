// SPDX-License-Identifier: GPL-2.0-or-later
// A policy's C file (export.py --format c) as a controller of the simulator: a plugin (docs/nic.md).
//
// POLICY is the prefix of the file's functions, POLICY_FILE the file's name. That file decides; this
// one adds the NIC's part: counters of a flow, and the choice of the most congested hop.
#include "ns3/object-factory.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

extern "C"
{
#define NS3_ENV_POLICY_DECLARATIONS
#include POLICY_FILE
}

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define OF_POLICY(name) JOINED(POLICY, name)
#define QUOTED_(a) #a
#define QUOTED(a) QUOTED_(a)

namespace ns3::env::rdma::POLICY // a namespace per policy, so that several fit in one process
{

namespace
{

/// The nearest value that a member of the C file's structs can represent.
template <class T>
void
Assign(T& member, double value)
{
    const auto most = static_cast<double>(std::numeric_limits<T>::max());
    member = value >= most ? std::numeric_limits<T>::max()
                           : static_cast<T>(std::llround(std::max(value, 0.0)));
}

/// Whether a policy has a safety, which hands flows over.
template <class Action>
constexpr bool HANDS_OVER = requires(Action action) { action.fallback; };

} // namespace

/// Maintains the observations of one flow, asks the policy when a decision is due, and applies it.
class CFileController : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<CFileController>("rdma::" QUOTED(POLICY))
                                .Counter("PolicyDecisions",
                                         "Actions that were applied.",
                                         &CFileController::m_decisions);
        return tid;
    }

    IntRequest GetIntRequest() const override
    {
        return {.wireBytes = OF_POLICY(_telemetry_bytes),
                .hopRecords = OF_POLICY(_reads_hops) != 0};
    }

    IntRequest GetIntRequestOf(uint64_t sizeBytes, const PathFacts& facts) const override
    {
        const auto path = PathOf(facts);
        const uint32_t every = OF_POLICY(_telemetry_every_ns)(&path, sizeBytes);
        if (every == UINT32_MAX)
        {
            return {};
        }
        IntRequest request = GetIntRequest();
        request.everyRtts = every / static_cast<double>(path.base_rtt_ns);
        return request;
    }

    double GetRateFloor(const FlowState& flow) const override
    {
        return LEAST_RATE_SHARE * flow.Path().minRateBps;
    }

    /// Below one packet the flow is paced: the bytes that the minimum rate sends in a base RTT.
    double GetWindowFloor(const FlowState& flow) const override
    {
        return GetRateFloor(flow) * static_cast<double>(flow.Path().baseRtt) /
               (8.0 * PS_PER_SECOND);
    }

    void OnFlowStart(FlowState& flow) override
    {
        const auto path = PathOf(flow.Path());
        const uint32_t every = OF_POLICY(_telemetry_every_ns)(&path, flow.SizeBytes());
        m_sparse = every != 0 && every != UINT32_MAX;
        m_since = flow.StartTime();
        OF_POLICY(_action) action{};
        OF_POLICY(_start)(&m_state, &path, flow.SizeBytes(), &action);
        Obey(flow, action, flow.StartTime());
    }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        if (m_successor)
        {
            m_successor->OnAck(flow, ack);
            return;
        }
        ++m_acks;
        m_marks += ack.ecnMarked ? 1 : 0;
        m_acked += ack.newlyAckedBytes;
        m_reported = m_reported || !ack.hops.empty();
        if (m_sparse && m_reported && ack.hops.empty())
        {
            return; // a decision waits for a packet's telemetry
        }
        std::vector<IntRecord>& before = m_before[ack.way];
        if (before.empty())
        {
            before.assign(ack.hops.begin(), ack.hops.end());
        }
        if (flow.AckedBytes() == flow.SizeBytes() || ack.now < m_nextDecision)
        {
            return;
        }
        constexpr double FRACTION = static_cast<uint32_t>(OF_POLICY(_rtt_fraction_q16)) / 65536.0;
        m_nextDecision = ack.now + static_cast<Picos>(FRACTION * static_cast<double>(ack.rtt));
        OF_POLICY(_observation) observation{};
        Observe(observation, flow, ack, before);
        OF_POLICY(_action) action{};
        OF_POLICY(_decide)(&m_state, &observation, &action);
        Obey(flow, action, ack.now);
        m_decisions++;
        before.assign(ack.hops.begin(), ack.hops.end());
        m_since = ack.now;
        m_acks = m_marks = m_acked = 0;
    }

    void OnNack(FlowState& flow, Picos now) override
    {
        if (m_successor)
        {
            m_successor->OnNack(flow, now);
        }
    }

    void OnTimeout(FlowState& flow, Picos now) override
    {
        if (m_successor)
        {
            m_successor->OnTimeout(flow, now);
        }
    }

    std::vector<std::pair<std::string, double>> GetCounters() const override
    {
        if constexpr (HANDS_OVER<OF_POLICY(_action)>)
        {
            return {{"policy_fallbacks", m_successor ? 1 : 0}};
        }
        return {};
    }

  private:
    /// A policy may go below the minimum rate, but never stop a flow for good.
    static constexpr double LEAST_RATE_SHARE = 0.01;

    static OF_POLICY(_path) PathOf(const PathFacts& facts)
    {
        OF_POLICY(_path) path{};
        Assign(path.host_rate_kbps, facts.hostRateBps / 1e3);
        Assign(path.base_rtt_ns, static_cast<double>(facts.baseRtt) / PS_PER_NS);
        path.packet_bytes = facts.packetBytes;
        Receiver(path, facts.hops.empty() ? 0 : facts.hops.back().rateBps);
        return path;
    }

    template <class Action>
    void Obey(FlowState& flow, const Action& action, Picos now)
    {
        const bool windowed = action.window_bytes != UINT32_MAX;
        flow.SetWindow(windowed ? std::max<double>(action.window_bytes, GetWindowFloor(flow))
                                : FlowState::NO_WINDOW);
        flow.SetRate(
            std::clamp(action.rate_kbps * 1e3, GetRateFloor(flow), flow.Path().hostRateBps));
        if constexpr (HANDS_OVER<Action>)
        {
            if (action.fallback != 0)
            {
                m_successor = ObjectFactory("rdma::swift").Create<CongestionControl>();
                m_successor->OnTakeOver(flow, now);
            }
        }
    }

    /// Fills the members that the policy has.
    template <class Observation>
    void Observe(Observation& o,
                 const FlowState& flow,
                 const AckSample& ack,
                 std::span<const IntRecord> before)
    {
        const auto nanos = [](Picos time) { return static_cast<double>(time) / PS_PER_NS; };
        if constexpr (requires { o.interval_ns; })
        {
            Assign(o.interval_ns, nanos(ack.now - m_since));
        }
        if constexpr (requires { o.rtt_ns; })
        {
            Assign(o.rtt_ns, nanos(ack.rtt));
        }
        if constexpr (requires { o.acked_bytes; })
        {
            Assign(o.acked_bytes, static_cast<double>(m_acked));
        }
        if constexpr (requires { o.marked_acks; })
        {
            o.acks = m_acks;
            o.marked_acks = m_marks;
        }
        if constexpr (requires { o.remaining_bytes; })
        {
            o.remaining_bytes = flow.SizeBytes() - flow.AckedBytes();
        }
        if constexpr (requires { o.attained_bytes; })
        {
            o.attained_bytes = flow.AckedBytes();
        }
        ObserveHop(o, flow, ack.hops, before);
    }

    /// The hop with the largest sum of queue / BDP and rate / bandwidth, as the simulator's policies choose it.
    template <class Observation>
    static void ObserveHop(Observation& o,
                           const FlowState& flow,
                           std::span<const IntRecord> hops,
                           std::span<const IntRecord> before)
    {
        double worst = -1;
        for (size_t i = 0; i < std::min(hops.size(), before.size()); ++i)
        {
            const auto rate = static_cast<double>(hops[i].rateBps);
            const auto sent = hops[i].txBytes - before[i].txBytes;
            const auto time = hops[i].timeNs - before[i].timeNs;
            const double bdp =
                rate * static_cast<double>(flow.Path().baseRtt) / (8.0 * PS_PER_SECOND);
            const double load =
                time > 0 ? static_cast<double>(sent) * 8e9 / (static_cast<double>(time) * rate) : 0;
            const double sum = hops[i].queueBytes / bdp + load;
            if (sum <= worst)
            {
                continue;
            }
            worst = sum;
            if constexpr (requires { o.hop_rate_kbps; })
            {
                Assign(o.hop_rate_kbps, rate / 1e3);
            }
            if constexpr (requires { o.hop_queue_bytes; })
            {
                o.hop_queue_bytes = hops[i].queueBytes;
            }
            if constexpr (requires { o.hop_tx_bytes; })
            {
                o.hop_tx_bytes = sent;
                Assign(o.hop_tx_ns, static_cast<double>(time));
            }
            if constexpr (requires { o.hop_flows; })
            {
                o.hop_flows = hops[i].flows;
            }
        }
    }

    template <class Path>
    static void Receiver(Path& path, double rateBps)
    {
        if constexpr (requires { path.receiver_rate_kbps; })
        {
            Assign(path.receiver_rate_kbps, rateBps / 1e3);
        }
    }

    OF_POLICY(_state) m_state {};
    Ptr<CongestionControl> m_successor; ///< that a safety has handed the flow over to
    bool m_sparse{false};               ///< some of the flow's packets carry telemetry
    bool m_reported{false};             ///< switches report to this flow
    std::map<uint32_t, std::vector<IntRecord>>
        m_before;     ///< hops at the last decision, by the data's way
    Picos m_since{0}; ///< the last decision
    Picos m_nextDecision{0};
    uint32_t m_acks{0};
    uint32_t m_marks{0};
    uint64_t m_acked{0};
    TracedValue<uint64_t> m_decisions{0};
};

NS_OBJECT_ENSURE_REGISTERED(CFileController);

} // namespace ns3::env::rdma::POLICY
