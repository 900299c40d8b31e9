// SPDX-License-Identifier: GPL-2.0-or-later
// Transport-independent interface of a running flow.
#pragma once

#include "packet-order.h"
#include "rtt-samples.h"

#include "ns3/object.h"
#include "ns3_env/cpp/contract/flow-state.h"

#include <functional>
#include <utility>

namespace ns3::env
{

class Flow;

/// Listener for the delivery of all of a flow's bytes.
class DeliveryListener
{
  public:
    virtual ~DeliveryListener() = default;

    /// Called when the receiver has the last byte and all before it; the sender may not know yet.
    virtual void OnDelivered(const Flow& flow) = 0;
};

/// A flow in progress. FlowState is its interface to the congestion controller.
class Flow : public FlowState
{
  public:
    Flow() = default;
    Flow(Flow&&) = delete;

    /// Called when the last byte was acknowledged.
    void SetFinishedCallback(std::function<void(Flow&)> done) { m_finished = std::move(done); }

    /// Sets its completion time on an idle path.
    void SetStandalone(Picos duration) { m_standalone = duration; }
    Picos Standalone() const { return m_standalone; } ///< -1: endless

    /// Sets the start of a flow that was created without one; call before Start().
    void SetStartTime(Picos start) { m_startTime = start; }
    virtual void Start() = 0;
    /// Notifies `listener` once, when the receiver has the whole message; never for an endless flow. Call before it
    /// starts.
    virtual void AwaitDelivery(DeliveryListener& listener) = 0;
    /// The episode ends with this flow unfinished: no callback, no further event.
    virtual void Abort() = 0;
    /// Pauses the flow (an agent's decision is pending) or resumes it.
    virtual void SetHeld(bool held) = 0;
    /// The controller that steers it: a CongestionControl, or the transport's own in its place. Its TypeId and trace
    /// sources show its state.
    virtual Object& Controller() const = 0;

    /// Reports whether any packet of it is on the network, for which the object must live.
    virtual bool IsOnNetwork() const = 0;
    /// -1 while it has not ended.
    virtual Picos EndTime() const = 0;
    /// Payload bytes that its receiver has in order.
    virtual uint64_t ReceivedBytes() const = 0;
    virtual uint64_t RetransmittedBytes() const = 0;
    /// Payload bytes put on the wire, retransmissions included.
    virtual uint64_t TransmittedBytes() const = 0;
    virtual uint64_t Timeouts() const = 0;
    /// Data packets that arrived before an earlier one of the flow, as the receiver counts them; 0 if it does not.
    virtual uint64_t OutOfOrderPackets() const { return 0; }
    /// Payload bytes that arrived though the receiver had them; 0 if it does not count them.
    virtual uint64_t DuplicateBytes() const { return 0; }
    /// Time for which pauses blocked its sender's port while it lived.
    virtual Picos PauseTime() const = 0;
    /// RTTs of its data, as measured by its sender; null if not recorded.
    virtual const RttSamples* Rtts() const { return nullptr; }
    /// Arrival order of its data; null if not counted.
    virtual const PacketOrder* Order() const { return nullptr; }

  protected:
    void ReportFinished()
    {
        if (m_finished)
        {
            m_finished(*this);
        }
    }

  private:
    Picos m_standalone{-1};
    std::function<void(Flow&)> m_finished;
};

} // namespace ns3::env
