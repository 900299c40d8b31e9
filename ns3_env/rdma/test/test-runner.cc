// SPDX-License-Identifier: GPL-2.0-or-later
// Does the C++ side keep its promises? Runs the ns-3 TestSuites linked into this program, each in turn.
#include "ns3/nstime.h"
#include "ns3/test.h"

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace
{

int
RunWith(const std::string& program, const std::string& option)
{
    std::string words[] = {program, option};
    char* argv[] = {words[0].data(), words[1].data()};
    return ns3::TestRunner::Run(2, argv);
}

/// Names of our suites; ns-3's runner only prints them.
std::vector<std::string>
ListSuites(const std::string& program)
{
    std::ostringstream names;
    std::streambuf* terminal = std::cout.rdbuf(names.rdbuf());
    RunWith(program, "--print-test-name-list");
    std::cout.rdbuf(terminal);
    std::vector<std::string> suites;
    std::istringstream lines(names.str());
    for (std::string name; lines >> name;)
    {
        if (name.starts_with("rdma-"))
        {
            suites.push_back(name);
        }
    }
    return suites;
}

} // namespace

int
main(int argc, char* argv[])
{
    ns3::Time::SetResolution(ns3::Time::PS); // as rdma-sim does
    if (argc > 1)
    {
        return ns3::TestRunner::Run(argc, argv); // one suite by name, see --help
    }
    int passed = 0;
    int failed = 0;
    for (const std::string& name : ListSuites(argv[0]))
    {
        // ns-3's runner runs once in a process.
        const std::string command = "'" + std::string(argv[0]) + "' --verbose --test-name=" + name;
        (std::system(command.c_str()) == 0 ? passed : failed) += 1;
    }
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 && passed > 0 ? 0 : 1;
}
