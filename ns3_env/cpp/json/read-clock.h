// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the clock ("clock", "decision_quantum_ns") of a scenario or of a policy's file.
#ifndef NS3_ENV_JSON_READ_CLOCK_H
#define NS3_ENV_JSON_READ_CLOCK_H

#include "json-reader.h"

#include "ns3_env/cpp/contract/clock-spec.h"

namespace ns3::env
{

/// \param root the object that has both keys \throws ScenarioError
ClockSpec ReadClock(JsonReader& root);

} // namespace ns3::env

#endif // NS3_ENV_JSON_READ_CLOCK_H
