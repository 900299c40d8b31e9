// SPDX-License-Identifier: GPL-2.0-or-later
// The channel's shared region: an anonymous memory file that dies with its last user.
#include "shared-region.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ns3::env
{

void
FailWithErrno(const std::string& what)
{
    throw ChannelError(what + ": " + std::strerror(errno));
}

SharedRegion
SharedRegion::Create(const char* name, size_t bytes)
{
    SharedRegion region;
    region.m_fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (region.m_fd < 0)
    {
        FailWithErrno("cannot make a memory file");
    }
    if (ftruncate(region.m_fd, static_cast<off_t>(bytes)) != 0)
    {
        FailWithErrno("cannot size a memory file to " + std::to_string(bytes) + " B");
    }
    // Nobody can cut it short under the other's feet any more (SIGBUS); where seals are unknown, trust has to do.
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
