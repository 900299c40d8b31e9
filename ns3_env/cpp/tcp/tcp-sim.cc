// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program of TCP networks.
#include "ns3_env/cpp/program/program.h"
#include "ns3_env/cpp/tcp/program/tcp-transport.h"

int
main(int argc, char** argv)
{
    ns3::env::tcp::TcpTransport transport;
    return ns3::env::RunProgram(argc, argv, transport);
}
