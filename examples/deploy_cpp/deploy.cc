// SPDX-License-Identifier: GPL-2.0-or-later
// A trained policy without ns-3 or Python: an observation in, a window and a rate out.
#include "ns3_env/cpp/policy/policy.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

using namespace ns3::env;

namespace
{

/// FIELD=VALUE of the command line, in the units of the observation fields.
void
Set(ObservationRecord& record, const std::string& text)
{
    const size_t equals = text.find('=');
    for (const FieldSpec& spec : ObservationFields())
    {
        if (text.substr(0, equals) == spec.name && equals != std::string::npos)
        {
            record[spec.field] = std::atof(text.c_str() + equals + 1);
            return;
        }
    }
    throw std::invalid_argument("'" + text + "' is no FIELD=VALUE of the observation fields");
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc < 2)
    {
        std::fprintf(stderr, "usage: deploy POLICY.safetensors [FIELD=VALUE ...]\n");
        return 2;
    }
    try
    {
        Policy policy(argv[1]);
        if (policy.Secured() != nullptr)
        {
            throw std::invalid_argument(
                "the policy's file has a safety, which falls back to Swift: there is none here");
        }
        ObservationRecord record;
        // A sender on a link of 100 Gb/s, 6.2 us from its receiver and back, with a window of one BDP.
        record[Field::HostRateBps] = 100e9;
        record[Field::BaseRttNs] = 6200;
        record[Field::BdpBytes] = 77500;
        record[Field::PacketBytes] = 1000 + 48 + policy.TelemetryBytes();
        record[Field::PayloadBytes] = 1000;
        record[Field::WindowBytes] = 77500;
        for (int i = 2; i < argc; ++i)
        {
            Set(record, argv[i]);
        }
        record.Clip();

        FlowHistory history; // one for each flow; it is kept from decision to decision
        policy.Observe(history, record);
        FlowHistory* flows[] = {&history}; // flows that decide together are evaluated together
        float action = 0;
        policy.Decide(flows, {&action, 1});
        const ActionRow answer = policy.Actions()(action, record);
        std::printf("action %.9g window_bytes %.17g rate_bps %.17g\n",
                    action,
                    answer.windowBytes,
                    answer.rateBps);
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "deploy: %s\n", error.what());
        return 2;
    }
}
