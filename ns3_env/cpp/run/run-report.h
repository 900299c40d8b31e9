// SPDX-License-Identifier: GPL-2.0-or-later
// Queues, losses, stream counts and totals of a run, whatever carried the packets.
#pragma once

#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/engine/queue-stats.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::env
{

/// Frames of a run, from when it is made until it is closed.
class Capture
{
  public:
    virtual ~Capture() = default;

    /// Completes the file. \throws std::runtime_error if it could not be written
    virtual void Close() = 0;
    /// Stops writing: the file belongs to another process.
    virtual void Abandon() = 0;
};

/// State of one traffic class's queue at a port, if there are several classes.
struct ClassQueue
{
    const std::string& name;
    uint64_t bytes;
    uint64_t txBytes;        ///< sent so far
    Picos paused;            ///< how long its peer has held it back so far
    uint64_t pauseFrames;    ///< frames received from its peer
    const QueueStats* stats; ///< null if no statistics are kept
};

/// State of a switch's port at one moment.
struct EgressQueue
{
    uint32_t node;
    uint32_t port; ///< its index at the node
    uint32_t peer; ///< node at the other end of its link
    double rateBps;
    uint64_t bytes{0};
    uint64_t txBytes;                  ///< sent so far
    Picos paused{0};                   ///< how long its peer has held it back so far
    uint64_t pauseFrames{0};           ///< frames received from its peer
    uint64_t pauseFramesSent{0};       ///< frames sent to its peer
    const QueueStats* stats{nullptr};  ///< null if no statistics are kept
    std::vector<ClassQueue> classes{}; ///< empty if there is one class
    uint64_t pauseStorms{0};           ///< detected by its watchdog
    Picos stormTime{0};                ///< their duration so far; of classes, the sum
};

/// Losses of one port by one cause; hosts' ports included.
struct LossRecord
{
    uint32_t node;
    uint32_t port;
    uint32_t peer;
    LossCause cause;
    Losses lost;
};

/// Adds a record for each cause of losses at a port, if there were any.
inline void
AddLosses(std::vector<LossRecord>& records,
          uint32_t node,
          uint32_t port,
          uint32_t peer,
          const LossCounts& lost)
{
    for (const LossCause cause : LOSS_CAUSES)
    {
        if (lost.By(cause).packets > 0)
        {
            records.push_back({node, port, peer, cause, lost.By(cause)});
        }
    }
}

/// Ports that PFC pauses block forever: each waits for the room that the next one's packets occupy.
struct PauseCircle
{
    struct Held
    {
        uint32_t node;
        uint32_t port;
        uint32_t peer; ///< the node that pauses it
    };

    std::vector<Held> ports; ///< each waits for the next, the last for the first; empty: no circle
    size_t others{0};        ///< ports, also of hosts, that wait for these

    /// A sentence for readers of the results.
    std::string Text() const
    {
        std::ostringstream text;
        text << "PFC deadlock: pauses wait for each other in a circle, and nothing moves there any "
                "more:";
        for (const Held& held : ports)
        {
            text << (&held == &ports.front() ? " node " : ", node ") << held.node << " port "
                 << held.port << " is paused by node " << held.peer;
        }
        if (others > 0)
        {
            text << "; " << others << (others == 1 ? " more port waits" : " more ports wait")
                 << " for these";
        }
        return text.str();
    }
};

/// Payload bytes of one stream. Bytes neither received nor lost are in flight.
struct StreamCounts
{
    uint64_t sent;
    uint64_t received;
    uint64_t lost;
};

/// Sums over a network.
struct RunTotals
{
    uint64_t packetsSent{0}; ///< data packets, retransmissions included
    uint64_t packetHops{0};
    uint64_t droppedPackets{0};
    uint64_t droppedPayload{0};
    uint64_t transmittedPayload{0};
    uint64_t deliveredPayload{0};
    uint64_t packetsLeft{0}; ///< on the network at the end
    uint64_t pauseFrames{0};
    uint64_t notificationFrames{0};
    double hostPauseNs{0};
};

} // namespace ns3::env
