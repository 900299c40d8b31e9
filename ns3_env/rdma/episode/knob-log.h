// SPDX-License-Identifier: GPL-2.0-or-later
// When did a flow's window or rate change, and to what?
#ifndef RDMA_KNOB_LOG_H
#define RDMA_KNOB_LOG_H

#include "flow-run.h"

#include <deque>

namespace ns3::rdma
{

/// A flow's window and rate, at its start or after a change.
struct KnobChange
{
    Picos time;
    uint32_t flow;
    double windowBytes;
    double rateBps;
};

/// Collects the changes of all flows.
class KnobLog
{
  public:
    explicit KnobLog(FlowRun& run);

    KnobLog(const KnobLog&) = delete;
    KnobLog& operator=(const KnobLog&) = delete;

    const std::deque<KnobChange>& Changes() const { return m_changes; }

  private:
    void OnKnobs(const FlowState& flow, Picos now);

    std::deque<KnobChange> m_changes;
};

} // namespace ns3::rdma

#endif // RDMA_KNOB_LOG_H
