// SPDX-License-Identifier: GPL-2.0-or-later
// JSON reader, key by key, which checks every value before it converts it.
#include "json-reader.h"

#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

using Json = nlohmann::json;

constexpr size_t DEEPEST = 16;       ///< a scenario needs five
constexpr size_t LONGEST_SHOWN = 80; ///< characters of a value
constexpr size_t LONGEST_WHY = 300;  ///< characters of the parser's words

std::string
Shortened(const std::string& text, size_t most)
{
    return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Escapes all but ASCII (U+0085 and U+2028 also end a line), and replaces bytes that are no UTF-8.
std::string
OnOneLine(const std::string& text)
{
    const std::string quoted = Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
    return quoted.substr(1, quoted.size() - 2);
}

/// Builds the parsed value, but refuses unlimited depth and duplicate keys. (A callback of the library's parser
/// would scan, at the end of each object in an array, all earlier ones.)
class Builder
{
  public:
    explicit Builder(Json& root)
        : m_root(root)
    {
    }

    // --- As the library's parser calls it
    bool null() { return Put(nullptr); }
    bool boolean(bool value) { return Put(value); }
    bool number_integer(Json::number_integer_t value) { return Put(value); }
    bool number_unsigned(Json::number_unsigned_t value) { return Put(value); }
    bool number_float(Json::number_float_t value, const std::string&) { return Put(value); }
    bool string(std::string& value) { return Put(std::move(value)); }
    bool binary(Json::binary_t&) { return false; }
    bool start_object(size_t) { return Open(Json::object()); }
    bool end_object() { return Close(); }
    bool start_array(size_t) { return Open(Json::array()); }
    bool end_array() { return Close(); }

    bool key(std::string& name)
    {
        const auto [place, isNew] = m_open.back()->get_ref<Json::object_t&>().try_emplace(name);
        if (!isNew)
        {
            throw ScenarioError("the key '" + Shown(name) + "' is there twice in one object");
        }
        m_value = &place->second;
        return true;
    }

    template <class Error>
    bool parse_error(size_t, const std::string&, const Error& error)
    {
        throw Error(error);
    }

  private:
    bool Put(Json&& value)
    {
        Heartbeat::Beat();
        if (m_open.empty())
        {
            m_value = &m_root;
        }
        else if (m_open.back()->is_array())
        {
            m_value = &m_open.back()->emplace_back();
        }
        *m_value = std::move(value);
        return true;
    }

    bool Open(Json&& container)
    {
        Put(std::move(container));
        m_open.push_back(m_value);
        if (m_open.size() > DEEPEST)
        {
            throw ScenarioError("the scenario is nested more than " + std::to_string(DEEPEST) +
                                " deep");
        }
        return true;
    }

    bool Close()
    {
        m_open.pop_back();
        return true;
    }

    Json& m_root;
    Json* m_value{nullptr};    ///< the place of the next value, or of the last one
    std::vector<Json*> m_open; ///< objects and arrays
};

} // namespace

nlohmann::json
ParseJson(const std::string& text)
{
    try
    {
        Json json;
        Builder builder(json);
        Json::sax_parse(text, &builder);
        return json;
    }
    catch (const Json::exception& e) // a number beyond double's range is no parse_error
    {
        throw ScenarioError("the scenario is not JSON: " +
                            OnOneLine(Shortened(e.what(), LONGEST_WHY)));
    }
}

std::string
Shown(const std::string& text)
{
    return OnOneLine(Shortened(text, LONGEST_SHOWN));
}

JsonReader::JsonReader(const Json& json, std::string path)
    : m_json(json),
      m_path(std::move(path))
{
    if (!json.is_object())
    {
        Refuse(m_path.empty() ? "the scenario" : m_path, json, "an object");
    }
}

bool
JsonReader::Has(const std::string& key)
{
    m_known.insert(key);
    const auto found = m_json.find(key);
    return found != m_json.end() && !found->is_null();
}

const Json&
JsonReader::At(const std::string& key)
{
    if (!Has(key))
    {
        throw ScenarioError("'" + Path(key) + "' is missing");
    }
    return m_json.at(key);
}

bool
JsonReader::Flag(const std::string& key)
{
    const Json& value = At(key);
    if (!value.is_boolean())
    {
        Refuse(Path(key), value, "true or false");
    }
    return value.get<bool>();
}

std::string
JsonReader::Text(const std::string& key)
{
    const Json& value = At(key);
    if (!value.is_string())
    {
        Refuse(Path(key), value, "a text");
    }
    return value.get<std::string>();
}

