// SPDX-License-Identifier: GPL-2.0-or-later
// Store-and-forward time of frames that follow one another over a path, with nothing else on it.
#include "pipeline.h"

#include <algorithm>

namespace ns3::env
{

Pipeline::Pipeline(std::initializer_list<const Hops*> legs)
    : m_legs(legs)
{
    size_t links = 0;
    for (const Hops* leg : m_legs)
    {
        links += leg->size();
    }
    m_free.resize(links, 0);
}

void
Pipeline::Pass(std::initializer_list<uint64_t> bytesOnLegs, uint64_t count)
{
    if (count == 0)
    {
        return;
    }
    const Picos further = static_cast<Picos>(count) - 1;
    Picos first = 0; // when the first of them is at the link
    Picos last = 0;  // when the last of them is
    auto free = m_free.begin();
    auto bytes = bytesOnLegs.begin();
    for (const Hops* leg : m_legs)
    {
        for (const auto& [node, link] : *leg)
        {
            const Picos each = IdealTime(*bytes, link->rateBps, Rounding::Exact);
            first = std::max(first, *free) + each;
            // Frames of one size leave a link in times that are the largest of several straight lines, so that the
            // last one waits for the first one or for none.
            last = std::max(first + further * each, last + each);
            *free++ = last;
            first += link->delay;
            last += link->delay;
        }
        ++bytes;
    }
    m_arrival = last;
}

} // namespace ns3::env
