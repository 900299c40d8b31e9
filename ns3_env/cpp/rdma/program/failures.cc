// SPDX-License-Identifier: GPL-2.0-or-later
// Failures of a network's links over time, and when its switches learn of them.
#include "failures.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace ns3::env::rdma
{

Failures::Failures(const Fabric& fabric, const PathSpec& spec)
    : m_spec(spec),
      m_steering(*fabric.GetSteering())
{
    std::map<std::pair<uint32_t, uint32_t>, Port*> ports;
    for (Port* port : fabric.Ports())
    {
        ports[{port->NodeId(), port->Peer().NodeId()}] = port;
    }
    std::map<const Port*, size_t> links;
    for (size_t i = 0; i < spec.outages.size(); ++i)
    {
        const auto [a, b] = std::minmax(spec.outages[i].a, spec.outages[i].b);
        const auto port = ports.find({a, b});
        if (port == ports.end())
        {
            throw ScenarioError("failures.outages[" + std::to_string(i) + "]",
                                "no link joins the nodes " + std::to_string(a) + " and " +
                                    std::to_string(b));
        }
        const auto [at, isNew] = links.emplace(port->second, m_links.size());
        if (isNew)
        {
            m_links.push_back({port->second, &port->second->Peer()});
        }
        m_linkOf.push_back(at->second);
    }
}

void
Failures::Schedule()
{
    // At one instant, outages of a link start before other outages end: it is never up for zero time.
    std::multimap<std::pair<Picos, bool>, std::function<void()>> steps;
    for (size_t i = 0; i < m_spec.outages.size(); ++i)
    {
        const LinkOutage& outage = m_spec.outages[i];
        Link& link = m_links[m_linkOf[i]];
        for (const auto& [time, change] : {std::pair{outage.begin, 1}, std::pair{outage.end, -1}})
        {
            if (time < NEVER)
            {
                const bool last = change < 0;
                steps.emplace(std::pair{time, last},
                              [this, &link, change] { Count(link, change); });
                steps.emplace(std::pair{time + m_spec.convergence, last},
                              [this, &link, change] { Hear(link, change); });
            }
        }
    }
    for (const auto& [when, step] : steps)
    {
        Simulator::Schedule(Time(when.first), step);
    }
}

void
Failures::Count(Link& link, int change)
{
    const bool was = link.outages > 0;
    link.outages += change;
    const bool down = link.outages > 0;
    if (was == down)
    {
        return;
    }
    const Picos now = NowPicos();
    EventLoop::Settle(); // packets on the link are lost
    for (Port* end : {link.a, link.b})
    {
        EventLoop::RunAt(end->NodeId(), [&] { down ? end->Fail(now) : end->Recover(now); });
    }
}

void
Failures::Hear(Link& link, int change)
{
    const bool was = link.known > 0;
    link.known += change;
    if (was != (link.known > 0))
    {
        m_steering.SetLink(link.a->NodeId(), link.b->NodeId(), was);
    }
}

} // namespace ns3::env::rdma
