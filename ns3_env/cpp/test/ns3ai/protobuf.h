// SPDX-License-Identifier: GPL-2.0-or-later
// Writer and reader of Protocol Buffers messages, as much as the foreign simulator needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace foreign
{

/// A message that is being written, field by field.
class Message
{
  public:
    Message& Number(int field, uint64_t value)
    {
        Varint(static_cast<uint64_t>(field) << 3);
        Varint(value);
        return *this;
    }

    Message& Float(int field, float value)
    {
        Varint(static_cast<uint64_t>(field) << 3 | 5);
        return Raw(&value, sizeof value);
    }

    Message& Text(int field, std::string_view text)
    {
        Varint(static_cast<uint64_t>(field) << 3 | 2);
        Varint(text.size());
        return Raw(text.data(), text.size());
    }

    Message& Inner(int field, const Message& inner) { return Text(field, inner.m_bytes); }

    /// A google.protobuf.Any that contains `inner`.
    Message& Any(int field, const std::string& type, const Message& inner)
    {
        return Inner(field,
                     Message().Text(1, "type.googleapis.com/ns3_ai_gym." + type).Inner(2, inner));
    }

    /// Packed: floats and doubles as in memory.
    template <typename T>
    Message& Packed(int field, const std::vector<T>& values)
    {
        return Text(field,
                    {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    }

    Message& PackedNumbers(int field, const std::vector<uint64_t>& values)
    {
        Message packed;
        for (const uint64_t value : values)
        {
            packed.Varint(value);
        }
        return Inner(field, packed);
    }

    const std::string& Bytes() const { return m_bytes; }

  private:
    void Varint(uint64_t value)
    {
        for (; value > 127; value >>= 7)
        {
            m_bytes.push_back(static_cast<char>(value | 128));
        }
        m_bytes.push_back(static_cast<char>(value));
    }

    Message& Raw(const void* data, size_t bytes)
    {
        m_bytes.append(static_cast<const char*>(data), bytes);
        return *this;
    }

    std::string m_bytes;
};

/// A message that is being read: its fields, one after the other.
class Reader
{
  public:
    explicit Reader(std::string_view bytes)
        : m_rest(bytes)
    {
    }

    /// Moves to the next field; false at the end.
    bool Next()
    {
        if (m_rest.empty())
        {
            return false;
        }
        const uint64_t key = Varint();
        field = static_cast<int>(key >> 3);
        const auto wire = key & 7;
        const size_t bytes = wire == 2 ? Varint() : wire == 5 ? 4 : wire == 1 ? 8 : 0;
        if (wire == 0)
        {
            number = Varint();
        }
        content = m_rest.substr(0, bytes);
        m_rest.remove_prefix(bytes);
        return true;
    }

    int field{0};
    uint64_t number{0};
    std::string_view content;

    uint64_t Varint()
    {
        uint64_t value = 0;
        for (int shift = 0; !m_rest.empty(); shift += 7)
        {
            const auto byte = static_cast<uint8_t>(m_rest.front());
            m_rest.remove_prefix(1);
            value |= static_cast<uint64_t>(byte & 127) << shift;
            if (byte < 128)
            {
                return value;
            }
        }
        throw std::runtime_error("a message that is cut off");
    }

  private:
    std::string_view m_rest;
};

/// The content of a message's field; empty if it is missing.
inline std::string_view
FieldOf(std::string_view message, int field)
{
    for (Reader reader(message); reader.Next();)
    {
        if (reader.field == field)
        {
            return reader.content;
        }
    }
    return {};
}

/// The number in a message's field; 0 if it is missing.
inline uint64_t
NumberOf(std::string_view message, int field)
{
    for (Reader reader(message); reader.Next();)
    {
        if (reader.field == field)
        {
            return reader.number;
        }
    }
    return 0;
}

} // namespace foreign
