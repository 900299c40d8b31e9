// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers in files, least significant byte first.
#ifndef NS3_ENV_RECORDERS_LITTLE_ENDIAN_H
#define NS3_ENV_RECORDERS_LITTLE_ENDIAN_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Adds the number's bytes.
template <typename T>
void
Append(std::vector<uint8_t>& bytes, T value)
{
    for (size_t i = 0; i < sizeof(T); ++i)
    {
        bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> 8 * i));
    }
}

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_LITTLE_ENDIAN_H
