// SPDX-License-Identifier: GPL-2.0-or-later
// Bottleneck for TCP sockets: senders, a router with a queue disc, a receiver, and what was seen.
#ifndef NS3_ENV_TEST_TCP_SOCKET_PAIR_H
#define NS3_ENV_TEST_TCP_SOCKET_PAIR_H

#include "ns3/data-rate.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/queue-disc.h"
#include "ns3/socket.h"

#include <cstdint>
#include <vector>

namespace ns3::env::tcp::test
{

struct Bottleneck
{
    DataRate rate{"100Mb/s"};
    Time delay{MilliSeconds(5)}; ///< one way; hosts' links are ten times as fast and have none
    uint32_t bufferPackets{100};
    uint32_t markAtPackets{0}; ///< a queue of so many is marked; 0: none
};

/// What came of a flow between two instants.
struct FlowSeen
{
    double goodputBps{0};
    double meanRttNs{0};
    double rttDeviationNs{0};
};

/// One endless flow per controller, each from a sender of its own; segments of 1000 B.
class SocketPairs
{
  public:
    SocketPairs(const Bottleneck& bottleneck, const std::vector<ObjectFactory>& controllers);
    ~SocketPairs();

    /// Simulates until `from`, then until `to`, and reports on the time between.
    std::vector<FlowSeen> Run(Time from, Time to);

    /// Packets in the bottleneck's queue, on average over Run()'s second part.
    double MeanQueuePackets() const { return m_queueSum / m_queueSamples; }

  private:
    struct Flow
    {
        Ptr<Socket> sender;
        uint64_t receivedBytes{0};
        double rtts{0};
        double rttSum{0};
        double rttSquares{0};
    };

    void Fill(size_t flow);
    void Drain(size_t flow, Ptr<Socket> socket);
    void SampleQueue();

    std::vector<Flow> m_flows;
    std::vector<Ptr<Socket>> m_listeners;
    Ptr<QueueDisc> m_queue;
    double m_queueSum{0};
    double m_queueSamples{0};
};

} // namespace ns3::env::tcp::test

#endif // NS3_ENV_TEST_TCP_SOCKET_PAIR_H
