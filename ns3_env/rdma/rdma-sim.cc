// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program of RDMA networks.
#include "ns3_env/rdma/episode/program.h"
#include "ns3_env/rdma/helper/rdma-transport.h"

int
main(int argc, char** argv)
{
    ns3::rdma::RdmaTransport transport;
    return ns3::rdma::RunProgram(argc, argv, transport);
}
