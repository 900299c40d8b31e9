// SPDX-License-Identifier: GPL-2.0-or-later
// Base64 of numbers in a row (RFC 4648).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ns3::env
{

/// Encodes bytes, padded.
inline std::string
Base64(std::span<const std::byte> bytes)
{
    static constexpr char DIGITS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3)
    {
        const size_t left = bytes.size() - i;
        const auto at = [&](size_t k)
        { return k < left ? std::to_integer<uint32_t>(bytes[i + k]) : 0; };
        const uint32_t triple = at(0) << 16U | at(1) << 8U | at(2);
        text += DIGITS[triple >> 18U];
        text += DIGITS[triple >> 12U & 63U];
        text += left > 1 ? DIGITS[triple >> 6U & 63U] : '=';
        text += left > 2 ? DIGITS[triple & 63U] : '=';
    }
    return text;
}

} // namespace ns3::env
