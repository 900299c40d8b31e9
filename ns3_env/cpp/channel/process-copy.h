// SPDX-License-Identifier: GPL-2.0-or-later
// Copies this process as a child of the process that started it.
#pragma once

#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace ns3::env
{

/// Forks like fork(2), but the copy is this process's sibling: the parent of this one also waits for the copy. Memory is
/// copied on write. To be called by the main thread, the only one that the copy has, while no other thread allocates.
///
/// \returns 0 in the copy, its process id here, -1 (errno) if there is none
inline pid_t
CopyProcess()
{
    // The library's fork() has no such flag; its handlers have nothing to do here.
    return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0L, 0L, 0L, 0L));
}

/// Opens the file that process `pid` has under the descriptor `fd` (close-on-exec); -1 (errno) if that fails.
inline int
OpenFileOf(pid_t pid, int fd)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

} // namespace ns3::env
