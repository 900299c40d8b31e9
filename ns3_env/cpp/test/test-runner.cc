// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the ns-3 TestSuites linked into this program, each in turn (TEST_SUITES begins their names).
#include "ns3/test.h"
#include "ns3_env/cpp/program/run-episode.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace
{

/// ns-3's runner runs once in a process, so each question to it is a process of its own.
std::string
Command(const std::string& program, const std::string& option)
{
    std::ostringstream command;
    command << '\'' << program << "' " << option;
    return command.str();
}

std::string
OutputOf(const std::string& command)
{
    std::string output;
    std::array<char, 256> part{};
    if (FILE* pipe = popen(command.c_str(), "r"))
    {
        while (std::fgets(part.data(), part.size(), pipe) != nullptr)
        {
            output += part.data();
        }
        pclose(pipe);
    }
    return output;
}

} // namespace

int
main(int argc, char* argv[])
{
    ns3::env::PrepareSimulator(); // as rdma-sim does
    if (argc > 1)
    {
        return ns3::TestRunner::Run(argc, argv); // one suite by name, see --help
    }
    int passed = 0;
    int failed = 0;
    std::istringstream names(OutputOf(Command(argv[0], "--print-test-name-list")));
    for (std::string name; names >> name;)
    {
        if (name.starts_with(TEST_SUITES))
        {
            const std::string run = Command(argv[0], "--verbose --test-name=" + name);
            (std::system(run.c_str()) == 0 ? passed : failed) += 1;
        }
    }
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 && passed > 0 ? 0 : 1;
}
