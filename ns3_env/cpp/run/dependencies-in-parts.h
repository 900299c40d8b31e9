// SPDX-License-Identifier: GPL-2.0-or-later
// Dependencies of flows and steps in a network that is simulated in parts.
#pragma once

#include "dependencies.h"
#include "scenario.h"

#include <functional>
#include <vector>

namespace ns3::env
{

/// The racks of a network in parts: nodes of one are always of the same part.
struct Racks
{
    std::vector<uint32_t> of; ///< by node id
    Picos lookahead;          ///< the minimum delay of a link between two of them
};

/// Each task starts at a host and is over at one: a flow at its source and its destination, a step at that of its rank.
/// A task that waits for another of the same rack starts when that one is over, as in a network that is simulated as a
/// whole; news from another rack arrives after the lookahead. A step without a host is an event of the whole network, and its
/// successors start at once.
///
/// Flows are created between windows. So a flow is created as soon as it could start within the next window: when each
/// task that it waits for is over, has started in the same rack, or is itself so near and shorter than the lookahead.
class DependenciesInParts final : public Dependencies
{
  public:
    /// Actions on a flow that waits.
    struct FlowHooks
    {
        std::function<Picos(uint32_t flow)>
            create; ///< between windows; returns the minimum time to its delivery
        std::function<void(uint32_t flow)> start;   ///< now; in the part of its source
        std::function<void(uint32_t flow)> started; ///< between windows, after its start
    };

    /// \param spec, racks outlive this
    DependenciesInParts(const DependencySpec& spec,
                        const std::vector<FlowEntry>& flows,
                        const Racks& racks,
                        FlowHooks hooks,
                        std::function<void()> stepsOver);

    void OnCreated(uint32_t flow) override { Foresee(flow); }

  private:
    /// State, as known between windows, of a task that has not started.
    struct Outlook
    {
        uint32_t begins;        ///< node, or NOWHERE
        uint32_t ends;          ///< node, or NOWHERE
        uint32_t unforeseen;    ///< dependencies that are neither over nor near
        bool isForeseen{false}; ///< counted off at those that wait for it in its rack
        bool isCreated{false};
        Picos news{0}; ///< when it has heard of all that is over in other racks
    };

    /// Reports whether `other`, which waits for `task`, learns of its end at once.
    bool IsNear(const Outlook& task, const Outlook& other) const;
    /// Fills each task's outlook: its places, and the number of tasks it waits for.
    void LookAhead(const std::vector<FlowEntry>& flows);
    void Release(uint32_t task) override;
    void OnDelayOver(uint32_t task) override;
    void OnOver(uint32_t task) override;
    void Create(uint32_t task);
    bool IsCreatedShort(uint32_t task);
    void Foresee(uint32_t task);
    void Tell(uint32_t task);

    const Racks& m_racks;
    FlowHooks m_hooks;
    std::vector<Outlook> m_outlook; ///< by task
};

} // namespace ns3::env
