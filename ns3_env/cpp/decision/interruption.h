// SPDX-License-Identifier: GPL-2.0-or-later
// The channel during one episode, which remembers a request for another episode or the end.
#ifndef NS3_ENV_DECISION_INTERRUPTION_H
#define NS3_ENV_DECISION_INTERRUPTION_H

#include "ns3_env/cpp/channel/simulator-channel.h"

#include <cstdint>

namespace ns3::env
{

/// The other side asked for an end of the episode.
enum class Interruption : uint8_t
{
    None,
    Reset,
    Close,
};

/// The simulator's end of the channel during one episode.
class EpisodeChannel
{
  public:
    explicit EpisodeChannel(SimulatorChannel& channel)
        : m_channel(channel)
    {
    }

    SimulatorChannel& Channel() { return m_channel; }

    /// Sends the first `count` rows and waits. \return false where the answer is another episode, or the end
    bool Exchange(Message kind, int64_t timePs, size_t count)
    {
        if (m_interruption != Interruption::None)
        {
            return false;
        }
        m_channel.Publish(kind, timePs, static_cast<uint32_t>(count));
        const Command command = m_channel.Wait();
        m_interruption = command == Command::Step    ? Interruption::None
                         : command == Command::Reset ? Interruption::Reset
                                                     : Interruption::Close;
        return m_interruption == Interruption::None;
    }

    /// Set once the other side has answered with Reset or Close.
    Interruption Interrupted() const { return m_interruption; }

  private:
    SimulatorChannel& m_channel;
    Interruption m_interruption{Interruption::None};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_INTERRUPTION_H
