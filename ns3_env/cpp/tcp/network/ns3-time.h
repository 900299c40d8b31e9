// SPDX-License-Identifier: GPL-2.0-or-later
// A time in picoseconds as ns-3 has it.
#pragma once

#include "ns3/nstime.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env::tcp
{

/// \param time not negative
inline Time
ToTime(Picos time)
{
    return TimeStep(static_cast<uint64_t>(time));
}

} // namespace ns3::env::tcp
