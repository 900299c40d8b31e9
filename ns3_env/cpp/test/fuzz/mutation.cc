// SPDX-License-Identifier: GPL-2.0-or-later
// Mutations of a good scenario: values, keys, structure and bytes of its JSON.
#include "mutation.h"

#include <cmath>
#include <limits>
#include <vector>

namespace ns3::env::fuzz
{

namespace
{

using Json = nlohmann::json;

/// Every value in `json`, itself not.
void
Collect(Json& json, std::vector<Json*>& values)
{
    for (Json& inner : json)
    {
        values.push_back(&inner);
        if (inner.is_structured())
        {
            Collect(inner, values);
        }
    }
}

/// A value in `json`; columns of flows are long, so the way leads down level by level.
Json&
AnyValue(Json& json, Random& random)
{
    Json* at = &json;
    while (at->is_structured() && !at->empty() && (at == &json || !random.OneIn(4)))
    {
        auto next = at->begin();
        std::advance(next, static_cast<std::ptrdiff_t>(random.Below(at->size())));
        at = &*next;
    }
    return *at;
}

/// An object in `json`, perhaps itself.
Json&
AnyObject(Json& json, Random& random)
{
    std::vector<Json*> values{&json};
    Collect(json, values);
    std::erase_if(values, [](const Json* value) { return !value->is_object(); });
    return values.empty() ? json : *values[random.Below(values.size())];
}

Json
AnyNumber(Random& random)
{
    switch (random.Below(5))
    {
    case 0:
        return random.OneOf<int64_t>(
            {-1, 0, 1, 2, -(1LL << 31), 1LL << 31, std::numeric_limits<int64_t>::min()});
    case 1:
        return random.OneOf<uint64_t>(
            {65'000, 65'001, 65'536, (1ULL << 32) + 5, (1ULL << 53) + 1, 1ULL << 63, ~0ULL});
    case 2:
        return random.OneOf({1.5, -0.5, 1e-300, 1e30, -1e30, 1e308, -0.0, 1.0000001});
    case 3:
        return random.Bits() >> random.Below(64);
    default:
        return random.AnyDouble();
    }
}

/// Near what it was: bounds lie there more often than anywhere else.
Json
Moved(const Json& number, Random& random)
{
    const auto value = number.get<double>();
    switch (random.Below(6))
    {
    case 0:
        return -value;
    case 1:
        return value + 1;
    case 2:
        return value - 1;
    case 3:
        return value * std::pow(10.0, static_cast<double>(random.Below(30)) - 15);
    case 4:
        return value + 0.5;
    default:
        return std::to_string(value);
    }
}

Json
OtherValue(const Json& value, Random& random)
{
    if (value.is_number() && random.OneIn(2))
    {
        return Moved(value, random);
    }
    switch (random.Below(8))
    {
    case 0:
        return nullptr;
    case 1:
        return random.OneIn(2);
    case 2:
        return random.OneOf(
            {"", "x", "1", "nan", "hpcc", "agent", "host", "switch", "per_ack", "\n\x01"});
    case 3:
        return random.OneIn(2) ? Json::array() : Json::object();
    case 4:
    {
        Json nested = value;
        for (size_t depth = random.Below(30); depth > 0; --depth)
        {
            nested = random.OneIn(2) ? Json::array({nested}) : Json{{"a", nested}};
        }
        return nested;
    }
    default:
        return AnyNumber(random);
    }
}

void
ChangeKeys(Json& object, Random& random)
{
    if (!object.is_object() || object.empty())
    {
        return;
    }
    auto chosen = object.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random.Below(object.size())));
    std::string key = chosen.key();
    const Json value = chosen.value();
    if (random.OneIn(2))
    {
        object.erase(key);
    }
    if (random.OneIn(2) && !key.empty())
    {
        key[random.Below(key.size())] = static_cast<char>('a' + random.Below(26));
        object[key] = value;
    }
}

void
ChangeLength(Json& list, Random& random)
{
    if (!list.is_array())
    {
        return;
    }
    if (random.OneIn(2) && !list.empty())
    {
        list.erase(list.size() - 1);
    }
    else
    {
        const Json last = list.empty() ? Json(1) : list.back();
        for (size_t more = 1 + random.Below(40); more > 0; --more)
        {
            list.push_back(last);
        }
    }
}

void
ChangeTree(Json& json, Random& random)
{
    Json& value = AnyValue(json, random);
    switch (random.Below(10))
    {
    case 0:
    case 1:
        ChangeKeys(AnyObject(json, random), random);
        break;
    case 2:
        ChangeLength(value, random);
        break;
    case 3:
    {
        const Json other = AnyValue(json, random); // a copy: one may lie in the other
        value = other;
        break;
    }
    default:
        value = OtherValue(value, random);
    }
}

void
ChangeBytes(std::string& text, Random& random)
{
    if (text.size() < 2)
    {
        return;
    }
    const size_t at = random.Below(text.size());
    const size_t length = 1 + random.Below(20);
    switch (random.Below(7))
    {
    case 0:
        text.resize(at);
        break;
    case 1:
        text.erase(at, length);
        break;
    case 2:
        text.insert(at, text.substr(random.Below(text.size()), length));
        break;
    case 3:
        text.insert(at, 1, static_cast<char>(random.Below(256)));
        break;
    case 4:
        text.insert(
            at,
            random.OneOf<const char*>({"[", "{", "}", "]", "\"", ",", "1e999", "NaN", "-"}));
        break;
    case 5: // a key twice
        text.insert(1, "\"seed\":2,");
        break;
    default:
        text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
    }
}

} // namespace

std::string
Mutated(nlohmann::json good, Random& random)
{
    const bool bytes = random.OneIn(5);
    const size_t changes = 1 + random.Below(3);
    for (size_t i = 0; i < changes && !bytes; ++i)
    {
        ChangeTree(good, random);
    }
    // Infinities and NaNs become null; what is no UTF-8 any more has no place in a tree.
    std::string text = good.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (size_t i = 0; i < changes && bytes; ++i)
    {
        ChangeBytes(text, random);
    }
    return text;
}

} // namespace ns3::env::fuzz
