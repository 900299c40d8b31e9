// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the simulator with the process that started it.
#include "lifeline.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace ns3::env
{

namespace
{

[[noreturn]] void
WatchParent(pid_t parent, int pidfd)
{
    pollfd watched{pidfd, POLLIN, 0};
    while (getppid() == parent)
    {
        if (pidfd >= 0)
        {
            poll(&watched, 1, -1);
        }
        else
        {
            // No pidfd_open (Linux before 5.3, some sandboxes): poll often.
            const timespec nap{0, 50'000'000};
            nanosleep(&nap, nullptr);
        }
    }
    _exit(0);
}

} // namespace

void
StartLifeline(int expectedParent)
{
    const pid_t parent = getppid();
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
    // Its end before the call above has made us another process's child.
    if (getppid() != parent || (expectedParent != 0 && parent != expectedParent))
    {
        _exit(0);
    }
    // Signals are the main thread's business.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(WatchParent, parent, pidfd).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace ns3::env
