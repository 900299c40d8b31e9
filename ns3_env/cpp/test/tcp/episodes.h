// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's TCP flows on a separate network, for tests.
#pragma once

#include "ns3_env/cpp/tcp/network/fabric.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/test/scenarios.h"
#include "ns3_env/cpp/test/suite.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3::env::tcp::test
{

using namespace env::test; // NOLINT(google-build-using-namespace)

/// Laws that run on every host.
inline constexpr const char* LAWS[] = {"newreno", "cubic", "dctcp", "bbr"};

/// A queue of so many packets.
inline QueueLength
Packets(double count)
{
    return {count, QueueLength::Unit::Packets};
}

/// A delayed ACK's and the least retransmission timeout, for short runs.
TcpSettings ShortTimeouts(Picos minRto = MS, Picos delayedAck = 200 * US);
/// An ACK for each segment.
TcpSettings AckEach();

/// Bytes of a segment with `payload` on a link, timestamps left out.
constexpr uint64_t
FrameBytes(uint64_t payload)
{
    return payload + 20 + 20 + 2;
}

/// One network and the scenario's flows on it, under one controller or, from the second of the scenario's
/// controllers on, under that.
class TestEpisode
{
  public:
    TestEpisode(Scenario scenario, const TcpSettings& settings, const ControllerSpec& controller);
    ~TestEpisode();

    TestEpisode(TestEpisode&&) = delete;

    /// Runs until every finite flow is done, or to the scenario's time limit.
    void Run();
    /// Continues to `time`.
    void RunUntil(Picos time);

    Fabric& Net() { return *m_fabric; }
    TcpFlow& Flow(size_t i) { return *m_flows[i]; }
    size_t Flows() const { return m_flows.size(); }
    const Port& PortTo(uint32_t node, uint32_t peer)
    {
        return *m_fabric->EgressTo(node, peer).egress;
    }
    uint64_t ReceivedBytes() const;
    /// Payload in bit/s that all flows receive from one time to another, as a share of a link at `rateBps`.
    double GoodputShare(Picos begin, Picos end, double rateBps, uint64_t segmentBytes = 1448);
    uint64_t SentPayload() const;

  private:
    Scenario m_scenario;
    std::unique_ptr<Fabric> m_fabric;
    std::vector<std::unique_ptr<TcpFlow>> m_flows;
    size_t m_unfinished{0};
};

/// env::test::Dumbbell with other delays of its links and another rate in the middle.
Scenario SlowMiddle(uint32_t senders, double hostBps, double middleBps, Picos delay);

/// Payload that is in a queue, a device or on a link, from when this is made.
class OnTheWay : private PortObserver
{
  public:
    /// \param fabric must simulate no more when this is destroyed
    explicit OnTheWay(const Fabric& fabric);

    OnTheWay(OnTheWay&&) = delete;

    int64_t Bytes() const;
    int64_t BytesOf(const FiveTuple& tuple) const;

  private:
    void OnTaken(const Port&, const Segment& segment) override;
    void OnReceived(const Port&, const Segment& segment) override;
    void OnLost(const Port&, const Segment& segment, LossCause cause) override;

    std::unordered_map<FiveTuple, int64_t, FiveTupleHash, SameFiveTuple> m_bytes;
};

} // namespace ns3::env::tcp::test
