// SPDX-License-Identifier: GPL-2.0-or-later
// Queues, losses, stream counts and totals of a run, whatever carried the packets.
#include "run-report.h"

#include <sstream>

namespace ns3::env
{

std::string
PauseCircle::Text() const
{
    std::ostringstream text;
    text << "PFC deadlock: pauses wait for each other in a circle, and nothing moves there any "
            "more:";
    for (const Held& held : ports)
    {
        text << (&held == &ports.front() ? " node " : ", node ") << held.node << " port "
             << held.port << " is paused by node " << held.peer;
    }
    if (others > 0)
    {
        text << "; " << others << (others == 1 ? " more port waits" : " more ports wait")
             << " for these";
    }
    return text.str();
}

} // namespace ns3::env
