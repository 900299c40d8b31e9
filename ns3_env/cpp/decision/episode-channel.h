// SPDX-License-Identifier: GPL-2.0-or-later
// The channel during one episode: decisions, transitions, and requests to end the episode.
#pragma once

#include "decision-broker.h"

#include "ns3_env/cpp/channel/simulator-channel.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace ns3::env
{

/// Request of the other side to end the episode.
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

    /// Sends the first `count` rows and waits; a copy that requests no decisions does neither.
    /// \return false if the answer is another episode, or the end
    bool Exchange(Message kind, int64_t timePs, size_t count)
    {
        if (m_interruption != Interruption::None)
        {
            return false;
        }
        if (!m_asks)
        {
            return true;
        }
        m_channel.Publish(kind, timePs, static_cast<uint32_t>(count));
        Command command = m_channel.Wait();
        for (; command == Command::Branch; command = m_channel.Wait())
        {
            if (const std::optional<CopyTerms> terms = m_channel.Branch())
            {
                m_asks = terms->asks != 0;
                if (m_onCopy)
                {
                    m_onCopy(*terms);
                }
            }
        }
        m_interruption = command == Command::Step    ? Interruption::None
                         : command == Command::Reset ? Interruption::Reset
                                                     : Interruption::Close;
        return m_interruption == Interruption::None;
    }

    /// The hook runs in each copy of this process, before the copy continues.
    void SetCopyHook(std::function<void(const CopyTerms&)> hook) { m_onCopy = std::move(hook); }

    /// Reports whether the other side still decides.
    bool Asks() const { return m_asks; }

    /// Set once the other side has answered with Reset or Close.
    Interruption Interrupted() const { return m_interruption; }

  private:
    SimulatorChannel& m_channel;
    Interruption m_interruption{Interruption::None};
    std::function<void(const CopyTerms&)> m_onCopy;
    bool m_asks{true};
};

/// Exchanges rows for actions across the channel.
class ChannelDecider final : public Decider
{
  public:
    explicit ChannelDecider(EpisodeChannel& channel)
        : m_channel(channel)
    {
    }

    bool
    Decide(std::span<const DecisionRow> rows, std::span<ActionRow> actions, Picos now) override;

  private:
    EpisodeChannel& m_channel;
};

/// Fills the channel's region and has it read whenever it is full.
class TransitionLog
{
  public:
    explicit TransitionLog(EpisodeChannel& channel)
        : m_channel(channel)
    {
    }

    /// \param action the action applied; any value for a row without an action
    /// \return false if the episode is to be aborted
    bool Add(const DecisionRow& row, const ActionRow& action, Picos now);
    /// Sends the remaining rows.
    bool Flush(Picos now);

  private:
    EpisodeChannel& m_channel;
    size_t m_count{0};
};

} // namespace ns3::env
