// SPDX-License-Identifier: GPL-2.0-or-later
// Application that sends one RDMA flow, or a stream at a constant rate, and reports its end.
#pragma once

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/data-rate.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <string>

namespace ns3
{

/// A flow from its node's card to another, under a congestion controller; with StreamRate one that nothing steers, until
/// StopTime. It starts with the application, before the simulation runs or later.
class RdmaApplication : public Application
{
  public:
    static TypeId GetTypeId();

    static constexpr uint32_t NO_FLOW = 0xffffffff;

    RdmaApplication();

    Address GetLocal() const { return m_local; }
    Address GetRemote() const { return m_remote; }
    uint64_t GetSize() const { return m_size; }
    std::string GetController() const { return m_controller; }
    uint8_t GetTrafficClass() const { return m_trafficClass; }
    DataRate GetStreamRate() const { return m_streamRate; }
    Time GetStartTime() const { return m_startTime; }
    Time GetStopTime() const { return m_stopTime; }

    /// Number of the flow in traces, results and captures; NO_FLOW before the simulation starts.
    uint32_t GetFlowId() const { return m_flow; }
    bool IsCompleted() const { return m_completed; }
    /// Time from its start until its last byte was acknowledged; 0 before.
    Time GetCompletionTime() const { return m_duration; }
    /// The controller's window, in bytes, and its rate, in bit/s.
    double GetWindow() const { return m_window; }
    double GetRate() const { return m_rate; }

    // --- For RdmaNetwork
    /// A number that grows from one application to the next: flows have this order.
    uint64_t GetSerial() const { return m_serial; }
    void SetFlow(uint32_t flow) { m_flow = flow; }
    void OnWindowAndRate(double windowBytes, double rateBps);
    void OnCompleted(Time duration);
    bool IsWatched() const { return m_watched; }
    /// A listener connects to window or rate.
    void Watch();

    typedef void (*CompletedCallback)(Ptr<const RdmaApplication> application, Time duration);

  private:
    void StartApplication() override;

    Address m_local;
    Address m_remote;
    uint64_t m_size{0};
    std::string m_controller;
    uint8_t m_trafficClass{0};
    DataRate m_streamRate;

    uint64_t m_serial;
    uint32_t m_flow{NO_FLOW};
    bool m_completed{false};
    bool m_watched{false};
    Time m_duration;
    TracedValue<double> m_window{0};
    TracedValue<double> m_rate{0};
    TracedCallback<Ptr<const RdmaApplication>, Time> m_completedTrace;
};

} // namespace ns3
