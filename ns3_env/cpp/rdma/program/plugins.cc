// SPDX-License-Identifier: GPL-2.0-or-later
// Loads controllers from plugins, shared objects that are checked before they run.
#include "plugins.h"

#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/contract-id.h"
#include "ns3_env/cpp/json/scenario-error.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace ns3::env::rdma
{

namespace
{

constexpr std::string_view MARK_BEGIN = "rdma-contract{";
constexpr size_t LONGEST_ID = 64;
constexpr int EXIT_BAD_INPUT = 2;
constexpr const char* HOW = "docs/extending.md, \"A controller as a plugin\"";

[[noreturn]] void
Refuse(const std::string& file, const std::string& why)
{
    throw ScenarioError("plugin " + file + ": " + why);
}

/// The whole file. \throws ScenarioError
std::string
Content(const std::string& file)
{
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown))
    {
        Refuse(file, "there is no such file; name a shared object, NAME.so");
    }
    std::ifstream in(file, std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(in)), {});
    if (!in.good() && !in.eof())
    {
        Refuse(file, "cannot be read");
    }
    return content;
}

/// Every contract that an object of the file was built against.
std::set<std::string>
ContractsIn(std::string_view content)
{
    std::set<std::string> found;
    for (size_t at = content.find(MARK_BEGIN); at != std::string_view::npos;
         at = content.find(MARK_BEGIN, at + 1))
    {
        const std::string_view rest = content.substr(at + MARK_BEGIN.size(), LONGEST_ID);
        const size_t end = rest.find('}');
        if (end != std::string_view::npos)
        {
            found.emplace(rest.substr(0, end));
        }
    }
    return found;
}

/// \throws ScenarioError if the file was built against another contract, or without one.
void
CheckContract(const std::string& file)
{
    const std::string content = Content(file);
    if (!content.starts_with("\177ELF"))
    {
        Refuse(file, std::string("is no shared object; how one is built: ") + HOW);
    }
    const std::set<std::string> contracts = ContractsIn(content);
    if (contracts.empty())
    {
        Refuse(file,
               std::string("is no plugin: nothing in it was built against "
                           "ns3_env/cpp/contract/congestion-control.h; see ") +
                   HOW);
    }
    for (const std::string& contract : contracts)
    {
        if (contract != RDMA_CONTRACT_ID)
        {
            Refuse(file,
                   "built against contract " + contract + ", this simulator has " +
                       RDMA_CONTRACT_ID +
                       ": rebuild it, all of its files, against the headers of "
                       "this installation (python -m ns3_env.programs.plugins --cmakedir)");
        }
    }
}

/// While it lives a plugin's start-up that ends in std::terminate (ns-3's fatal errors do) ends the program
/// in one line.
class StartUpGuard
{
  public:
    explicit StartUpGuard(const std::string& file)
    {
        g_file = file;
        m_cerr = std::cerr.rdbuf(g_output.rdbuf());
        g_cerr = m_cerr;
        m_handler = std::set_terminate(End);
    }

    ~StartUpGuard()
    {
        std::set_terminate(m_handler);
        std::cerr.rdbuf(m_cerr);
        std::cerr << g_output.str();
        g_output.str({});
    }

    StartUpGuard(StartUpGuard&&) = delete;

  private:
    [[noreturn]] static void End()
    {
        std::cerr.rdbuf(g_cerr);
        std::cerr << "rdma-sim: plugin " << g_file << ": " << Why(g_output.str()) << "\n"
                  << std::flush;
        std::_Exit(EXIT_BAD_INPUT);
    }

    /// The reason in ns-3's output: msg="...", +0s file=...
    static std::string Why(const std::string& output)
    {
        constexpr std::string_view TWICE = "twice the same uid: ";
        const size_t taken = output.find(TWICE);
        if (taken != std::string::npos)
        {
            const size_t begin = taken + TWICE.size();
            const size_t end = std::min(output.find('"', begin), output.size());
            return "registers '" + output.substr(begin, end - begin) +
                   "', a name that is taken: give its TypeId another, 'rdma::NAME'";
        }
        const std::string line = output.substr(0, output.find('\n'));
        return "its start-up failed" + (line.empty() ? std::string() : ": " + line);
    }

    inline static std::string g_file;
    inline static std::ostringstream g_output;
    inline static std::streambuf* g_cerr{nullptr};

    std::streambuf* m_cerr;
    std::terminate_handler m_handler;
};

std::map<std::string, std::string>&
Loaded()
{
    static std::map<std::string, std::string> files;
    return files;
}

} // namespace

void
LoadPlugin(const std::string& file)
{
    CheckContract(file);
    const std::string path = std::filesystem::canonical(file).string();
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr)
    {
        return;
    }
    const std::vector<std::string> before = ListControllers();
    {
        const StartUpGuard guard(file);
        // Local: equal names in two plugins stay separate.
        if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
        {
            std::string why = dlerror();
            const std::string place = path + ": ";
            Refuse(
                file,
                "cannot be loaded: " + (why.starts_with(place) ? why.substr(place.size()) : why) +
                    "; link it with what it uses beside the contract and ns-3's core");
        }
    }
    std::vector<std::string> brought;
    const std::vector<std::string> after = ListControllers();
    std::set_difference(after.begin(),
                        after.end(),
                        before.begin(),
                        before.end(),
                        std::back_inserter(brought));
    if (brought.empty())
    {
        Refuse(file,
               "brings no controller: a class derived from CongestionControl, with "
               "NS_OBJECT_ENSURE_REGISTERED and a TypeId 'rdma::NAME' that has a constructor");
    }
    for (const std::string& name : brought)
    {
        Loaded()[name] = path;
    }
}

const std::map<std::string, std::string>&
PluginControllers()
{
    return Loaded();
}

} // namespace ns3::env::rdma
