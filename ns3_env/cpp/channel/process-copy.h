// SPDX-License-Identifier: GPL-2.0-or-later
// Copies this process as a child of the process that started it.
#pragma once

#include <sys/types.h>

namespace ns3::env
{

/// Forks like fork(2), but the copy is this process's sibling: the parent of this one also waits for the copy. Memory is
/// copied on write. To be called by the main thread, the only one that the copy has, while no other thread allocates.
///
/// \returns 0 in the copy, its process id here, -1 (errno) if there is none
pid_t CopyProcess();

/// Opens the file that process `pid` has under the descriptor `fd` (close-on-exec); -1 (errno) if that fails.
int OpenFileOf(pid_t pid, int fd);

} // namespace ns3::env
