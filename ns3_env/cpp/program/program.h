// SPDX-License-Identifier: GPL-2.0-or-later
// Main program of a simulator: one scenario, or episode after episode for a policy outside.
#pragma once

namespace ns3::env
{

class Transport;

/// Obeys the command line. \returns the exit code: 2 for a caller's mistake
int RunProgram(int argc, char** argv, Transport& transport);

} // namespace ns3::env
