// SPDX-License-Identifier: GPL-2.0-or-later
// JSON writer that beats the heartbeat while it writes and frees.
#ifndef NS3_ENV_JSON_JSON_WRITER_H
#define NS3_ENV_JSON_JSON_WRITER_H

#include <nlohmann/json.hpp>
#include <string>

namespace ns3::env
{

/// The text that `json.dump()` makes. Frees what `json` holds.
std::string WriteJson(nlohmann::json json);

} // namespace ns3::env

#endif // NS3_ENV_JSON_JSON_WRITER_H
