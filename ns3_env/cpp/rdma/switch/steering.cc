// SPDX-License-Identifier: GPL-2.0-or-later
// Next hops if switches choose for each packet: load balancing, and routes that change.
#include "steering.h"

#include "switch.h"

#include "ns3_env/cpp/engine/random-source.h"

#include <utility>
#include <vector>

namespace ns3::env::rdma
{

namespace
{

/// Random stream of paths; not that of marks and losses, so that these do not depend on the balancing.
constexpr int64_t STREAM_OF_PATHS = 2;
constexpr uint32_t PORT_OF_PATHS = UINT32_MAX;

constexpr uint32_t WAY_FACTOR = 0x9e3779b1; ///< 2^32 / golden ratio; odd: paths stay distinct

bool
IsAnswer(const Packet& packet)
{
    return !IsForReceiver(packet);
}

class RandomChoice : public PathChoice
{
  public:
    size_t Pick(NextHops& hops, const Packet&, uint32_t node, Picos) override
    {
        return Draw(hops, node);
    }

    void DivideRandom(uint64_t seed, uint32_t nodes) override
    {
        for (uint32_t node = 0; node < nodes; ++node)
        {
            m_ofNodes.emplace_back(seed, node, PORT_OF_PATHS);
        }
    }

  protected:
    size_t Draw(const NextHops& hops, uint32_t node)
    {
        const double drawn = m_ofNodes.empty() ? m_ofAll.Draw() : m_ofNodes[node].Draw();
        return static_cast<size_t>(drawn * static_cast<double>(hops.ports.size()));
    }

  private:
    OneStream m_ofAll{STREAM_OF_PATHS};
    std::vector<PortStream> m_ofNodes; ///< of a divided network
};

/// The flow's hash, which a flow of the same five-tuple has at any time; after a pause one by chance.
class FlowletChoice final : public RandomChoice
{
  public:
    explicit FlowletChoice(Picos gap)
        : m_gap(gap)
    {
    }

    size_t Pick(NextHops& hops, const Packet& packet, uint32_t node, Picos now) override
    {
        SteeredFlow& flow = *packet.flow->Steered();
        const bool answer = IsAnswer(packet);
        SteeredFlow::Memory& memory = flow.At(answer, node);
        if (memory.version != hops.version)
        {
            memory.version = hops.version;
            memory.port =
                EcmpHash(flow.Tuple(answer), node) % static_cast<uint32_t>(hops.ports.size());
        }
        else if (now - memory.seen > m_gap)
        {
            memory.port = static_cast<uint32_t>(Draw(hops, node));
        }
        memory.seen = now;
        return memory.port;
    }

  private:
    Picos m_gap;
};

/// Answers have a separate turn, so that data and answers that alternate do not each stay on one port.
class TurnChoice : public PathChoice
{
  public:
    size_t Pick(NextHops& hops, const Packet& packet, uint32_t, Picos) override
    {
        return hops.turn[IsAnswer(packet)]++ % hops.ports.size();
    }
};

/// The shortest queue in bytes, of equal ones the first in turn.
class LeastQueueChoice final : public TurnChoice
{
  public:
    size_t Pick(NextHops& hops, const Packet& packet, uint32_t node, Picos now) override
    {
        const size_t first = TurnChoice::Pick(hops, packet, node, now);
        size_t best = first;
        for (size_t i = 1; i < hops.ports.size(); ++i)
        {
            const size_t at = (first + i) % hops.ports.size();
            if (hops.ports[at]->QueueBytes() < hops.ports[best]->QueueBytes())
            {
                best = at;
            }
        }
        return best;
    }
};

/// The hash of the flow with its packet's entropy as source port.
class EntropyChoice final : public PathChoice
{
  public:
    size_t Pick(NextHops& hops, const Packet& packet, uint32_t node, Picos) override
    {
        FiveTuple tuple = packet.flow->Steered()->Tuple(IsAnswer(packet));
        tuple.sourcePort = packet.entropy;
        return EcmpHash(tuple, node) % hops.ports.size();
    }
};

std::unique_ptr<PathChoice>
MakeChoice(const PathSpec& spec)
{
    switch (spec.balancing)
    {
    case Balancing::Random:
        return std::make_unique<RandomChoice>();
    case Balancing::InTurn:
        return std::make_unique<TurnChoice>();
    case Balancing::LeastQueue:
        return std::make_unique<LeastQueueChoice>();
    case Balancing::Recycled:
        return std::make_unique<EntropyChoice>();
    case Balancing::Flowlet:
        break;
    }
    return std::make_unique<FlowletChoice>(spec.gap);
}

} // namespace

Steering::Steering(const PathSpec& spec, Routing routing, size_t nodes, PortOf portOf)
    : m_routing(std::move(routing)),
      m_portOf(std::move(portOf)),
      m_choice(MakeChoice(spec)),
      m_hops(nodes)
{
}

void
Steering::DivideRandom(uint64_t seed)
{
    m_choice->DivideRandom(seed, static_cast<uint32_t>(m_hops.size()));
}

NextHops&
Steering::HopsTo(uint32_t host, uint32_t node)
{
    auto& row = m_hops[node];
    if (row.size() <= host)
    {
        row.resize(host + size_t{1});
    }
    if (!row[host])
    {
        // Turns start at different ports, so that hosts that start together do not meet at each.
        row[host] = std::make_unique<NextHops>();
        row[host]->turn.fill(EcmpHash({0, NodeAddress(host), 0, 0}, node));
    }
    NextHops& hops = *row[host];
    if (hops.version != m_version)
    {
        Find(hops, host, node);
    }
    return hops;
}

void
Steering::Find(NextHops& hops, uint32_t host, uint32_t node)
{
    const std::lock_guard lock(m_looking);
    hops.version = m_version;
    hops.ports.clear();
    for (const Neighbour* next : m_routing.NextHops(node, host))
    {
        hops.ports.push_back(&m_portOf(node, next->port));
    }
}

SwitchPort*
Steering::NextPort(const Packet& packet, uint32_t node, Picos now)
{
    NextHops& hops = HopsTo(packet.flow->Steered()->Target(IsAnswer(packet)), node);
    if (hops.ports.size() < 2)
    {
        return hops.ports.empty() ? nullptr : hops.ports.front();
    }
    return hops.ports[m_choice->Pick(hops, packet, node, now)];
}

bool
Steering::Steer(Packet* packet, SwitchPort& ingress, Way& way)
{
    SwitchPort* egress = NextPort(*packet, ingress.NodeId(), packet->arrival);
    // Routes that change while a packet is in flight may send it in a loop.
    if (egress == nullptr || packet->hop >= MAX_PATH_SWITCHES)
    {
        ingress.LoseByFailure(packet);
        return false;
    }
    if (egress->IsDown())
    {
        egress->LoseByFailure(packet);
        return false;
    }
    if (IsForReceiver(*packet))
    {
        packet->way = ((packet->hop == 0 ? 0 : packet->way) + egress->Index() + 1) * WAY_FACTOR;
        if (packet->intHops == MAX_INT_HOPS)
        {
            packet->telemetry = Telemetry::None; // a detour longer than a packet has room for
        }
    }
    way[packet->hop] = egress;
    packet->egress = way.data();
    return true;
}

void
Steering::SetLink(uint32_t a, uint32_t b, bool up)
{
    m_routing.SetLink(a, b, up);
    ++m_version;
}

} // namespace ns3::env::rdma
