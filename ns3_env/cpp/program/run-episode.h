// SPDX-License-Identifier: GPL-2.0-or-later
// Runs one episode, with or without agents across the channel.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace ns3::env
{

class SimulatorChannel;
class Transport;

/// Outcome of an episode.
struct EpisodeOutcome
{
    std::string results; ///< JSON; empty if interrupted, or written elsewhere
    std::string warning; ///< about the scenario; mostly empty
    bool reset{false};   ///< the agent requested another episode instead of a step
    bool close{false};   ///< the agent requested the end of the process
};

/// Runs one episode of the scenario in a fresh simulation and clears it away.
/// \param channel from which agent flows get their decisions; null refuses scenarios with agents
/// \param open opens the stream for the results, once they exist; without it they are in the outcome
/// \throws ScenarioError
EpisodeOutcome RunEpisode(std::string scenarioJson,
                          SimulatorChannel* channel,
                          Transport& transport,
                          const std::function<std::ostream&()>& open = {});

/// Global settings of the process: picosecond time, the event scheduler. Once, before anything else.
void PrepareSimulator();

} // namespace ns3::env
