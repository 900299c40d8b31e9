// SPDX-License-Identifier: GPL-2.0-or-later
// Controller of a flow whose policy decides outside the simulator.
#ifndef NS3_ENV_DECISION_AGENT_CONTROLLER_H
#define NS3_ENV_DECISION_AGENT_CONTROLLER_H

#include "deciding-controller.h"

namespace ns3::env
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

} // namespace ns3::env

#endif // NS3_ENV_DECISION_AGENT_CONTROLLER_H
