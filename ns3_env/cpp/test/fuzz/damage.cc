// SPDX-License-Identifier: GPL-2.0-or-later
// View of the shared region through which its words are damaged.
#include "damage.h"

#include "ns3_env/cpp/channel/futex.h"

#include <cmath>
#include <fcntl.h>
#include <unistd.h>

namespace ns3::env::fuzz
{

namespace
{

constexpr uint64_t MAX_SPARSE_BLOB = 1 << 22;

int
Duplicated(int fd)
{
    const int other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (other < 0)
    {
        FailWithErrno("cannot duplicate a descriptor");
    }
    return other;
}

uint64_t
AnyCount(Random& random)
{
    const uint64_t power = 1ULL << random.OneOf({31, 32, 40, 63});
    return random.OneOf<uint64_t>(
        {0, 1, 5, 6, 7, 64, 4096, power, power - 1, ~0ULL, random.Bits()});
}

} // namespace

Region::Region(const AgentChannel& agent)
    : m_blobFd(agent.BlobFd()),
      m_region(SharedRegion::Map(Duplicated(agent.ChannelFd()), ROWS_OFFSET)),
      m_header(reinterpret_cast<ChannelHeader*>(m_region.Data())),
      m_control(reinterpret_cast<ChannelControl*>(m_region.Data() + CONTROL_OFFSET)),
      m_rows(reinterpret_cast<DecisionRow*>(m_region.Data() + ROWS_OFFSET)),
      m_actions(reinterpret_cast<ActionRow*>(m_region.Data() + ActionsOffset(agent.Capacity())))
{
}

int
Region::Inherited() const
{
    return Duplicated(m_region.Fd());
}

void
Region::DamageHeader(Random& random)
{
    const auto word32 = static_cast<uint32_t>(AnyCount(random));
    const uint64_t word64 = AnyCount(random);
    const std::function<void()> damages[]{[&] { m_header->magic = word64; },
                                          [&] { m_header->version = word32; },
                                          [&] { m_header->capacity = word32; },
                                          [&] { m_header->agentLayoutHash ^= word64; },
                                          [&] { m_header->regionBytes = word64; },
                                          [&] { m_header->controlOffset = word64; },
                                          [&] { m_header->rowsOffset = word64; },
                                          [&] { m_header->actionsOffset = word64; },
                                          [&] { m_header->blobFd = static_cast<int32_t>(word32); },
                                          [&] { DamageBytes(random, 0, sizeof(ChannelHeader)); }};
    damages[random.Below(std::size(damages))]();
}

void
Region::DamageAgentWords(Random& random, size_t due)
{
    m_control->command = static_cast<uint32_t>(
        random.OneIn(4) ? AnyCount(random) : random.OneOf<uint64_t>({0, 1, 1, 1, 2, 2, 4}));
    m_control->actionCount = static_cast<uint32_t>(random.OneIn(2) ? due : AnyCount(random));
    m_control->waiting =
        static_cast<uint32_t>(random.OneIn(2) ? random.Below(4) : AnyCount(random));
    m_control->core = static_cast<int32_t>(random.OneIn(2) ? random.Below(4) : AnyCount(random));
    if (random.OneIn(3))
    {
        WriteBadNumber(random, random.Below(m_header->capacity == 6 ? 6 : 1));
    }
    if (random.OneIn(3))
    {
        DamageBlob(random, m_control->agentBlobBytes);
    }
    if (random.OneIn(3))
    {
        DamageHeader(random);
        m_header->capacity = random.OneIn(2) ? 6 : m_header->capacity;
    }
}

void
Region::DamageSimulatorWords(Random& random)
{
    m_control->message = static_cast<uint32_t>(random.OneIn(2) ? 2 : AnyCount(random));
    if (random.OneIn(2))
    {
        m_control->rowCount = static_cast<uint32_t>(AnyCount(random));
    }
    if (random.OneIn(3))
    {
        m_control->timePs = static_cast<int64_t>(AnyCount(random));
        DamageBlob(random, m_control->simulatorBlobBytes);
    }
    if (random.OneIn(3))
    {
        m_header->fieldCount = static_cast<uint32_t>(AnyCount(random));
        DamageBytes(random, offsetof(ChannelHeader, fields), sizeof(ChannelHeader));
    }
    DamageBytes(random, ROWS_OFFSET, ROWS_OFFSET + 6 * sizeof(DecisionRow));
}

size_t
Region::FillRows(Random& random, uint32_t rows)
{
    size_t due = 0;
    for (uint32_t i = 0; i < rows; ++i)
    {
        m_rows[i] = DecisionRow{};
        m_rows[i].flags = static_cast<uint32_t>(random.Below(8));
        due += m_rows[i].NeedsAction() ? 1 : 0;
    }
    return due;
}

void
Region::WriteActions(Random&, size_t count, const std::function<ActionRow()>& make)
{
    std::generate_n(m_actions, count, make);
}

void
Region::WriteBadNumber(Random& random, size_t action)
{
    ActionRow& row = m_actions[action];
    const double infinite = INFINITY;
    const double negative = random.OneOf({double{NAN}, -1.0, -1e-300, -infinite});
    const double unreal = random.OneOf({double{NAN}, infinite, -infinite});
    const size_t which = random.Below(3);
    double* const numbers[]{&row.windowBytes, &row.rateBps, &row.echo};
    *numbers[which] = which < 2 ? negative : unreal;
}

void
Region::AdvanceAgent()
{
    FutexAdvance(m_control->agentSequence, m_control->simulatorSleeps);
}

void
Region::Close()
{
    m_control->command = static_cast<uint32_t>(Command::Close);
    AdvanceAgent();
}

void
Region::DamageBytes(Random& random, size_t begin, size_t end)
{
    for (size_t i = 1 + random.Below(16); i > 0; --i)
    {
        m_region.Data()[begin + random.Below(end - begin)] =
            static_cast<std::byte>(random.Below(256));
    }
}

void
Region::DamageBlob(Random& random, uint64_t& bytes)
{
    bytes = random.OneIn(2) ? random.Below(16) : AnyCount(random);
    if (random.OneIn(2))
    {
        const auto size = random.OneIn(2) ? random.Below(16) : AnyCount(random) % MAX_SPARSE_BLOB;
        if (ftruncate(m_blobFd, static_cast<off_t>(size)) != 0)
        {
            FailWithErrno("cannot size the blob");
        }
    }
}

} // namespace ns3::env::fuzz
