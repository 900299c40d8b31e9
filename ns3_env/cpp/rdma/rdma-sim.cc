// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program of RDMA networks.
#include "ns3_env/cpp/program/program.h"
#include "ns3_env/cpp/rdma/program/rdma-transport.h"

int
main(int argc, char** argv)
{
    ns3::env::rdma::RdmaTransport transport;
    return ns3::env::RunProgram(argc, argv, transport);
}
