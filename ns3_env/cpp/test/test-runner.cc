// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the suites linked into this program, each in a separate process; --test-name=SUITE runs one.
#include "suite.h"

#include "ns3_env/cpp/program/run-episode.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3::env::test
{

namespace
{

using Tests = std::vector<std::pair<const char*, void (*)()>>;

std::map<std::string, Tests>&
Suites()
{
    static std::map<std::string, Tests> suites; // filled during static initialisation
    return suites;
}

std::vector<std::string> s_cases;
const char* s_promise = "";
int s_failures = 0;

int
RunSuite(const std::string& name, const Tests& tests)
{
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& [promise, test] : tests)
    {
        s_promise = promise;
        try
        {
            test();
        }
        catch (const TestEnded&)
        {
        }
        catch (const std::exception& error)
        {
            Fail(name.c_str(), 0, std::string("threw: ") + error.what(), false);
        }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::cout << (s_failures == 0 ? "PASS " : "FAIL ") << name << ", " << tests.size() << " tests, "
              << seconds.count() << " s" << std::endl;
    return s_failures == 0 ? 0 : 1;
}

bool
PassesAlone(const std::string& name, const Tests& tests)
{
    std::cout.flush();
    const pid_t child = fork();
    if (child == 0)
    {
        std::exit(RunSuite(name, tests));
    }
    int status = 0;
    const bool passed = waitpid(child, &status, 0) == child && status == 0;
    if (!WIFEXITED(status))
    {
        std::cout << "FAIL " << name << ", ended by signal " << WTERMSIG(status) << std::endl;
    }
    return passed;
}

} // namespace

bool
Suite::Add(const char* promise, void (*test)()) const
{
    Suites()[m_name].emplace_back(promise, test);
    return true;
}

Case::Case(std::string name)
{
    s_cases.push_back(std::move(name));
}

Case::~Case()
{
    s_cases.pop_back();
}

void
Fail(const char* file, int line, const std::string& what, bool ends)
{
    ++s_failures;
    std::cout << file << ':' << line << ": \"" << s_promise << "\": ";
    for (const std::string& name : s_cases)
    {
        std::cout << name << ": ";
    }
    std::cout << what << std::endl;
    if (ends)
    {
        throw TestEnded{};
    }
}

} // namespace ns3::env::test

int
main(int argc, char* argv[])
{
    using namespace ns3::env::test;
    ns3::env::PrepareSimulator(); // as rdma-sim does
    constexpr std::string_view ONE = "--test-name=";
    if (argc > 1)
    {
        const std::string_view option = argv[1];
        const auto suite = option.starts_with(ONE)
                               ? Suites().find(std::string(option.substr(ONE.size())))
                               : Suites().end();
        if (suite != Suites().end())
        {
            return RunSuite(suite->first, suite->second);
        }
        std::cerr << "usage: " << argv[0] << " [" << ONE << "SUITE], where SUITE is one of";
        for (const auto& [name, tests] : Suites())
        {
            std::cerr << ' ' << name;
        }
        std::cerr << std::endl;
        return 2;
    }
    size_t passed = 0;
    for (const auto& [name, tests] : Suites())
    {
        passed += PassesAlone(name, tests) ? 1 : 0;
    }
    std::cout << passed << " passed, " << Suites().size() - passed << " failed" << std::endl;
    return passed == Suites().size() ? 0 : 1;
}
