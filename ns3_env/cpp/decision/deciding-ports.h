// SPDX-License-Identifier: GPL-2.0-or-later
// The ports of switches whose ECN thresholds a policy across the channel sets (Yan et al. 2021, ACC).
#pragma once

#include "decision-broker.h"
#include "subject.h"

#include "ns3_env/cpp/engine/marking-port.h"

#include <cstdint>
#include <list>
#include <span>

namespace ns3::env
{

/// One port under the policy: counters since its last decision, and its thresholds.
class DecidingPort final : public Subject
{
  public:
    /// \param number of the port among those under the policy, and its slot
    /// \param interval of decisions
    DecidingPort(MarkingPort& port, uint32_t number, Picos interval);

    DecisionRow MakeRow(Picos now, uint32_t end) override;
    /// Sets (Kmin, Kmax, Pmax), as AsThresholds() reads them.
    void Apply(const ActionRow& action) override;
    uint32_t Number() const override { return m_number; }
    uint32_t Host() const override { return 0; } // a network with such ports is not divided

  private:
    MarkingPort& m_port;
    uint32_t m_number;
    Picos m_interval;
    // At the last decision.
    Picos m_since{-1};
    uint64_t m_txBytes{0};
    uint64_t m_markedBytes{0};
    double m_queueArea{0};
};

/// All of them, which decide together: at the start of the run, and then at each interval's end.
class DecidingPorts
{
  public:
    DecidingPorts(Decider& decider, std::span<MarkingPort* const> ports, Picos interval);

    DecidingPorts(DecidingPorts&&) = delete;

    void Begin();
    /// The episode ends: an interval in progress is cut.
    void CutAll(Picos now);
    void Flush() { m_broker.Flush(); }

  private:
    void Tick();

    DecisionBroker m_broker;
    Picos m_interval;
    std::list<DecidingPort> m_ports;
};

} // namespace ns3::env
