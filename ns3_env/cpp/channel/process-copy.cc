// SPDX-License-Identifier: GPL-2.0-or-later
// Copies this process as a child of the process that started it.
#include "process-copy.h"

#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace ns3::env
{

pid_t
CopyProcess()
{
    // The library's fork() has no such flag; its handlers have nothing to do here.
    return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0L, 0L, 0L, 0L));
}

int
OpenFileOf(pid_t pid, int fd)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

} // namespace ns3::env
