// SPDX-License-Identifier: GPL-2.0-or-later
// TcpCongestionOps that leaves window and pace to a CongestionControl, to which it reports events.
#pragma once

#include "ns3/tcp-dctcp.h"

#include <functional>
#include <string>

namespace ns3::env::tcp
{

/// Events of the socket that its controller is called for.
struct SteeredEvents
{
    std::function<void()> acknowledged; ///< an ACK was processed, and nothing is sent yet
    std::function<void()> recovers;     ///< TCP sees a loss and repairs it
    std::function<void()> timedOut;
};

/// Passive: neither ACKs nor losses move the window. Marks are echoed exactly (ns-3's
/// TcpDctcp at both ends).
class Steered final : public TcpDctcp
{
  public:
    static TypeId GetTypeId();

    /// Sets the receiver of events, which are ignored before.
    void SetEvents(SteeredEvents events) { m_events = std::move(events); }

    std::string GetName() const override { return "Steered"; }
    Ptr<TcpCongestionOps> Fork() override { return CreateObject<Steered>(); }
    bool HasCongControl() const override { return true; }
    void PktsAcked(Ptr<TcpSocketState>, uint32_t, const Time&) override {}
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t /* bytesInFlight */) override
    {
        return tcb->m_cWnd;
    }

  private:
    SteeredEvents m_events;
};

} // namespace ns3::env::tcp
