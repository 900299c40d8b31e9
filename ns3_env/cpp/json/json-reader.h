// SPDX-License-Identifier: GPL-2.0-or-later
// JSON reader, key by key, which checks every value before it converts it.
#pragma once

#include "bounds.h"
#include "scenario-error.h"

#include "ns3_env/cpp/contract/clock-spec.h"
#include "ns3_env/cpp/contract/units.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Parses a text. \throws ScenarioError if it is no JSON, has a key twice or is nested too deeply.
nlohmann::json ParseJson(const std::string& text);

/// A piece of foreign text as a message shows it: on one line, and not too long.
std::string Shown(const std::string& text);

/// `value` as a T; nothing if it is no whole number in [low, high]. 1e3 and 1000.0 are whole numbers.
template <typename T>
std::optional<T>
WholeNumber(const nlohmann::json& value, T low, T high)
{
    const auto within = [low, high](auto number) -> std::optional<T>
    {
        const bool fits = std::cmp_less_equal(low, number) && std::cmp_less_equal(number, high);
        return fits ? std::optional<T>(static_cast<T>(number)) : std::nullopt;
    };
    if (value.is_number_unsigned())
    {
        return within(value.get<uint64_t>());
    }
    if (value.is_number_integer())
    {
        return within(value.get<int64_t>());
    }
    if (value.is_number_float())
    {
        constexpr double EXACT =
            9007199254740992.0; // 2^53: doubles represent every whole number up to here
        const auto number = value.get<double>();
        const bool whole = std::abs(number) <= EXACT && std::trunc(number) == number;
        return whole ? within(static_cast<int64_t>(number)) : std::nullopt;
    }
    return std::nullopt;
}

/// One JSON object; each of its keys must be read. A key that is null is absent. An invalid value is a ScenarioError
/// with the key and the valid values.
class JsonReader
{
  public:
    using Json = nlohmann::json;

    /// `json` must outlive this. \param path "" for the whole
    JsonReader(const Json& json, std::string path);

    bool Has(const std::string& key);

    bool Flag(const std::string& key);
    bool Flag(const std::string& key, bool otherwise) { return Has(key) ? Flag(key) : otherwise; }
    std::string Text(const std::string& key);
    /// The key's value, which must be one of these texts.
    std::string OneOf(const std::string& key, const std::vector<std::string>& choices);
    /// A number of [low, high].
    double Number(const std::string& key, double low, double high);
    std::optional<double> MaybeNumber(const std::string& key, double low, double high)
    {
        return Has(key) ? std::optional(Number(key, low, high)) : std::nullopt;
    }
    /// A time in whole nanoseconds; 0 without the key.
    Picos TimeOr0(const std::string& key) { return Has(key) ? Time(key, 0) : 0; }
    /// A time in whole nanoseconds of [leastNs, mostNs].
    Picos Time(const std::string& key, int64_t leastNs, int64_t mostNs = bounds::TIME_NS)
    {
        return Whole(key, leastNs, mostNs) * PS_PER_NS;
    }

    /// A list of numbers of [low, high].
    std::vector<double> Numbers(const std::string& key, size_t most, double low, double high);

    /// A whole number of [low, high].
    template <typename T>
    T Whole(const std::string& key, T low, T high)
    {
        return WholeOf(At(key), [&] { return Path(key); }, low, high);
    }

    template <typename T>
    T Whole(const std::string& key, T low, T high, T otherwise)
    {
        return Has(key) ? Whole(key, low, high) : otherwise;
    }

    /// A list of no more than `most` entries.
    const Json& List(const std::string& key, size_t most);
    std::vector<std::string> Texts(const std::string& key, size_t most);

    /// A list of whole numbers of [low, high].
    template <typename T>
    std::vector<T> Wholes(const std::string& key, size_t most, T low, T high)
    {
        const Json& list = List(key, most);
        std::vector<T> values;
        values.reserve(list.size());
        for (const Json& value : list)
        {
            values.push_back(WholeOf(value, [&] { return PathOf(key, values.size()); }, low, high));
        }
        return values;
    }

    /// A list of pairs of whole numbers of [0, high].
    std::vector<std::pair<uint32_t, uint32_t>>
    Pairs(const std::string& key, size_t most, uint32_t high);

    /// Keys and values of an object, each a text: numbers and truth values as they are written.
    std::vector<std::pair<std::string, std::string>> Values(const std::string& key);

    JsonReader Sub(const std::string& key) { return {At(key), Path(key)}; }

    /// Calls `read` for the object of a key. \returns its result
    template <typename Read>
    auto Sub(const std::string& key, Read read)
    {
        JsonReader section = Sub(key);
        if constexpr (std::is_void_v<decltype(read(section))>)
        {
            read(section);
            section.RefuseOthers();
        }
        else
        {
            auto result = read(section);
            section.RefuseOthers();
            return result;
        }
    }

    /// The same, if the key is there.
    template <typename Read>
    auto Maybe(const std::string& key, Read read)
    {
        return Has(key) ? std::optional(Sub(key, read)) : std::nullopt;
    }

    /// Calls `read` for each object of a list.
    template <typename Read>
    void Each(const std::string& key, size_t most, Read read)
    {
        const Json& list = List(key, most);
        for (size_t i = 0; i < list.size(); ++i)
        {
            JsonReader entry(list[i], PathOf(key, i));
            read(entry);
            entry.RefuseOthers();
        }
    }

    std::string Path(const std::string& key) const
    {
        return m_path.empty() ? Shown(key) : m_path + "." + Shown(key);
    }

    /// \throws ScenarioError for a key that was not read.
    void RefuseOthers() const;

  private:
    const Json& At(const std::string& key);
    std::string PathOf(const std::string& key, size_t index) const
    {
        return Path(key) + "[" + std::to_string(index) + "]";
    }
    template <typename PathMaker>
    static double NumberOf(const Json& value, PathMaker path, double low, double high);
    [[noreturn]] static void
    Refuse(const std::string& path, const Json& value, const std::string& right);

    template <typename T, typename PathMaker>
    static T WholeOf(const Json& value, PathMaker path, T low, T high)
    {
        const std::optional<T> number = WholeNumber(value, low, high);
        if (!number)
        {
            Refuse(path(),
                   value,
                   "in [" + std::to_string(low) + ", " + std::to_string(high) +
                       "], a whole number");
        }
        return *number;
    }

    const Json& m_json;
    std::string m_path;
    std::set<std::string> m_known;
};

/// \param root the object that has both keys \throws ScenarioError
ClockSpec ReadClock(JsonReader& root);

} // namespace ns3::env
