// SPDX-License-Identifier: GPL-2.0-or-later
// Test of every pinned controller: rate, window and queue of an incast against its curves.
#include "test-network.h"

#include "ns3_env/cpp/decision/deciding-controller.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-curves");

constexpr int SAMPLES = 30;
const std::filesystem::path CURVES = std::filesystem::path(RDMA_TEST_DATA) / "curves";
constexpr const char* HEADER = "time_ns,rate_bps,window_bytes,queue_bytes";

/// Controllers that must have curves; any other is compared if it has curves.
constexpr const char* BUILT_IN = "bcn dcqcn dctcp fixed-window hpcc hpcc-pint mpcc nscc oracle "
                                 "powertcp qcn smcc swift theta-powertcp timely";

/// The columns at one instant: the rate and the window are those of flow 0, 0 if it has none.
using Sample = std::array<double, 4>;

/// The folder of RDMA_WRITE_CURVES, into which the curves are written instead of compared; null otherwise.
const char*
WriteFolder()
{
    const char* folder = std::getenv("RDMA_WRITE_CURVES");
    return folder != nullptr && *folder != '\0' ? folder : nullptr;
}

/// Flows of 8 MB together start at line rate into 100 Gb/s. ECN as declared, otherwise the reference's for DCQCN; DCTCP has a
/// fifth of its threshold, which two windows of a BDP meet. Congestion points and scheduling as the controller declares them.
Scenario
Incast(const std::string& controller, uint32_t senders)
{
    constexpr uint64_t BYTES = 8'000'000;
    Scenario s = Exact(senders, {}, controller);
    const Ptr<CongestionControl> declared = CreateController({controller, {}});
    s.ecn = controller == "dctcp"              ? EcnConfig{true, 60e3, 60e3, 1.0, 100e9}
            : declared->GetEcnConfig().enabled ? declared->GetEcnConfig()
                                               : EcnConfig{true, 400e3, 1600e3, 0.2, 100e9};
    s.congestionPoints = declared->GetCongestionPointConfig();
    s.scheduling = declared->GetScheduling();
    AddIncast(s, senders, BYTES / senders);
    return s;
}

std::vector<Sample>
Simulate(const std::string& controller, uint32_t senders)
{
    TestNetwork net(Incast(controller, senders));
    SwitchPort& bottleneck = net.PortTo(senders + 1, senders + 2);
    std::vector<Sample> samples;
    const auto look = [&]
    {
        Sample sample{static_cast<double>(NowPicos()) / NS};
        for (const Flow* flow : net->LiveFlows())
        {
            if (flow->Id() == 0)
            {
                sample[1] = flow->RateBps();
                sample[2] = std::isinf(flow->WindowBytes()) ? 0 : flow->WindowBytes();
            }
        }
        sample[3] = static_cast<double>(bottleneck.QueueBytes());
        samples.push_back(sample);
    };
    constexpr Picos END = 900 * US; // transmission needs 670 us
    for (int i = 1; i <= SAMPLES; ++i)
    {
        At(END * i * i / (SAMPLES * SAMPLES), look); // denser at the start
    }
    net->Run();
    return samples;
}

std::filesystem::path
FileName(const std::filesystem::path& folder, const std::string& controller, uint32_t senders)
{
    return folder / (controller + "-" + std::to_string(senders) + "to1.csv");
}

void
Write(const std::filesystem::path& file, const std::vector<Sample>& samples)
{
    std::ofstream out(file);
    out << HEADER << '\n' << std::setprecision(std::numeric_limits<double>::max_digits10);
    for (const Sample& s : samples)
    {
        out << s[0] << ',' << s[1] << ',' << s[2] << ',' << s[3] << '\n';
    }
    out.flush();
    if (!out)
    {
        NS_FATAL_ERROR("cannot write " << file.string());
    }
}

std::vector<Sample>
Read(const std::filesystem::path& file)
{
    std::vector<Sample> samples;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line))
    {
        std::istringstream cells(line);
        Sample s{};
        char comma = 0;
        cells >> s[0] >> comma >> s[1] >> comma >> s[2] >> comma >> s[3];
        samples.push_back(s);
    }
    return samples;
}

/// Controllers to be compared: those built in, and those with curves in the folder.
std::set<std::string>
Pinned()
{
    std::istringstream builtIn(BUILT_IN);
    std::set<std::string> names(std::istream_iterator<std::string>(builtIn), {});
    for (const auto& entry : std::filesystem::directory_iterator(CURVES))
    {
        const std::string file = entry.path().filename().string();
        if (file.ends_with("to1.csv"))
        {
            names.insert(file.substr(0, file.rfind('-')));
        }
    }
    return names;
}

/// The pinned curves. They change only on purpose:
/// `RDMA_WRITE_CURVES=ns3_env/data/curves DIR/rdma-tests --test-name=rdma-curves` writes those of
/// every registered controller anew; who has files there is pinned from then on.
void
Curves(uint32_t senders)
{
    const Case about(std::to_string(senders) +
                     "-to-1: rate, window and queue follow the pinned curve");
    const auto compare = [&](const std::filesystem::path& file, const std::vector<Sample>& samples)
    {
        const std::vector<Sample> pinned = Read(file);
        const std::string name = file.filename().string();
        ASSERT(!pinned.empty(), file.string() << " is missing; RDMA_WRITE_CURVES=DIR writes it");
        ASSERT_EQ(samples.size(), pinned.size(), name << ": samples");
        for (size_t i = 0; i < samples.size() * 4; ++i)
        {
            // The same seed gives the same bits; the tolerance is for other compilers and mathematics libraries.
            const double value = pinned[i / 4][i % 4];
            ASSERT_NEAR(samples[i / 4][i % 4],
                        value,
                        1e-9 * std::abs(value),
                        name << " at " << pinned[i / 4][0] << " ns, column " << i % 4 + 1);
        }
    };

    const std::vector<std::string> registered = ListControllers();
    if (WriteFolder() != nullptr)
    {
        std::filesystem::create_directories(WriteFolder());
        for (const std::string& name : registered)
        {
            const TypeId tid = TypeId::LookupByName("rdma::" + name);
            if (!tid.IsChildOf(DecidingController::GetTypeId())) // applies a policy's actions
            {
                Write(FileName(WriteFolder(), name, senders), Simulate(name, senders));
            }
        }
        return;
    }
    for (const std::string& name : Pinned())
    {
        const auto known = std::count(registered.begin(), registered.end(), name);
        ASSERT_EQ(known, 1, "no controller " << name << ", whose curves are pinned");
        compare(FileName(CURVES, name, senders), Simulate(name, senders));
    }
}

TEST("rate, window and queue of every pinned controller follow its curves")
{
    Curves(2);
    Curves(8);
}

} // namespace

} // namespace ns3::env::rdma::test
