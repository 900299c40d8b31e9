// SPDX-License-Identifier: GPL-2.0-or-later
// Judges accepted scenarios by their text alone: keys, ranges, and what the reader made of them.
#include "oracle.h"

#include "ns3_env/cpp/rdma/program/rdma-transport.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

namespace ns3::env::fuzz
{

namespace
{

using Json = nlohmann::json;

/// What a refusal says of a number that is asked for.
struct Range
{
    long double low;
    long double high;
    bool whole;
};

using Visit =
    std::function<void(const std::string& place, const Json::json_pointer& at, const Json& value)>;

/// Every value, with its place: "flows.src[]" for all of a column. What attributes are called is a controller's affair.
void
ForEach(const Json& json,
        const std::string& place,
        const Json::json_pointer& at,
        const Visit& visit)
{
    const auto go =
        [&](const Json& value, const std::string& inner, const Json::json_pointer& pointer)
    {
        visit(inner, pointer, value);
        if (value.is_structured() && !inner.ends_with(".attributes"))
        {
            ForEach(value, inner, pointer, visit);
        }
    };
    if (json.is_object())
    {
        for (const auto& [key, value] : json.items())
        {
            go(value, place.empty() ? key : place + "." + key, at / key);
        }
        return;
    }
    for (size_t i = 0; i < json.size(); ++i)
    {
        go(json[i], place + "[]", at / i);
    }
}

/// What the reader itself says would be right at this place of this scenario; nothing where no number is asked for.
std::optional<Range>
DeclaredRange(Json scenario, const Json::json_pointer& at)
{
    scenario[at] = Json::object();
    try
    {
        rdma::RdmaTransport().Read(scenario.dump());
    }
    catch (const ScenarioError& error)
    {
        const std::string message = error.what();
        const std::string_view words = "is an object, must be in [";
        const size_t found = message.find(words);
        Range range{};
        if (found != std::string::npos &&
            std::sscanf(&message[found + words.size()], "%Lf, %Lf]", &range.low, &range.high) == 2)
        {
            range.whole = message.ends_with("a whole number");
            return range;
        }
    }
    return std::nullopt;
}

/// A JSON number without loss; NaN for anything else.
long double
Exact(const Json& value)
{
    if (value.is_number_unsigned())
    {
        return static_cast<long double>(value.get<uint64_t>());
    }
    if (value.is_number_integer())
    {
        return static_cast<long double>(value.get<int64_t>());
    }
    return value.is_number() ? static_cast<long double>(value.get<double>()) : NAN;
}

bool
Holds(const Range& range, const Json& value)
{
    const long double number = Exact(value);
    return number >= range.low && number <= range.high &&
           (!range.whole || std::trunc(number) == number);
}

/// Whether what was made of the text is what it says.
class Meaning
{
  public:
    explicit Meaning(const Json& text)
        : m_text(text)
    {
    }

    void Is(const std::string& at, long double made, long double unit = 1)
    {
        const Json::json_pointer pointer(at);
        if (m_text.contains(pointer) && Exact(m_text[pointer]) * unit != made)
        {
            faults.push_back(at + " is " + m_text[pointer].dump() + ", but became " +
                             std::to_string(made / unit));
        }
    }

    std::vector<std::string> faults;

  private:
    const Json& m_text;
};

std::vector<std::string>
FaultsOfMeaning(const Json& text, const Scenario& s)
{
    Meaning meaning(text);
    meaning.Is("/seed", static_cast<long double>(s.seed));
    meaning.Is("/time_limit_ns", s.timeLimit, PS_PER_NS);
    meaning.Is("/payload_bytes", s.payloadBytes);
    meaning.Is("/switch/buffer_bytes", static_cast<long double>(s.buffer.bufferBytes));
    meaning.Is("/switch/reserve_bytes", s.buffer.reserveBytes);
    meaning.Is("/switch/headroom_frames", s.buffer.headroomFrames);
    meaning.Is("/switch/pfc_alpha_shift", s.buffer.alphaShift);
    meaning.Is("/loss/probability", s.lossProbability);
    for (size_t i = 0; i < s.links.size(); ++i)
    {
        const std::string link = "/links/" + std::to_string(i);
        meaning.Is(link + "/a", s.links[i].a);
        meaning.Is(link + "/b", s.links[i].b);
        meaning.Is(link + "/rate_bps", s.links[i].rateBps);
        meaning.Is(link + "/delay_ns", s.links[i].delay, PS_PER_NS);
    }
    for (size_t i = 0; i < s.flows.size(); ++i)
    {
        const auto& [flow, controller, slot] = s.flows[i];
        const std::string row = "/" + std::to_string(i);
        meaning.Is("/flows/src" + row, flow.source);
        meaning.Is("/flows/dst" + row, flow.destination);
        meaning.Is("/flows/size_bytes" + row,
                   flow.IsEndless() ? 0 : static_cast<long double>(flow.sizeBytes));
        meaning.Is("/flows/start_ns" + row, flow.start, PS_PER_NS);
        meaning.Is("/flows/controller" + row, controller);
        meaning.Is("/flows/slot" + row, slot);
    }
    for (size_t i = 0; i < s.streams.size(); ++i)
    {
        const auto& [flow, rate, stop] = s.streams[i];
        const std::string row = "/" + std::to_string(i);
        meaning.Is("/streams/src" + row, flow.source);
        meaning.Is("/streams/dst" + row, flow.destination);
        meaning.Is("/streams/rate_bps" + row, rate);
        meaning.Is("/streams/start_ns" + row, flow.start, PS_PER_NS);
        meaning.Is("/streams/stop_ns" + row, stop == NEVER ? -PS_PER_NS : stop, PS_PER_NS);
    }
    return meaning.faults;
}

} // namespace

Oracle::Oracle(const std::vector<Json>& good)
{
    for (const Json& json : good)
    {
        ForEach(json,
                "",
                Json::json_pointer(),
                [this](const auto& place, const auto&, const Json&) { m_known.insert(place); });
    }
}

std::vector<std::string>
Oracle::Faults(const std::string& text, const Scenario& scenario) const
{
    const Json json = Json::parse(text);
    std::vector<std::string> faults = FaultsOfMeaning(json, scenario);
    std::map<std::string, std::optional<Range>> ranges;
    ForEach(json,
            "",
            Json::json_pointer(),
            [&](const std::string& place, const Json::json_pointer& at, const Json& value)
            {
                if (!m_known.contains(place) && place.find(".attributes.") == std::string::npos)
                {
                    faults.push_back("an unknown key: " + place);
                }
                if (value.is_structured() || value.is_null())
                {
                    return;
                }
                if (!ranges.contains(place))
                {
                    ranges[place] = DeclaredRange(json, at);
                }
                const auto& range = ranges[place];
                if (range && !Holds(*range, value))
                {
                    faults.push_back(place + " = " + value.dump() + ", out of its range");
                }
            });
    return faults;
}

} // namespace ns3::env::fuzz
