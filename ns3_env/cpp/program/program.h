// SPDX-License-Identifier: GPL-2.0-or-later
// Main program of a simulator: one scenario, or episode after episode for a policy outside.
#ifndef NS3_ENV_PROGRAM_PROGRAM_H
#define NS3_ENV_PROGRAM_PROGRAM_H

namespace ns3::env
{

class Transport;

/// Obeys the command line. \returns the exit code: 2 for a caller's mistake
int RunProgram(int argc, char** argv, Transport& transport);

} // namespace ns3::env

#endif // NS3_ENV_PROGRAM_PROGRAM_H