std::string
JsonReader::OneOf(const std::string& key, const std::vector<std::string>& choices)
{
    const Json& value = At(key);
    if (!value.is_string() ||
        std::find(choices.begin(), choices.end(), value.get<std::string>()) == choices.end())
    {
        std::string all;
        for (const std::string& choice : choices)
        {
            all.append(all.empty() ? "" : " or ").append("'" + choice + "'");
        }
        Refuse(Path(key), value, all);
    }
    return value.get<std::string>();
}

template <typename PathMaker>
double
JsonReader::NumberOf(const Json& value, PathMaker path, double low, double high)
{
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!(number >= low && number <= high))
    {
        Refuse(path(), value, "in [" + Json(low).dump() + ", " + Json(high).dump() + "], a number");
    }
    return number;
}

double
JsonReader::Number(const std::string& key, double low, double high)
{
    return NumberOf(At(key), [&] { return Path(key); }, low, high);
}

std::vector<double>
JsonReader::Numbers(const std::string& key, size_t most, double low, double high)
{
    std::vector<double> values;
    for (const Json& value : List(key, most))
    {
        values.push_back(NumberOf(value, [&] { return PathOf(key, values.size()); }, low, high));
    }
    return values;
}

const Json&
JsonReader::List(const std::string& key, size_t most)
{
    const Json& value = At(key);
    if (!value.is_array())
    {
        Refuse(Path(key), value, "a list");
    }
    if (value.size() > most)
    {
        throw ScenarioError("'" + Path(key) + "' has " + std::to_string(value.size()) +
                            " entries, must have at most " + std::to_string(most));
    }
    return value;
}

std::vector<std::string>
JsonReader::Texts(const std::string& key, size_t most)
{
    std::vector<std::string> texts;
    for (const Json& value : List(key, most))
    {
        if (!value.is_string())
        {
            Refuse(PathOf(key, texts.size()), value, "a text");
        }
        texts.push_back(value.get<std::string>());
    }
    return texts;
}

std::vector<std::pair<uint32_t, uint32_t>>
JsonReader::Pairs(const std::string& key, size_t most, uint32_t high)
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (const Json& value : List(key, most))
    {
        const bool two = value.is_array() && value.size() == 2;
        const auto first = two ? WholeNumber<uint32_t>(value[0], 0, high) : std::nullopt;
        const auto second = two ? WholeNumber<uint32_t>(value[1], 0, high) : std::nullopt;
        if (!first || !second)
        {
            Refuse(PathOf(key, pairs.size()),
                   value,
                   "two whole numbers in [0, " + std::to_string(high) + "]");
        }
        pairs.emplace_back(*first, *second);
    }
    return pairs;
}

std::vector<std::pair<std::string, std::string>>
JsonReader::Values(const std::string& key)
{
    std::vector<std::pair<std::string, std::string>> values;
    const JsonReader section = Sub(key);
    for (const auto& item : section.m_json.items())
    {
        const Json& value = item.value();
        if (value.is_string())
        {
            values.emplace_back(item.key(), value.get<std::string>());
        }
        else if (value.is_number() || value.is_boolean())
        {
            values.emplace_back(item.key(), value.dump());
        }
        else
        {
            Refuse(section.Path(item.key()), value, "a number, a text, true or false");
        }
    }
    return values;
}

void
JsonReader::RefuseOthers() const
{
    for (const auto& item : m_json.items())
    {
        if (!m_known.contains(item.key()))
        {
            throw ScenarioError("unknown key '" + Path(item.key()) + "'");
        }
    }
}

void
JsonReader::Refuse(const std::string& path, const Json& value, const std::string& right)
{
    // A list or an object is not shown: its type is already wrong.
    const std::string is = value.is_array() ? "a list"
                           : value.is_object()
                               ? "an object"
                               : Shortened(value.dump(-1, ' ', true), LONGEST_SHOWN);
    throw ScenarioError("'" + path + "' is " + is + ", must be " + right);
}

ClockSpec
ReadClock(JsonReader& root)
{
    ClockSpec spec;
    JsonReader clock = root.Sub("clock");
    const auto name =
        clock.OneOf("name", {"per_flow_rtt", "per_ack", "per_notification", "synchronous"});
    if (name == "per_flow_rtt")
    {
        spec.rttFraction = clock.Number("rtt_fraction", 0.0, bounds::RTTS);
        spec.startBdps = clock.MaybeNumber("start_bdps", 0.0, bounds::BDPS).value_or(0.0);
    }
    else if (name == "per_ack")
    {
        spec.rttFraction = 0.0;
    }
    else if (name == "per_notification")
    {
        spec.onNotification = true;
    }
    else
    {
        spec.interval = clock.Time("interval_ns", 1);
    }
    clock.RefuseOthers();
    const Picos quantum = root.TimeOr0("decision_quantum_ns");
    if (name != "per_ack" || quantum > 0)
    {
        spec.quantum = quantum;
    }
    return spec;
}

} // namespace ns3::env
