// SPDX-License-Identifier: GPL-2.0-or-later
// A scenario's TCP flows on ns-3's own stack: sockets, IP, queue discs and devices, to compare with.
#ifndef NS3_ENV_TEST_TCP_STOCK_STOCK_NETWORK_H
#define NS3_ENV_TEST_TCP_STOCK_STOCK_NETWORK_H

#include "ecmp-routing.h"
#include "flow-socket.h"

#include "ns3/node.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/random-variable-stream.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace ns3::env::tcp::stock
{

/// Describes one flow, to the picosecond and the byte.
void Describe(std::ostream& text, Picos end, const SenderCounts& counts, const RttSamples& rtts);

/// Report on all flows under one controller, and all ports, until the last flow ended or the time limit was reached.
std::string Play(const Scenario& scenario, const TcpSettings& settings, const ControllerSpec& spec);

} // namespace ns3::env::tcp::stock

#endif // NS3_ENV_TEST_TCP_STOCK_STOCK_NETWORK_H
