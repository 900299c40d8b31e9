// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of retransmission: the same segment, the same buffer, however deep the window.
#include "ns3/packet.h"
#include "ns3_env/cpp/tcp/network/flow-socket.h"
#include "ns3_env/cpp/test/suite.h"

#include <ctime>
#include <optional>
#include <sstream>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-sent-segments");

constexpr uint32_t SEGMENT = 1000;

/// A buffer of which `segments` were sent, all of one size.
Ptr<TcpTxBuffer>
Sent(uint32_t segments)
{
    auto buffer = CreateObject<TcpTxBuffer>(1);
    buffer->SetMaxBufferSize(SEGMENT * segments);
    buffer->SetSegmentSize(SEGMENT);
    buffer->SetSackEnabled(true);
    buffer->SetDupAckThresh(3);
    buffer->Add(Create<Packet>(SEGMENT * segments));
    for (uint32_t i = 0; i < segments; ++i)
    {
        buffer->CopyFromSequence(SEGMENT, SequenceNumber32(1 + i * SEGMENT));
    }
    return buffer;
}

template <typename T>
std::string
Text(const T& shown)
{
    std::ostringstream text;
    text << shown;
    return text.str();
}

TEST("a segment that is sent again, in whole or in part, is as ns-3 finds it")
{
    /// What is sent again, and what is left.
    const auto again = [](uint32_t at, uint32_t bytes, bool guarded) -> std::string
    {
        const auto buffer = Sent(40);
        const SequenceNumber32 first(1 + at * SEGMENT);
        std::optional<SentSegmentsFrom> from;
        if (guarded)
        {
            from.emplace(*buffer, first);
        }
        std::ostringstream text;
        buffer->CopyFromSequence(bytes, first)->Print(text);
        from.reset();
        return text.str() + Text(*buffer) + Text(buffer->HeadSequence());
    };

    for (const uint32_t at : {0U, 1U, 17U, 38U, 39U})
    {
        for (const uint32_t bytes : {SEGMENT, SEGMENT / 4})
        {
            EXPECT_EQ(again(at, bytes, true), again(at, bytes, false), at);
        }
    }
}

TEST("retransmissions from a window of 20,000 segments take no seconds")
{
    constexpr uint32_t SEGMENTS = 20'000;
    const auto buffer = Sent(SEGMENTS);
    const std::clock_t began = std::clock();
    for (uint32_t i = 1; i <= 100; ++i) // by ns-3 alone half a second each
    {
        const SequenceNumber32 first(1 + (SEGMENTS - i) * SEGMENT);
        const SentSegmentsFrom from(*buffer, first);
        buffer->CopyFromSequence(SEGMENT, first);
    }
    EXPECT_LT((std::clock() - began) / CLOCKS_PER_SEC, 5, "seconds");
}

} // namespace

} // namespace ns3::env::tcp::test
