// SPDX-License-Identifier: GPL-2.0-or-later
// Hash of the channel's layout, by which both ends check that they are of one build.
#include "channel-layout.h"

#include <bit>
#include <cstring>

namespace ns3::env
{

namespace
{

/// FNV-1a, 64 bit.
class Hash
{
  public:
    void Add(const void* data, size_t bytes)
    {
        for (size_t i = 0; i < bytes; ++i)
        {
            m_value = (m_value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
        }
    }

    void Add(uint64_t v) { Add(&v, sizeof v); }

    void Add(const char* text) { Add(text, std::strlen(text) + 1); }

    uint64_t Value() const { return m_value; }

  private:
    uint64_t m_value{0xcbf29ce484222325};
};

} // namespace

static uint64_t
HashLayout()
{
    Hash hash;
    hash.Add(uint64_t{CHANNEL_VERSION});
    for (size_t size : {sizeof(ChannelHeader),
                        sizeof(ChannelControl),
                        sizeof(DecisionRow),
                        sizeof(ActionRow),
                        CONTROL_OFFSET,
                        ROWS_OFFSET,
                        FIELD_COUNT})
    {
        hash.Add(uint64_t{size});
    }
    for (const FieldSpec& field : ObservationFields())
    {
        hash.Add(field.name);
        hash.Add(field.unit);
        hash.Add(field.normaliser);
        hash.Add(std::bit_cast<uint64_t>(field.low));
        hash.Add(std::bit_cast<uint64_t>(field.high));
    }
    return hash.Value();
}

uint64_t
ChannelLayoutHash()
{
    // Used with each message; the table has some thousand bytes.
    static const uint64_t hash = HashLayout();
    return hash;
}

} // namespace ns3::env
