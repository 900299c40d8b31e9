// SPDX-License-Identifier: GPL-2.0-or-later
// Ports whose PFC pauses wait for each other in a circle: a deadlock.
#include "pause-circle.h"

#include "ns3_env/cpp/rdma/classes/build-classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ns3::env::rdma
{

namespace
{

/// A class of a port: node, port, class.
using Place = std::tuple<uint32_t, uint32_t, uint32_t>;

class Search
{
  public:
    Search(const Fabric& fabric, const Scenario& scenario)
        : m_classes(std::max<uint32_t>(1, static_cast<uint32_t>(scenario.classes.size()))),
          m_several(!scenario.classes.empty())
    {
        for (const auto& [id, sw] : fabric.Switches())
        {
            m_buffers.emplace(id, sw->Buffer());
        }
        for (const Port* port : fabric.Ports())
        {
            for (uint32_t own = 0; own < m_classes; ++own)
            {
                m_ports.emplace(Place{port->NodeId(), port->Index(), own}, port);
            }
        }
    }

    PauseCircle Find()
    {
        for (const auto& [place, port] : m_ports)
        {
            if (IsHeld(place))
            {
                m_held.insert(place);
            }
            else
            {
                Drain(place);
            }
        }
        while (std::erase_if(m_held, [this](const Place& place) { return MayGoOn(place); }) > 0)
        {
        }
        return Walk();
    }

  private:
    uint32_t ClassOf(const Place& place) const { return std::get<2>(place); }

    /// Account of the port's peer, in the peer's buffer.
    uint32_t Account(const Place& place) const
    {
        return m_ports.at(place)->Peer().Index() * m_classes + ClassOf(place);
    }

    uint32_t PeerOf(const Place& place) const { return m_ports.at(place)->Peer().NodeId(); }

    bool IsHeld(const Place& place) const
    {
        const Port& port = *m_ports.at(place);
        const auto peer = m_buffers.find(PeerOf(place));
        return IsPaused(port, m_several, ClassOf(place)) && peer != m_buffers.end() &&
               peer->second.IsPausing(Account(place));
    }

    const Packet* FirstOf(const Place& place) const
    {
        const auto* port = dynamic_cast<const SwitchPort*>(m_ports.at(place));
        return port != nullptr ? QueueOf(*port, m_several, ClassOf(place)).Front() : nullptr;
    }

    /// Empties its queue.
    void Drain(const Place& place)
    {
        for (const Packet* packet = FirstOf(place); packet != nullptr; packet = packet->next)
        {
            m_buffers.at(std::get<0>(place)).Remove(packet->ingressPort, packet->wireBytes);
        }
    }

    /// Reports whether its peer would resume it, and then empties its queue.
    bool MayGoOn(const Place& place)
    {
        if (!m_buffers.at(PeerOf(place)).MayResume(Account(place)))
        {
            return false;
        }
        Drain(place);
        return true;
    }

    /// A port whose queued packets block this one.
    Place Next(const Place& place) const
    {
        const uint32_t account = Account(place);
        const auto waits = [&](const Place& other)
        {
            for (const Packet* packet = FirstOf(other); packet != nullptr; packet = packet->next)
            {
                if (packet->ingressPort == account)
                {
                    return true;
                }
            }
            return false;
        };
        const auto first = m_held.lower_bound({PeerOf(place), 0, 0});
        return *std::find_if(first, m_held.end(), waits); // without any it would be resumed
    }

    PauseCircle Walk() const
    {
        PauseCircle circle;
        if (m_held.empty())
        {
            return circle;
        }
        std::vector<Place> way{*m_held.begin()};
        auto first = way.end();
        while ((first = std::find(way.begin(), way.end(), Next(way.back()))) == way.end())
        {
            way.push_back(Next(way.back()));
        }
        for (; first != way.end(); ++first)
        {
            const auto& [node, port, own] = *first;
            circle.ports.push_back({node, port, PeerOf(*first)});
        }
        circle.others = m_held.size() - circle.ports.size();
        return circle;
    }

    uint32_t m_classes;
    bool m_several;
    std::map<uint32_t, SharedBuffer> m_buffers; ///< of switches; packets that drain leave them
    std::map<Place, const Port*> m_ports;
    std::set<Place> m_held; ///< paused forever
};

} // namespace

PauseCircle
FindPauseCircle(const Fabric& fabric, const Scenario& scenario)
{
    const std::vector<Port*> ports = fabric.Ports();
    const bool any =
        std::any_of(ports.begin(), ports.end(), [](const Port* port) { return port->IsPaused(); });
    return any ? Search(fabric, scenario).Find() : PauseCircle{};
}

} // namespace ns3::env::rdma
