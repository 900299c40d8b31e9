// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a scenario's section "tcp".
#ifndef NS3_ENV_TCP_PROGRAM_READ_SETTINGS_H
#define NS3_ENV_TCP_PROGRAM_READ_SETTINGS_H

#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"

namespace ns3::env::tcp
{

/// All but the segments' size, which is the scenario's payload. \throws ScenarioError
TcpSettings ReadSettings(JsonReader section);

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_PROGRAM_READ_SETTINGS_H
