// SPDX-License-Identifier: GPL-2.0-or-later
// Plays several networks in one process, in turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ns3::env
{

class SimulatorChannel;

/// Serves each channel until its agent closes it. A network that waits for its agent lets the next one continue: each
/// has a stack and a simulation, and nothing of one depends on another.
/// \param program its name, for the fault of a network
/// \param serve serves one channel
/// \throws ChannelError
void PlayNetworks(const std::vector<int>& channelFds,
                  int bellFd,
                  const std::string& program,
                  const std::function<void(SimulatorChannel&)>& serve);

} // namespace ns3::env
