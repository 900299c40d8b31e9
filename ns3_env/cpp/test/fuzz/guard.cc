// SPDX-License-Identifier: GPL-2.0-or-later
// Counts attacks, shows progress, and names the one in which the program dies or hangs.
#include "guard.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <sanitizer/common_interface_defs.h>
#include <sys/time.h>
#include <unistd.h>

namespace ns3::env::fuzz
{

namespace
{

constexpr int HUNG_EXIT_CODE = 99;
constexpr int LONGEST_CPU_S = 20;
constexpr int LONGEST_S = 60;
constexpr std::chrono::seconds BETWEEN_LINES{3};

// For handlers, which may do little: texts that are made before.
const std::string* s_input = nullptr;
char s_path[4096] = "";
char s_line[256] = "";

void
Print(const char* text)
{
    [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, std::strlen(text));
}

void
KeepInput()
{
    Print(s_line);
    const int fd = s_input ? open(s_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (fd >= 0)
    {
        [[maybe_unused]] const ssize_t n = write(fd, s_input->data(), s_input->size());
        close(fd);
        Print("its input: ");
        Print(s_path);
        Print("\n");
    }
}

extern "C" void
OnHang(int)
{
    Print("a hang: ");
    KeepInput();
    _exit(HUNG_EXIT_CODE);
}

void
SetTimers(int cpuS, int wallS)
{
    const itimerval cpu{{0, 0}, {cpuS, 0}};
    setitimer(ITIMER_PROF, &cpu, nullptr);
    alarm(static_cast<unsigned>(wallS));
}

} // namespace

Guard::Guard(std::string name, std::string keep, uint64_t seed)
    : m_name(std::move(name)),
      m_nextLine(std::chrono::steady_clock::now() + BETWEEN_LINES)
{
    std::snprintf(s_path, sizeof s_path, "%s/%s-%lu", keep.c_str(), m_name.c_str(), seed);
    std::signal(SIGPROF, OnHang);
    std::signal(SIGALRM, OnHang);
    __sanitizer_set_death_callback(KeepInput);
    std::set_terminate(
        []
        {
            if (const auto error = std::current_exception())
            {
                try
                {
                    std::rethrow_exception(error);
                }
                catch (const std::exception& e)
                {
                    Print("an exception of another kind: ");
                    Print(e.what());
                    Print("\n");
                }
                catch (...)
                {
                    Print("something was thrown\n");
                }
            }
            KeepInput();
            std::abort();
        });
}

Guard::~Guard()
{
    SetTimers(0, 0);
    s_input = nullptr;
}

void
Guard::Begin(uint64_t number, const std::string& input)
{
    s_input = input.empty() ? nullptr : &input;
    std::snprintf(s_line, sizeof s_line, "%s, --only=%lu\n", m_name.c_str(), number);
    SetTimers(LONGEST_CPU_S, LONGEST_S);
    ++m_count;
    if (const auto now = std::chrono::steady_clock::now(); now > m_nextLine)
    {
        m_nextLine = now + BETWEEN_LINES;
        std::cout << m_name << ": " << m_count << " inputs" << std::endl;
    }
}

void
Guard::Silent(const std::string& what)
{
    if (++m_silent <= 20)
    {
        std::cerr << "taken although wrong: " << what << "\n";
        KeepInput();
    }
}

int
Guard::End(const std::string& what)
{
    std::cout << m_name << ": " << m_count << " inputs, " << what << ", 0 crashes, 0 hangs, "
              << m_silent << " silent acceptances" << std::endl;
    return m_silent == 0 ? 0 : 1;
}

} // namespace ns3::env::fuzz
