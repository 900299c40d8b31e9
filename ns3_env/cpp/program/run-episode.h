// SPDX-License-Identifier: GPL-2.0-or-later
// Runs one episode, with or without agents across the channel.
#ifndef NS3_ENV_PROGRAM_RUN_EPISODE_H
#define NS3_ENV_PROGRAM_RUN_EPISODE_H

#include <string>

namespace ns3::env
{

class SimulatorChannel;
class Transport;

/// What came of an episode.
struct EpisodeOutcome
{
    std::string results; ///< JSON; empty where the episode was interrupted
    std::string warning; ///< of the scenario; mostly empty
    bool reset{false};   ///< the agent asked for another episode instead of stepping on
    bool close{false};   ///< the agent asked for the end of the process
};

/**
 * Runs one episode of the scenario in a fresh simulation and clears it away.
 * \param channel where agent flows get their decisions; null refuses scenarios with agents
 * \throws ScenarioError
 */
EpisodeOutcome
RunEpisode(const std::string& scenarioJson, SimulatorChannel* channel, Transport& transport);

/// Global settings of the process: picosecond time, the event scheduler. Once, before anything else.
void PrepareSimulator();

} // namespace ns3::env

#endif // NS3_ENV_PROGRAM_RUN_EPISODE_H
