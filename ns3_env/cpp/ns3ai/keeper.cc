// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a foreign simulator and ends all its processes when the Python that started it ends.
//
// ns3ai-keeper PARENT_PID SEGMENT COMMAND...
//
// Runs COMMAND as its child. When that or the parent process ends, or on SIGTERM, all its descendants are killed, also
// a build script's children in separate process groups. When the parent ended, the segment's name is also removed,
// unless another segment has it by then. Ends as COMMAND did.
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr int EXIT_USAGE = 2;
constexpr int EXIT_NO_COMMAND = 127;
constexpr int LOOK_MS = 200; ///< if the kernel has no pidfd

/// Kills children until there are none left; their orphans become ours, and follow.
void
KillAll()
{
    const std::string list = "/proc/self/task/" + std::to_string(getpid()) + "/children";
    while (true)
    {
        if (FILE* file = std::fopen(list.c_str(), "re"))
        {
            int child = 0;
            while (std::fscanf(file, "%d", &child) == 1)
            {
                kill(child, SIGKILL);
            }
            std::fclose(file);
        }
        if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD)
        {
            return;
        }
    }
}

/// The inode that has the segment's name; 0 if none has.
ino_t
FileOf(const std::string& segment)
{
    struct stat info{};
    return stat(("/dev/shm/" + segment).c_str(), &info) == 0 ? info.st_ino : 0;
}

/// Ends as the child did.
[[noreturn]] void
EndAs(int status)
{
    if (WIFSIGNALED(status))
    {
        prctl(PR_SET_DUMPABLE, 0); // the command may dump core, the keeper not
        signal(WTERMSIG(status), SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, nullptr);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

pid_t
Start(char** command, const sigset_t& mask)
{
    const pid_t keeper = getpid();
    const pid_t child = fork();
    if (child != 0)
    {
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // we have one thread: the signal follows the process
    if (getppid() != keeper)
    {
        _exit(EXIT_FAILURE);
    }
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execvp(command[0], command);
    std::fprintf(stderr, "cannot run %s: %s\n", command[0], std::strerror(errno));
    _exit(EXIT_NO_COMMAND);
}

} // namespace

int
main(int argc, char** argv)
{
    pid_t parent = 0;
    const std::string_view number = argc > 1 ? argv[1] : "";
    const auto [end, fault] = std::from_chars(number.begin(), number.end(), parent);
    if (argc < 4 || fault != std::errc{} || end != number.end())
    {
        std::fprintf(stderr, "usage: ns3ai-keeper PARENT_PID SEGMENT COMMAND...\n");
        return EXIT_USAGE;
    }
    const std::string segment = argv[2];
    const ino_t file = FileOf(segment); // created before this process started
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t watched;
    sigset_t before;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, &before);
    const int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    const int life = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
    bool orphaned = getppid() != parent;
    pid_t child = -1;
    if (!orphaned && (child = Start(argv + 3, before)) < 0)
    {
        std::fprintf(stderr, "cannot make a process: %s\n", std::strerror(errno));
        return EXIT_FAILURE;
    }
    while (!orphaned)
    {
        pollfd ends[]{{signals, POLLIN, 0}, {life, POLLIN, 0}};
        poll(ends, life >= 0 ? 2 : 1, life >= 0 ? -1 : LOOK_MS);
        orphaned = getppid() != parent;
        signalfd_siginfo info{};
        while (read(signals, &info, sizeof info) == sizeof info)
        {
            if (info.ssi_signo == SIGTERM)
            {
                KillAll();
                _exit(EXIT_SUCCESS);
            }
        }
        int status = 0;
        pid_t ended = 0;
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
        {
            if (ended == child)
            {
                KillAll();
                EndAs(status);
            }
        }
    }
    KillAll();
    if (file != 0 && FileOf(segment) == file)
    {
        shm_unlink(("/" + segment).c_str());
    }
    _exit(EXIT_SUCCESS);
}
