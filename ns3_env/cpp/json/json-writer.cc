// SPDX-License-Identifier: GPL-2.0-or-later
// JSON writer that beats the heartbeat while it writes and frees.
#include "json-writer.h"

#include "ns3_env/cpp/engine/heartbeat.h"

#include <ostream>
#include <streambuf>
#include <string_view>
#include <utility>

namespace ns3::env
{

namespace
{

/// Collects text in pieces; each piece is a sign of life.
class BeatingText : public std::streambuf
{
  public:
    explicit BeatingText(std::string& text)
        : m_text(text)
    {
        setp(m_piece, m_piece + sizeof m_piece);
    }

    int sync() override
    {
        const std::string_view piece(pbase(), pptr());
        if (m_text.size() + piece.size() > m_text.capacity())
        {
            Grow();
        }
        m_text += piece;
        setp(m_piece, m_piece + sizeof m_piece);
        Heartbeat::Beat();
        return 0;
    }

  protected:
    int_type overflow(int_type c) override
    {
        sync();
        return traits_type::eq_int_type(c, traits_type::eof())
                   ? traits_type::not_eof(c)
                   : sputc(traits_type::to_char_type(c));
    }

  private:
    /// Twice the room: what is there moves piece by piece.
    void Grow()
    {
        std::string larger;
        larger.reserve(2 * m_text.capacity() + sizeof m_piece);
        for (size_t at = 0; at < m_text.size(); at += MOVED_BYTES)
        {
            larger.append(m_text, at, MOVED_BYTES);
            Heartbeat::Beat();
        }
        m_text = std::move(larger);
    }

    static constexpr size_t MOVED_BYTES = size_t{8} << 20;

    std::string& m_text;
    char m_piece[1 << 16];
};

/// Frees piece by piece: the destructor of a whole tree, or of a long array, gives no sign of life.
void
Free(nlohmann::json& json)
{
    if (auto* array = json.get_ptr<nlohmann::json::array_t*>())
    {
        while (!array->empty())
        {
            Heartbeat::Beat();
            Free(array->back());
            array->pop_back();
        }
    }
    else if (json.is_object())
    {
        for (nlohmann::json& inner : json)
        {
            Free(inner);
        }
    }
}

} // namespace

void
WriteJson(std::ostream& out,
          nlohmann::json json,
          const std::string& late,
          const std::function<void()>& write)
{
    char separator = '{';
    for (const auto& [key, value] : json.items())
    {
        out << std::exchange(separator, ',') << nlohmann::json(key) << ':';
        if (key == late)
        {
            write();
        }
        else
        {
            out << value;
        }
    }
    out << '}';
    Free(json);
}

std::string
TextOf(const std::function<void(std::ostream&)>& write)
{
    std::string text;
    BeatingText buffer(text);
    std::ostream out(&buffer);
    write(out);
    out.flush();
    return text;
}

} // namespace ns3::env
