// SPDX-License-Identifier: GPL-2.0-or-later
// JSON writer that beats the heartbeat while it writes and frees.
#ifndef NS3_ENV_JSON_JSON_WRITER_H
#define NS3_ENV_JSON_JSON_WRITER_H

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace ns3::env
{

/// Writes an object as `json.dump()` would, but calls `write` for the value of its key `late`. Frees what `json` holds.
void WriteJson(std::ostream& out,
               nlohmann::json json,
               const std::string& late,
               const std::function<void()>& write);

/// What `write` writes, as a text; each piece of it is a sign of life.
std::string TextOf(const std::function<void(std::ostream&)>& write);

} // namespace ns3::env

#endif // NS3_ENV_JSON_JSON_WRITER_H
