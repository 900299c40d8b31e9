// SPDX-License-Identifier: GPL-2.0-or-later
// How does a flow obey a policy outside the simulator?
#ifndef RDMA_AGENT_CONTROLLER_H
#define RDMA_AGENT_CONTROLLER_H

#include "deciding-controller.h"

namespace ns3::rdma
{

/// "agent": decides across the channel.
class AgentController final : public DecidingController
{
  public:
    static TypeId GetTypeId();

    TelemetryHeader GetTelemetryHeader() const override;

  private:
    uint32_t m_telemetryBytes{42};
};

} // namespace ns3::rdma

#endif // RDMA_AGENT_CONTROLLER_H
