// SPDX-License-Identifier: GPL-2.0-or-later
// A bit per packet of a message, in a ring over those in flight.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// A set of packet numbers that are not below its base. Its memory grows, by doubling, with the widest span from the
/// base to a member, and never shrinks.
class SequenceBits
{
  public:
    /// Adds `number`, not below the base. \returns whether it was no member before
    bool Set(uint64_t number)
    {
        Reach(number / BITS);
        uint64_t& word = WordOf(number);
        const uint64_t bit = uint64_t{1} << (number % BITS);
        const bool fresh = (word & bit) == 0;
        word |= bit;
        m_count += fresh ? 1 : 0;
        m_end = m_end > number ? m_end : number + 1;
        return fresh;
    }

    /// Moves the base up to `number`, and removes all members below.
    void DropBelow(uint64_t number);

    /// The smallest non-member from `from` on; `from` must not be below the base.
    uint64_t FirstMissing(uint64_t from) const;

    uint64_t End() const { return m_end; }     ///< one more than the largest that ever was a member
    uint64_t Count() const { return m_count; } ///< members

  private:
    static constexpr uint64_t BITS = 64;

    uint64_t Place(uint64_t word) const { return word & (m_words.size() - 1); }
    uint64_t& WordOf(uint64_t number) { return m_words[Place(number / BITS)]; }
    /// Makes room up to this word.
    void Reach(uint64_t word);

    std::vector<uint64_t> m_words{0}; ///< a power of two of them
    uint64_t m_base{0};
    uint64_t m_end{0};
    uint64_t m_count{0};
};

inline void
SequenceBits::Reach(uint64_t word)
{
    const uint64_t first = m_base / BITS;
    if (word - first < m_words.size()) [[likely]]
    {
        return;
    }
    std::vector<uint64_t> wider(std::bit_ceil(word - first + 1));
    for (uint64_t i = first; i < first + m_words.size(); ++i)
    {
        wider[i & (wider.size() - 1)] = m_words[Place(i)];
    }
    m_words.swap(wider);
}

inline void
SequenceBits::DropBelow(uint64_t number)
{
    uint64_t at = m_base;
    while (m_count > 0 && at < number && at < m_end) // a word at a time
    {
        const uint64_t skip = at % BITS;
        const uint64_t next = at - skip + BITS;
        uint64_t gone = ~uint64_t{0} << skip;
        if (number < next)
        {
            gone &= (uint64_t{1} << (number % BITS)) - 1;
        }
        uint64_t& word = WordOf(at);
        m_count -= static_cast<uint64_t>(std::popcount(word & gone));
        word &= ~gone;
        at = next;
    }
    m_base = number > m_base ? number : m_base;
}

inline uint64_t
SequenceBits::FirstMissing(uint64_t from) const
{
    uint64_t at = from;
    while (m_count > 0 && at < m_end)
    {
        const auto run =
            static_cast<uint64_t>(std::countr_one(m_words[Place(at / BITS)] >> (at % BITS)));
        at += run;
        if (run == 0 || at % BITS != 0) // zeros are shifted in from above
        {
            return at;
        }
    }
    return at;
}

} // namespace ns3::env::rdma
