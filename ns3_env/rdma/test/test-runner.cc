// SPDX-License-Identifier: GPL-2.0-or-later
// Does the C++ side keep its promises? Runs every ns-3 TestSuite linked into this program.
#include "ns3/nstime.h"
#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    ns3::Time::SetResolution(ns3::Time::PS); // as rdma-sim does
    return ns3::TestRunner::Run(argc, argv);
}
