// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzzer of scenarios: each damaged one is refused in a line, or is right and plays.
//
// rdma-fuzz-json --corpus=FOLDER --inputs=N [--seed=S] [--only=K]
#include "guard.h"
#include "mutation.h"
#include "oracle.h"

#include "ns3/command-line.h"
#include "ns3_env/cpp/program/run-episode.h"
#include "ns3_env/cpp/rdma/program/rdma-transport.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace
{

using namespace ns3::env;
using namespace ns3::env::fuzz;
using Json = nlohmann::json;

constexpr size_t LONGEST_LINE = 1000;
constexpr int64_t LONGEST_PLAY_NS = 20'000; ///< simulated; some hundred packets

std::vector<Json>
ReadCorpus(const std::string& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        if (entry.path().extension() == ".json")
        {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<Json> corpus;
    for (const auto& file : files)
    {
        std::ifstream in(file);
        corpus.push_back(Json::parse(in));
        rdma::RdmaTransport().Read(corpus.back().dump()); // good to begin with
    }
    return corpus;
}

class JsonFuzz
{
  public:
    JsonFuzz(std::vector<Json> corpus, Guard& guard)
        : m_corpus(std::move(corpus)),
          m_oracle(m_corpus),
          m_guard(guard)
    {
    }

    void Try(uint64_t seed, uint64_t number)
    {
        Random random(seed, number);
        const std::string text = Mutated(m_corpus[number % m_corpus.size()], random);
        m_guard.Begin(number, text);
        try
        {
            const Scenario scenario = rdma::RdmaTransport().Read(text);
            ++taken;
            for (const std::string& fault : m_oracle.Faults(text, scenario))
            {
                m_guard.Silent(fault);
            }
            Play(text);
        }
        catch (const ScenarioError& error)
        {
            Check(error);
        }
    }

    uint64_t taken{0};
    uint64_t played{0};

  private:
    void Play(const std::string& text)
    {
        Json json = Json::parse(text);
        json["time_limit_ns"] =
            std::min(json["time_limit_ns"].get<double>(), double{LONGEST_PLAY_NS});
        if (json.contains("record") && json["record"].is_object())
        {
            json["record"].erase("pcap"); // files
            json["record"].erase("pcap_ports");
        }
        const EpisodeOutcome outcome = RunEpisode(json.dump(), nullptr, m_transport);
        ++played;
        const Json results = Json::parse(outcome.results);
        for (const auto& [key, value] : results["totals"].items())
        {
            if (!value.is_number())
            {
                m_guard.Silent("totals." + key + " is " + value.dump());
            }
        }
    }

    void Check(const ScenarioError& error)
    {
        const std::string line = error.what();
        if (line.empty() || line.size() > LONGEST_LINE || line.find('\n') != std::string::npos)
        {
            m_guard.Silent("an error that is no line: " + line);
        }
    }

    std::vector<Json> m_corpus;
    Oracle m_oracle;
    Guard& m_guard;
    rdma::RdmaTransport m_transport;
};

} // namespace

int
main(int argc, char** argv)
{
    std::string corpus;
    uint64_t inputs = 1000;
    uint64_t seed = 1;
    int64_t only = -1;
    ns3::CommandLine cmd(__FILE__);
    cmd.AddValue("corpus",
                 "Folder of good scenarios; inputs that do harm are kept beside it",
                 corpus);
    cmd.AddValue("inputs", "How many", inputs);
    cmd.AddValue("seed", "Of all that is drawn", seed);
    cmd.AddValue("only", "This input alone", only);
    cmd.Parse(argc, argv);
    PrepareSimulator();
    Guard guard("json", corpus + "/..", seed);
    JsonFuzz fuzz(ReadCorpus(corpus), guard);
    const auto first = static_cast<uint64_t>(std::max<int64_t>(only, 0));
    for (uint64_t number = first; number < (only < 0 ? inputs : first + 1); ++number)
    {
        fuzz.Try(seed, number);
    }
    return guard.End(std::to_string(fuzz.taken) + " taken, " + std::to_string(fuzz.played) +
                     " played");
}
