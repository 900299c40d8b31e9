// SPDX-License-Identifier: GPL-2.0-or-later
// What does a scenario's section "tcp" say?
#ifndef TCP_READ_SETTINGS_H
#define TCP_READ_SETTINGS_H

#include "ns3_env/rdma/json/json-reader.h"
#include "ns3_env/tcp/model/tcp-settings.h"

namespace ns3::tcp
{

/// All but the segments' size, which is the scenario's payload. \throws ScenarioError
TcpSettings ReadSettings(rdma::JsonReader section);

} // namespace ns3::tcp

#endif // TCP_READ_SETTINGS_H
