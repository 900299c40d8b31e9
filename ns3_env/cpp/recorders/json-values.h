// SPDX-License-Identifier: GPL-2.0-or-later
// Times and arrays as results have them in JSON.
#pragma once

#include "ns3_env/cpp/contract/units.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace ns3::env
{

using Json = nlohmann::json;

/// ns, with fractions if the simulation has them.
inline Json
Nanos(Picos t)
{
    if (t < 0)
    {
        return -1;
    }
    if (t % PS_PER_NS == 0)
    {
        return t / PS_PER_NS;
    }
    return static_cast<double>(t) / PS_PER_NS;
}

/// The same as a number of a column.
inline double
NanosOf(Picos t)
{
    return t < 0 ? -1.0 : static_cast<double>(t) / PS_PER_NS;
}

/// Empty array with room for `count` elements, so that it does not grow by copying.
inline Json
ArrayOf(size_t count)
{
    Json array = Json::array();
    array.get_ref<Json::array_t&>().reserve(count);
    return array;
}

} // namespace ns3::env
