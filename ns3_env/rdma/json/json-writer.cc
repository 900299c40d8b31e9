// SPDX-License-Identifier: GPL-2.0-or-later
#include "json-writer.h"

#include "ns3_env/rdma/model/sign-of-life.h"

#include <ostream>
#include <streambuf>

namespace ns3::rdma
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
        m_text.append(pbase(), pptr());
        setp(m_piece, m_piece + sizeof m_piece);
        SignOfLife::Beat();
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
    std::string& m_text;
    char m_piece[1 << 16];
};

} // namespace

std::string
WriteJson(const nlohmann::json& json)
{
    std::string text;
    BeatingText buffer(text);
    std::ostream(&buffer) << json << std::flush;
    return text;
}

} // namespace ns3::rdma
