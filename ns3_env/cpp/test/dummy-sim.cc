// SPDX-License-Identifier: GPL-2.0-or-later
// Program without a network that uses the channel's protocol with made-up rows, for tests.
//
// rdma-dummy-sim --channel-fd=N
//
// Its scenario: the key "dummy" (all optional), or the flows of a real scenario (slots = their number).
//   {"seed": 7, "dummy": {
//     "slots": 4,             rows per decision
//     "steps": 10,            decisions per flow and episode
//     "sparse": false,        true: a varying part of the flows is due at a time
//     "truncate": false,      the episode is cut at its last step instead of done
//     "work_us": 0,           computing time before each message
//     "error": "text",        answers the reset with Error
//     "crash_at": k,          aborts before its k-th message, with last words
//     "exit_at": k,           leaves with exit code 3 before its k-th message
//     "hang_at": k, "hang": "sleep"|"spin"|"work",   stops before its k-th message ("work": its heart beats for 2 s more)
//   }}
// The environment variable NS3_ENV_DUMMY may contain such a "dummy" object; the scenario's own keys win.
#include "ns3_env/cpp/channel/lifeline.h"
#include "ns3_env/cpp/channel/simulator-channel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace ns3::env;
using nlohmann::json;

namespace
{

/// splitmix64: a value determined by its coordinates.
uint64_t
Mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// A number in [0, 1).
double
Uniform(uint64_t bits)
{
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

class Dummy
{
  public:
    explicit Dummy(SimulatorChannel& end)
        : m_end(end)
    {
    }

    /// Simulates one episode; returns the command that ended it, or None when it ended by itself.
    Command Play(const json& scenario)
    {
        m_config = json::object();
        if (const char* text = std::getenv("NS3_ENV_DUMMY"))
        {
            m_config = json::parse(text);
        }
        uint64_t flows = 4;
        if (scenario.contains("flows"))
        {
            flows = scenario["flows"]["src"].size();
        }
        if (scenario.contains("dummy"))
        {
            m_config.update(scenario["dummy"]);
        }
        if (m_config.contains("error"))
        {
            throw std::invalid_argument(m_config["error"].get<std::string>());
        }
        m_seed = scenario.value("seed", uint64_t{1});
        m_message = 0;
        const auto slots = m_config.value("slots", flows);
        const auto steps = m_config.value("steps", uint64_t{10});
        const bool sparse = m_config.value("sparse", false);
        const auto end = static_cast<uint32_t>(m_config.value("truncate", false) ? ROW_TRUNCATED
                                                                                 : ROW_TERMINATED);

        std::vector<uint64_t> stepOf(slots, 0);
        std::vector<double> echo(slots, 0.0);
        std::vector<double> window(slots, 1e5);
        uint64_t alive = slots;
        double actions = 0;
        for (uint64_t tick = 0; alive > 0; ++tick)
        {
            std::vector<DecisionRow> rows;
            for (uint64_t i = 0; i < slots && rows.size() < m_end.Capacity(); ++i)
            {
                if (stepOf[i] > steps || (sparse && Mix(m_seed ^ Mix(tick * slots + i)) % 3 != 0))
                {
                    continue;
                }
                DecisionRow row{.flow = static_cast<uint32_t>(i), .slot = static_cast<int32_t>(i)};
                row.flags =
                    (stepOf[i] == 0 ? uint32_t{ROW_FIRST} : 0) | (stepOf[i] == steps ? end : 0);
                Fill(row.record, stepOf[i], i);
                row.record[Field::LastAction] = echo[i];
                row.record[Field::WindowBytes] = window[i];
                row.record[Field::TimeNs] = static_cast<double>(tick * 1000);
                row.record[Field::IntervalNs] = stepOf[i] == 0 ? 0 : 1000;
                row.record.Clip();
                alive -= stepOf[i] == steps;
                ++stepOf[i];
                rows.push_back(row);
            }
            if (rows.empty())
            {
                continue;
            }
            Misbehave();
            m_end.Publish(Message::Decisions, static_cast<int64_t>(tick) * 1'000'000, rows);
            Command command = m_end.Wait();
            for (; command == Command::Branch; command = m_end.Wait())
            {
                m_end.Branch();
            }
            if (command != Command::Step)
            {
                return command;
            }
            size_t next = 0;
            for (const DecisionRow& row : rows)
            {
                if (row.NeedsAction())
                {
                    const ActionRow& action = m_end.Actions()[next++];
                    echo[row.flow] = action.echo;
                    window[row.flow] = action.windowBytes;
                    actions += action.echo;
                }
            }
        }
        Misbehave();
        m_end.WriteBlob(Results(slots, steps, actions).dump());
        m_end.Publish(Message::EpisodeEnd, 0);
        return Command::None;
    }

  private:
    /// Any value within the field's range, and near the values of a real flow.
    void Fill(ObservationRecord& record, uint64_t step, uint64_t slot)
    {
        const auto fields = ObservationFields();
        const uint64_t key = Mix(Mix(Mix(m_seed) ^ step) ^ slot);
        for (size_t f = 0; f < FIELD_COUNT; ++f)
        {
            const double high = std::min(fields[f].high, 2.0);
            const double low = std::max(fields[f].low, -2.0);
            record.values[f] = low + (high - low) * Uniform(Mix(key ^ f));
        }
        record[Field::BaseRttNs] = 6240;
        record[Field::RttNs] = 6240 * (1 + record[Field::Rtt]);
        record[Field::HostRateBps] = 1e11;
        record[Field::BdpBytes] = 78000;
        record[Field::PacketBytes] = 1048;
        record[Field::PayloadBytes] = 1000;
        record[Field::FlowCount] = 1 + static_cast<double>(slot);
    }

    void Misbehave()
    {
        const auto at = [&](const char* key)
        { return m_config.value(key, int64_t{-1}) == m_message; };
        if (at("crash_at"))
        {
            std::fprintf(stderr, "dummy-sim: assertion failed: queue >= 0\n");
            std::abort();
        }
        if (at("exit_at"))
        {
            std::fprintf(stderr, "dummy-sim: leaving\n");
            std::exit(3);
        }
        if (at("hang_at"))
        {
            Hang(m_config.value("hang", "sleep"));
        }
        ++m_message;
        if (const auto us = m_config.value("work_us", int64_t{0}); us > 0)
        {
            Work(std::chrono::microseconds(us));
        }
    }

    void Hang(const std::string& how)
    {
        if (how == "work")
        {
            Work(std::chrono::seconds(2));
            return;
        }
        std::atomic<uint64_t> turns{0};
        while (true)
        {
            turns.fetch_add(1, std::memory_order_relaxed);
            if (how == "sleep")
            {
                std::this_thread::sleep_for(std::chrono::hours(1));
            }
        }
    }

    void Work(std::chrono::microseconds duration)
    {
        const auto end = std::chrono::steady_clock::now() + duration;
        while (std::chrono::steady_clock::now() < end)
        {
            m_end.Heartbeat().fetch_add(1, std::memory_order_relaxed);
        }
    }

    json Results(uint64_t slots, uint64_t steps, double actions) const
    {
        std::vector<uint64_t> size(slots, 1000 * steps);
        std::vector<int64_t> fct(slots, static_cast<int64_t>(1000 * steps));
        return {{"flows", {{"size_bytes", size}, {"fct_ns", fct}, {"end_ns", fct}}},
                {"queues", json::array()},
                {"totals", {{"end_ns", 1000 * steps}, {"unfinished", 0}}},
                {"seed", m_seed},
                {"action_sum", actions}};
    }

    SimulatorChannel& m_end;
    json m_config;
    uint64_t m_seed{1};
    int64_t m_message{0};
};

} // namespace

int
main(int argc, char** argv)
{
    const std::string option = "--channel-fd=";
    if (argc != 2 || !std::string(argv[1]).starts_with(option))
    {
        std::fprintf(stderr, "usage: rdma-dummy-sim --channel-fd=N\n");
        return 2;
    }
    try
    {
        SimulatorChannel end(std::stoi(argv[1] + option.size()));
        StartLifeline(end.AgentPid());
        end.Publish(Message::Ready);
        Command command = end.Wait();
        while (command != Command::Close)
        {
            try
            {
                command = Dummy(end).Play(json::parse(end.ReadBlob()));
            }
            catch (const ChannelError&)
            {
                throw;
            }
            catch (const std::exception& e)
            {
                end.WriteBlob(e.what());
                end.Publish(Message::Error);
                command = Command::None;
            }
            if (command == Command::None)
            {
                command = end.Wait();
            }
        }
    }
    catch (const std::exception& e)
    {
        std::fprintf(stderr, "dummy-sim: %s\n", e.what());
        return 2;
    }
    return 0;
}
