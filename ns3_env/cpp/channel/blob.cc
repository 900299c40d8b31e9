// SPDX-License-Identifier: GPL-2.0-or-later
// The blob, a memory file beside the region for long texts: scenarios, results, errors.
#include "blob.h"

#include "shared-region.h"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ns3::env
{

namespace
{

/// Written within some ms, new memory included.
constexpr size_t PIECE_BYTES = size_t{8} << 20;
constexpr uint64_t MAX_BLOB_BYTES = uint64_t{1} << 33;
constexpr const char* SHORTER_THAN_DECLARED = "the blob is shorter than its sender declared";

} // namespace

int
CreateBlobFile()
{
    const int fd = memfd_create("ns3_env-blob", MFD_CLOEXEC);
    if (fd < 0)
    {
        FailWithErrno("cannot make a memory file");
    }
    return fd;
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
WriteBlobFile(int fd, std::string_view text, const std::function<void()>& onPiece)
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
        if (onPiece)
        {
            onPiece();
        }
    }
}

} // namespace ns3::env
