// SPDX-License-Identifier: GPL-2.0-or-later
// The channel's shared region: an anonymous memory file that dies with its last user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ns3::env
{

/// A new memory file (close-on-exec), above the standard streams, which a child process reopens if they are closed.
/// \throws ChannelError
int CreateMemoryFile(const char* name, unsigned flags = 0);

/// A new, empty file of that kind. \throws ChannelError
int CreateBlobFile();

/// The file's first `bytes`. \throws ChannelError if there are fewer, or more than any text has.
std::string ReadBlobFile(int fd, uint64_t bytes);

/// Replaces the file's content, piece by piece. \throws ChannelError
void WriteBlobFile(int fd, std::string_view text);

/// A broken region, a peer of another build, or a turn out of order.
class ChannelError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// Throws ChannelError: `what`, and the text of errno.
[[noreturn]] void FailWithErrno(const std::string& what);

/// A mapped memory file; unmapped and closed with its owner.
class SharedRegion
{
  public:
    SharedRegion() = default;
    /// A new anonymous file of that size (close-on-exec).
    static SharedRegion Create(const char* name, size_t bytes);
    /// An inherited file, whole; no channel if it is smaller than `leastBytes`.
    static SharedRegion Map(int fd, size_t leastBytes);
    ~SharedRegion();
    SharedRegion(SharedRegion&& other) noexcept;
    SharedRegion& operator=(SharedRegion&& other) noexcept;

    int Fd() const { return m_fd; }
    size_t Bytes() const { return m_bytes; }
    std::byte* Data() const { return m_data; }

  private:
    int m_fd{-1};
    std::byte* m_data{nullptr};
    size_t m_bytes{0};
};

} // namespace ns3::env
