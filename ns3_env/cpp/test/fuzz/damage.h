// SPDX-License-Identifier: GPL-2.0-or-later
// View of the shared region through which its words are damaged.
#pragma once

#include "ns3_env/cpp/channel/agent-channel.h"
#include "ns3_env/cpp/channel/simulator-channel.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <random>

namespace ns3::env::fuzz
{

/// Random numbers of an attack, from a seed and the attack's number, so that each can be repeated.
class Random
{
  public:
    Random(uint64_t seed, uint64_t attack)
        : m_engine(seed * 0x9e3779b97f4a7c15 + attack)
    {
    }

    uint64_t Bits() { return m_engine(); }
    /// Draws from [0, n).
    size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(m_engine() % n); }
    bool OneIn(size_t n) { return Below(n) == 0; }

    template <typename T>
    T OneOf(std::initializer_list<T> values)
    {
        return *std::next(values.begin(), static_cast<std::ptrdiff_t>(Below(values.size())));
    }

  private:
    std::mt19937_64 m_engine;
};

/// The region of an agent's end, which must live as long.
class Region
{
  public:
    explicit Region(const AgentChannel& agent);

    /// The region's descriptor as a simulator inherits it; the caller closes it.
    int Inherited() const;

    /// Magic, version, sizes, offsets, or any bytes of the header.
    void DamageHeader(Random& random);
    /// Command, counts, blob, actions, and the header.
    /// \param due actions that would be right
    void DamageAgentWords(Random& random, size_t due);
    /// Message, counts, blob, rows and the schema.
    void DamageSimulatorWords(Random& random);

    /// Rows with flags of all kinds. \returns how many need an action
    size_t FillRows(Random& random, uint32_t rows);
    void WriteActions(Random& random, size_t count, const std::function<ActionRow()>& make);
    /// A number that no action has, into one of this action's.
    void WriteBadNumber(Random& random, size_t action);
    /// Acts as if the agent had sent the region's contents.
    void AdvanceAgent();
    /// Acts as if the agent had sent Close.
    void Close();

  private:
    void DamageBytes(Random& random, size_t begin, size_t end);
    void DamageBlob(Random& random, uint64_t& bytes);

    int m_blobFd;
    SharedRegion m_region;
    ChannelHeader* m_header;
    ChannelControl* m_control;
    DecisionRow* m_rows;
    ActionRow* m_actions;
};

} // namespace ns3::env::fuzz
