// SPDX-License-Identifier: GPL-2.0-or-later
// The channel's shared region: an anonymous memory file that dies with its last user.
#include "shared-region.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ns3::env
{

namespace
{

/// Size of pieces that are written within some ms, including new memory.
constexpr size_t PIECE_BYTES = size_t{8} << 20;
constexpr uint64_t MAX_BLOB_BYTES = uint64_t{1} << 33;
constexpr const char* SHORTER_THAN_DECLARED = "the blob is shorter than its sender declared";

} // namespace

int
CreateMemoryFile(const char* name, unsigned flags)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | flags);
    const bool free = fd < 0 || fd > STDERR_FILENO;
    const int above = free ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (!free)
    {
        close(fd);
    }
    if (above < 0)
    {
        FailWithErrno("cannot make a memory file");
    }
    return above;
}

int
CreateBlobFile()
{
    return CreateMemoryFile("ns3_env-blob");
}

std::string
ReadBlobFile(int fd, uint64_t bytes)
{
    struct stat info{};
    if (fstat(fd, &info) != 0)
    {
        FailWithErrno("cannot look at the blob");
    }
    // Before any memory is taken for it.
    if (info.st_size < 0 || bytes > static_cast<uint64_t>(info.st_size))
    {
        throw ChannelError(SHORTER_THAN_DECLARED);
    }
    if (bytes > MAX_BLOB_BYTES)
    {
        throw ChannelError("the blob is larger than any may be");
    }
    std::string text(bytes, '\0');
    size_t done = 0;
    while (done < bytes)
    {
        const ssize_t n = pread(fd, text.data() + done, bytes - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR)
        {
            continue;
        }
        if (n <= 0)
        {
            throw ChannelError(SHORTER_THAN_DECLARED);
        }
        done += static_cast<size_t>(n);
    }
    return text;
}

void
WriteBlobFile(int fd, std::string_view text)
{
    if (text.size() > MAX_BLOB_BYTES)
    {
        throw ChannelError("a text of " + std::to_string(text.size()) +
                           " B is larger than any blob may be");
    }
    if (ftruncate(fd, static_cast<off_t>(text.size())) != 0)
    {
        FailWithErrno("cannot size the blob");
    }
    size_t done = 0;
    while (done < text.size())
    {
        const ssize_t n = pwrite(fd,
                                 text.data() + done,
                                 std::min(PIECE_BYTES, text.size() - done),
                                 static_cast<off_t>(done));
        if (n < 0 && errno != EINTR)
        {
            FailWithErrno("cannot write the blob");
        }
        done += n > 0 ? static_cast<size_t>(n) : 0;
    }
}

void
FailWithErrno(const std::string& what)
{
    throw ChannelError(what + ": " + std::strerror(errno));
}

SharedRegion
SharedRegion::Create(const char* name, size_t bytes)
{
    SharedRegion region;
    region.m_fd = CreateMemoryFile(name, MFD_ALLOW_SEALING);
    if (ftruncate(region.m_fd, static_cast<off_t>(bytes)) != 0)
    {
        FailWithErrno("cannot size a memory file to " + std::to_string(bytes) + " B");
    }
    // Neither side can truncate it under the other any more (SIGBUS); without seals, each has to trust the other.
    fcntl(region.m_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region.m_fd, 0);
    if (data == MAP_FAILED)
    {
        FailWithErrno("cannot map a memory file of " + std::to_string(bytes) + " B");
    }
    region.m_data = static_cast<std::byte*>(data);
    region.m_bytes = bytes;
    return region;
}

SharedRegion
SharedRegion::Map(int fd, size_t leastBytes)
{
    struct stat info{};
    if (fstat(fd, &info) != 0)
    {
        FailWithErrno("no channel under file descriptor " + std::to_string(fd));
    }
    SharedRegion region;
    region.m_bytes = static_cast<size_t>(info.st_size);
    if (region.m_bytes < leastBytes)
    {
        throw ChannelError("file descriptor " + std::to_string(fd) + " is no channel: too small");
    }
    void* data = mmap(nullptr, region.m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
    {
        FailWithErrno("cannot map the channel under file descriptor " + std::to_string(fd));
    }
    region.m_fd = fd;
    region.m_data = static_cast<std::byte*>(data);
    return region;
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)),
      m_data(std::exchange(other.m_data, nullptr)),
      m_bytes(std::exchange(other.m_bytes, 0))
{
}

SharedRegion&
SharedRegion::operator=(SharedRegion&& other) noexcept
{
    std::swap(m_fd, other.m_fd);
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

SharedRegion::~SharedRegion()
{
    if (m_data)
    {
        munmap(m_data, m_bytes);
    }
    if (m_fd >= 0)
    {
        close(m_fd);
    }
}

} // namespace ns3::env
