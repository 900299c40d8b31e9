// SPDX-License-Identifier: GPL-2.0-or-later
// Controller of a flow under a trained policy inside the simulator.
#ifndef NS3_ENV_DECISION_NETWORK_CONTROLLER_H
#define NS3_ENV_DECISION_NETWORK_CONTROLLER_H

#include "deciding-controller.h"
#include "exploration.h"

#include <string>

namespace ns3::env
{

/// "network": the policy of a file decides (docs/policy-format.md), on its own clock.
class NetworkController final : public DecidingController
{
  public:
    static TypeId GetTypeId();

    TelemetryHeader GetTelemetryHeader() const override;

    const std::string& File() const { return m_file; }
    ExplorationSettings Exploring() const
    {
        return {.noise = m_noise, .randomShare = m_randomShare};
    }

  private:
    std::string m_file;
    int32_t m_telemetryBytes{-1};
    bool m_hopRecords{false};
    double m_noise{0};
    double m_randomShare{0};
};

} // namespace ns3::env

#endif // NS3_ENV_DECISION_NETWORK_CONTROLLER_H
