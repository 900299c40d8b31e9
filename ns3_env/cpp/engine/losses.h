// SPDX-License-Identifier: GPL-2.0-or-later
// Causes of packet loss, one port's losses by cause, and random corruption of a link's frames.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ns3::env
{

/// Cause of a packet's loss. Each loss is counted at the port that would have sent the packet, or has.
enum class LossCause : uint8_t
{
    BufferFull, ///< the switch had no room for packets to queue at this egress port
    Link,       ///< lost on the link that this port sends on
    Failure,    ///< the link was down, or there was no path (counted at the packet's ingress port)
    PauseStorm, ///< the PFC watchdog of this port dropped it
    Trimmed,    ///< the payload only: no room for it, but its header went on
};

inline constexpr std::array LOSS_CAUSES{LossCause::BufferFull,
                                        LossCause::Link,
                                        LossCause::Failure,
                                        LossCause::PauseStorm,
                                        LossCause::Trimmed};

/// Name of a cause in results.
constexpr const char*
NameOf(LossCause cause)
{
    constexpr std::array NAMES{"buffer_full", "link", "failure", "pause_storm", "trimmed"};
    return NAMES[static_cast<size_t>(cause)];
}

struct Losses
{
    uint64_t packets{0};      ///< data, ACKs and NACKs
    uint64_t payloadBytes{0}; ///< of data packets
};

/// Losses of one port, by cause.
class LossCounts
{
  public:
    void Add(LossCause cause, uint32_t payloadBytes)
    {
        Losses& losses = m_losses[static_cast<size_t>(cause)];
        ++losses.packets;
        losses.payloadBytes += payloadBytes;
    }
    const Losses& By(LossCause cause) const { return m_losses[static_cast<size_t>(cause)]; }
    LossCounts& operator+=(const LossCounts& other)
    {
        for (size_t i = 0; i < m_losses.size(); ++i)
        {
            m_losses[i].packets += other.m_losses[i].packets;
            m_losses[i].payloadBytes += other.m_losses[i].payloadBytes;
        }
        return *this;
    }

  private:
    std::array<Losses, LOSS_CAUSES.size()> m_losses{};
};

/// Random corruption of packets on one link in one direction: a corrupted packet does not arrive.
struct Corruption
{
    double packetRate{0};   ///< the probability of each packet
    double bitErrorRate{0}; ///< of each bit of a frame, independent of other bits

    /// Loss probability of a frame by its bits: 1 - (1 - bit error rate)^bits.
    double OfBits(uint32_t bits) const { return -std::expm1(bits * std::log1p(-bitErrorRate)); }
};

} // namespace ns3::env
