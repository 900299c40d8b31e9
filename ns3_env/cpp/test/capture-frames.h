// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a capture, as a test reads them from a pcapng file.
#pragma once

#include "files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace ns3::env::test
{

/// A number of four bytes, the least significant one first.
inline uint32_t
Little(const Bytes& bytes, size_t at)
{
    return static_cast<uint32_t>(bytes.at(at) | bytes.at(at + 1) << 8 | bytes.at(at + 2) << 16) |
           uint32_t{bytes.at(at + 3)} << 24;
}

struct CapturedFrame
{
    std::string interface;
    uint64_t timeNs;
    uint32_t length; ///< on the link
    Bytes bytes;     ///< as captured
    bool sent;
};

struct CapturedFrames
{
    std::vector<std::string> interfaces;
    std::vector<uint32_t> linkTypes; ///< of the interfaces
    std::vector<CapturedFrame> frames;

    std::vector<CapturedFrame> At(const std::string& interface) const
    {
        std::vector<CapturedFrame> own;
        std::copy_if(frames.begin(),
                     frames.end(),
                     std::back_inserter(own),
                     [&](const CapturedFrame& frame) { return frame.interface == interface; });
        return own;
    }
};

/// Reads the blocks that our captures have (draft-ietf-opsawg-pcapng, sec. 4.2 and 4.3).
inline CapturedFrames
FramesOf(const Bytes& file)
{
    constexpr uint32_t INTERFACE = 1;
    constexpr uint32_t PACKET = 6;
    constexpr uint32_t OUTBOUND = 2;
    const auto slice = [&](size_t begin, size_t count)
    {
        const auto first = file.begin() + static_cast<ptrdiff_t>(begin);
        return Bytes(first, first + static_cast<ptrdiff_t>(count));
    };
    CapturedFrames capture;
    for (size_t at = 0; at < file.size(); at += Little(file, at + 4))
    {
        const uint32_t type = Little(file, at);
        if (type == INTERFACE) // link type and snap length, then options, the name first
        {
            const Bytes name = slice(at + 20, file.at(at + 18));
            capture.interfaces.emplace_back(name.begin(), name.end());
            capture.linkTypes.push_back(Little(file, at + 8));
        }
        if (type == PACKET)
        {
            const uint32_t kept = Little(file, at + 20);
            const size_t flags = at + 28 + (kept + 3) / 4 * 4 + 4;
            capture.frames.push_back({capture.interfaces.at(Little(file, at + 8)),
                                      uint64_t{Little(file, at + 12)} << 32 | Little(file, at + 16),
                                      Little(file, at + 24),
                                      slice(at + 28, kept),
                                      Little(file, flags) == OUTBOUND});
        }
    }
    return capture;
}

} // namespace ns3::env::test
