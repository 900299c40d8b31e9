// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program of TCP networks.
#include "ns3_env/rdma/episode/program.h"
#include "ns3_env/tcp/helper/tcp-transport.h"

int
main(int argc, char** argv)
{
    ns3::tcp::TcpTransport transport;
    return ns3::rdma::RunProgram(argc, argv, transport);
}
