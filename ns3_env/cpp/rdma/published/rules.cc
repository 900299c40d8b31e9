// SPDX-License-Identifier: GPL-2.0-or-later
// The published simulator's deviations, one method each.
#include "rules.h"

#include "nic.h"

#include "ns3/boolean.h"
#include "ns3/rng-seed-manager.h"
#include "ns3_env/cpp/contract/congestion-control.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ns3::env::rdma::published
{

namespace
{

using Vector = std::array<uint64_t, 3>;
using Matrix = std::array<Vector, 3>;

constexpr uint64_t M1 = 4294967087;
constexpr uint64_t M2 = 4294944443;
constexpr double NORM = 2.328306549295727688e-10; // 1 / (M1 + 1)

// x(n) = 1403580 x(n-2) - 810728 x(n-3) mod M1;  y(n) = 527612 y(n-1) - 1370589 y(n-3) mod M2
constexpr Matrix STEP1{{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}};
constexpr Matrix STEP2{{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};

constexpr Vector
Apply(const Matrix& a, const Vector& x, uint64_t modulus)
{
    Vector y{};
    for (std::size_t i = 0; i < 3; ++i)
    {
        for (std::size_t j = 0; j < 3; ++j)
        {
            y[i] = (y[i] + a[i][j] * x[j] % modulus) % modulus; // factors are below 2^32
        }
    }
    return y;
}

constexpr Matrix
Multiply(const Matrix& a, const Matrix& b, uint64_t modulus)
{
    Matrix c{};
    for (std::size_t j = 0; j < 3; ++j)
    {
        const Vector column = Apply(a, {b[0][j], b[1][j], b[2][j]}, modulus);
        for (std::size_t i = 0; i < 3; ++i)
        {
            c[i][j] = column[i];
        }
    }
    return c;
}

/// a^(2^exponent)
constexpr Matrix
Squared(Matrix a, uint32_t exponent, uint64_t modulus)
{
    for (uint32_t i = 0; i < exponent; ++i)
    {
        a = Multiply(a, a, modulus);
    }
    return a;
}

constexpr uint32_t STREAM = 127;
constexpr uint32_t SUBSTREAM = 76;
constexpr Matrix STREAM1 = Squared(STEP1, STREAM, M1);
constexpr Matrix STREAM2 = Squared(STEP2, STREAM, M2);
constexpr Matrix SUBSTREAM1 = Squared(STEP1, SUBSTREAM, M1);
constexpr Matrix SUBSTREAM2 = Squared(STEP2, SUBSTREAM, M2);

/// a^times x
Vector
Advance(Matrix a, uint64_t times, Vector x, uint64_t modulus)
{
    for (; times > 0; times >>= 1)
    {
        if ((times & 1) != 0)
        {
            x = Apply(a, x, modulus);
        }
        a = Multiply(a, a, modulus);
    }
    return x;
}

} // namespace

StreamPerDraw::StreamPerDraw(uint32_t seed, uint64_t run, uint64_t first)
{
    const Vector start{seed, seed, seed};
    m_first = Advance(STREAM1, first, Advance(SUBSTREAM1, run, start, M1), M1);
    m_second = Advance(STREAM2, first, Advance(SUBSTREAM2, run, start, M2), M2);
}

double
StreamPerDraw::Draw()
{
    const uint64_t x = Apply(STEP1, m_first, M1)[2];
    const uint64_t y = Apply(STEP2, m_second, M2)[2];
    m_first = Apply(STREAM1, m_first, M1);
    m_second = Apply(STREAM2, m_second, M2);
    const uint64_t difference = x > y ? x - y : x + M1 - y;
    return static_cast<double>(difference) * NORM;
}

NextHopOrder::NextHopOrder(const Graph& graph)
    : m_graph(graph),
      m_places(graph.neighbours.size())
{
}

const std::vector<uint32_t>&
NextHopOrder::PlacesTo(uint32_t to)
{
    constexpr uint32_t UNSEEN = UINT32_MAX;
    const auto& links = m_graph.neighbours[to];
    auto& places =
        m_places[links.empty() ? to : links.front().node]; // hosts of one switch share it
    if (!places.empty())
    {
        return places;
    }
    places.assign(m_graph.neighbours.size(), UNSEEN);
    std::vector<uint32_t> found{to};
    places[to] = 0;
    std::vector<uint32_t> ids;
    for (size_t next = 0; next < found.size(); ++next)
    {
        ids.clear();
        for (const Neighbour& n : m_graph.neighbours[found[next]])
        {
            ids.push_back(n.node);
        }
        std::sort(ids.begin(), ids.end(), std::greater<>());
        for (const uint32_t id : ids)
        {
            if (m_graph.isSwitch[id] && places[id] == UNSEEN) // hosts do not forward
            {
                places[id] = static_cast<uint32_t>(found.size());
                found.push_back(id);
            }
        }
    }
    return places;
}

void
NextHopOrder::Sort(std::vector<const Neighbour*>& hops, uint32_t to)
{
    const auto& places = PlacesTo(to);
    std::sort(hops.begin(),
              hops.end(),
              [&places](const Neighbour* a, const Neighbour* b)
              { return places[a->node] < places[b->node]; });
}

namespace
{

// Random streams handed out before the first packet is marked (docs/decisions/0002): of each node's
// protocol stack, and of the loss model.
constexpr uint64_t STREAMS_PER_NODE = 6;
constexpr uint64_t STREAMS_OF_LOSS = 2;

// docs/sources/published-simulator.md, "Known differences"
constexpr Picos NACK_INTERVAL = 500'000 * PS_PER_NS;
constexpr Picos LATE_TIMEOUT = PS_PER_SECOND; // the published simulator has no timeout

} // namespace

uint64_t
Rules::Headroom(double rateBps, Picos delay) const
{
    constexpr uint64_t BITS = 8 * 1'000'000'000ULL; // of a byte in a second of nanoseconds
    return static_cast<uint64_t>(rateBps) * static_cast<uint64_t>(ToNanos(delay)) / BITS * 3;
}

uint32_t
Rules::Doublings(double ratio) const
{
    return static_cast<uint32_t>(std::ceil(std::log2(std::max(1.0, ratio))));
}

std::unique_ptr<RandomSource>
Rules::MakeRandomSource(uint64_t nodes) const
{
    return std::make_unique<StreamPerDraw>(RngSeedManager::GetSeed(),
                                           RngSeedManager::GetRun(),
                                           STREAMS_PER_NODE * nodes + STREAMS_OF_LOSS);
}

Ptr<rdma::Nic>
Rules::MakeNic(NetworkContext& network, uint32_t nodeId) const
{
    return CreateObject<Nic>(network, nodeId, m_priorityGroup != ACK_GROUP);
}

std::unique_ptr<env::NextHopOrder>
Rules::MakeNextHopOrder(const Graph& graph) const
{
    return std::make_unique<NextHopOrder>(graph);
}

uint32_t
Rules::TelemetryUnit(double hostRateBps, uint32_t) const
{
    return static_cast<uint32_t>(std::max(1.0, hostRateBps / TELEMETRY_REFERENCE_BPS));
}

Picos
Rules::Standalone(uint64_t sizeBytes, const PathFacts& facts, const Hops&, const Hops&, uint32_t)
    const
{
    const uint64_t packets = (sizeBytes + facts.payloadBytes - 1) / facts.payloadBytes;
    return facts.baseRtt +
           IdealTime(sizeBytes + DATA_HEADER_BYTES * packets, facts.slowestBps, GetRounding());
}

GoBackN
Rules::Recovery(Picos) const
{
    return {.nackInterval = NACK_INTERVAL,
            .acknowledgesDuplicates = false,
            .skipsAcknowledged = false,
            .restartsPacing = false};
}

Picos
Rules::Timeout(Picos safe) const
{
    return std::max(safe, LATE_TIMEOUT);
}

void
Rules::Start(const std::function<void()>& flow) const
{
    Simulator::ScheduleNow([flow] { Simulator::ScheduleNow(flow); });
}

void
Rules::Prepare(CongestionControl& control) const
{
    control.SetAttributeFailSafe("TimerEvents", BooleanValue(true)); // only DCQCN has it
}

} // namespace ns3::env::rdma::published
