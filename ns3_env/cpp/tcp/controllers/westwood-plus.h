// SPDX-License-Identifier: GPL-2.0-or-later
// Westwood+ (ns-3's), whose estimate of the bandwidth ends with its flow.
#ifndef NS3_ENV_TCP_CONTROLLERS_WESTWOOD_PLUS_H
#define NS3_ENV_TCP_CONTROLLERS_WESTWOOD_PLUS_H

#include "ns3/tcp-westwood-plus.h"

namespace ns3::env::tcp
{

/// ns-3 schedules the estimate an RTT ahead for the bare controller, and runs it after that is gone.
class WestwoodPlus final : public TcpWestwoodPlus
{
  public:
    static TypeId GetTypeId();
    WestwoodPlus() = default;
    WestwoodPlus(const WestwoodPlus& other);
    ~WestwoodPlus() override;

    Ptr<TcpCongestionOps> Fork() override;
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_WESTWOOD_PLUS_H
