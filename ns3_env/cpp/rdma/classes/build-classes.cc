// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's traffic classes: checked against its network, given to its ports.
#include "build-classes.h"

#include "ns3_env/cpp/rdma/classes/class-nic.h"
#include "ns3_env/cpp/rdma/classes/class-switch.h"

#include <algorithm>

namespace ns3::env::rdma
{

void
CheckClasses(const Scenario& scenario)
{
    const size_t classes = scenario.classes.size();
    if (classes == 0)
    {
        return;
    }
    if (scenario.published || scenario.scheduling != Scheduling::Fifo)
    {
        throw ScenarioError("classes", "they need the timing 'exact' and the scheduling 'fifo'");
    }
    std::vector<size_t> ports(scenario.isSwitch.size(), 0);
    for (const LinkSpec& link : scenario.links)
    {
        for (const uint32_t node : {link.a, link.b})
        {
            if (++ports[node] * classes > UINT16_MAX)
            {
                throw ScenarioError("classes",
                                    std::to_string(classes) + " for each port of node " +
                                        std::to_string(node) + " are more than " +
                                        std::to_string(UINT16_MAX) +
                                        ", what a switch tells apart: fewer classes, or ports");
            }
        }
    }
}

void
ConfigureClasses(SwitchPort& port, const NetworkRules& rules, const Scenario& scenario)
{
    auto& own = static_cast<ClassPort&>(port);
    own.ConfigureClasses(rules, scenario.classes);
    if (scenario.recordQueues)
    {
        own.RecordClasses(scenario.CountedFrom(),
                          scenario.measurement ? scenario.measurement->end : NEVER);
    }
}

std::vector<ClassQueue>
QueuesOfClasses(const SwitchPort& port, const std::vector<TrafficClass>& classes, Picos now)
{
    std::vector<ClassQueue> queues;
    if (classes.empty())
    {
        return queues;
    }
    const auto& own = static_cast<const ClassPort&>(port);
    for (uint32_t i = 0; i < classes.size(); ++i)
    {
        const ClassPort::Queue& queue = own.Queues()[i];
        queues.push_back({.name = classes[i].name,
                          .bytes = queue.bytes,
                          .txBytes = queue.txBytes,
                          .paused = own.Pauses().Time(i, now),
                          .pauseFrames = own.Pauses().Frames(i),
                          .stats = queue.stats.get()});
    }
    return queues;
}

void
FinishClassRecords(SwitchPort& port, const std::vector<TrafficClass>& classes, Picos now)
{
    if (!classes.empty())
    {
        static_cast<ClassPort&>(port).FinishRecords(now);
    }
}

bool
IsPaused(const Port& port, bool several, uint32_t trafficClass)
{
    if (!several)
    {
        return port.IsPaused();
    }
    const auto* ofSwitch = dynamic_cast<const ClassPort*>(&port);
    return ofSwitch != nullptr ? ofSwitch->Pauses().Of(trafficClass)
                               : static_cast<const ClassNic&>(port).Pauses().Of(trafficClass);
}

const PacketFifo&
QueueOf(const SwitchPort& port, bool several, uint32_t trafficClass)
{
    return several ? static_cast<const ClassPort&>(port).Queues()[trafficClass].packets
                   : port.Queue();
}

double
LeastShare(const std::vector<TrafficClass>& classes)
{
    double sum = 0;
    double least = 0;
    for (const TrafficClass& own : classes)
    {
        sum += own.weight;
        least = own.IsStrict() || (least > 0 && least < own.weight) ? least : own.weight;
    }
    return sum > 0 ? least / sum : 1;
}

} // namespace ns3::env::rdma
