// SPDX-License-Identifier: GPL-2.0-or-later
// A flow of fluid: a size that drains through its path at its assigned rate.
#pragma once

#include "allocation.h"
#include "fluid-paths.h"

#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/events/now.h"

#include <cstdint>

namespace ns3::env
{

/// A flow without packets. Its fluid starts with it. The time from the last of the fluid to the flow's end is that by
/// which a single flow of packets ends after a single fluid: headers, hops, delays and a handshake.
class FluidFlow final : public Flow
{
  public:
    /// \param links its path's, as indices
    /// \param changing the first hop of its path whose rate changes, the number of hops if none does
    FluidFlow(const FlowSpec& spec, FluidPath path, FluidRoute links, size_t changing);

    const FluidRoute& Links() const { return m_links; }

    // --- Its fluid
    /// `bps` on the wire from `now` on.
    void Allocate(double bps, Picos now);
    /// Time at which the last of it has passed at the current rate; NEVER if it is stalled or endless.
    Picos ThroughAt() const { return m_throughAt; }
    /// The last of it has passed.
    void PassThrough() { StandAt(static_cast<double>(m_sizeBytes), NowPicos()); }
    /// Payload bytes that have passed by `now`.
    double PassedBy(Picos now) const;
    /// Remaining payload bytes; infinity for an endless flow.
    double LeftAt(Picos now) const;
    /// Payload bytes of progress per ps.
    double Speed() const { return SpeedAt(RateBps()); }
    /// End of the flow if its last fluid has passed at `through`; no sooner than on an idle path.
    Picos EndAfter(Picos through) const
    {
        return std::max(through + m_lag, m_startTime + Standalone());
    }
    /// Time from its start to when its first fluid is at the first link whose rate changes; 0 if none does.
    Picos Lead() const { return m_lead; }
    /// Time from when its receiver has all of it to its end.
    Picos WayBack() const { return m_wayBack; }
    bool IsAwaited() const { return m_awaiting != nullptr; }
    /// Notifies the listener that the receiver has all of it; call only if IsAwaited().
    void Arrive();
    /// Ends the flow.
    void Finish();

    /// Reports whether its rate has changed since the last call.
    bool TakeChange() { return m_pacing.TakeChange(); }

    // --- Flow
    void Start() override {}
    void AwaitDelivery(DeliveryListener& listener) override { m_awaiting = &listener; }
    void Abort() override;
    void SetHeld(bool) override {}
    Object& Controller() const override { return *m_controller; }
    bool IsOnNetwork() const override { return false; }
    Picos EndTime() const override { return m_end; }
    uint64_t ReceivedBytes() const override
    {
        return static_cast<uint64_t>(std::llround(PassedBy(NowPicos())));
    }
    uint64_t RetransmittedBytes() const override { return 0; }
    uint64_t TransmittedBytes() const override { return ReceivedBytes(); }
    uint64_t Timeouts() const override { return 0; }
    Picos PauseTime() const override { return 0; }

  private:
    bool IsEndless() const { return m_sizeBytes == ENDLESS_BYTES; }
    double SpeedAt(double bps) const
    {
        return bps / 8 * m_facts.payloadBytes / m_facts.packetBytes / PS_PER_SECOND;
    }
    void StandAt(double passed, Picos now);

    PathFacts m_facts;
    FluidRoute m_links;
    Ptr<CongestionControl> m_controller; ///< steers nothing
    Picos m_lead{0};
    Picos m_lag{0};     ///< from the last of its fluid to its end
    Picos m_wayBack{0}; ///< of the last ACK
    double m_passed{0}; ///< payload bytes, by m_since
    Picos m_since{0};
    Picos m_throughAt{NEVER};
    Picos m_end{-1};
    DeliveryListener* m_awaiting{nullptr};
};

} // namespace ns3::env
