// SPDX-License-Identifier: GPL-2.0-or-later
// The blob, a memory file beside the region for long texts: scenarios, results, errors.
#ifndef NS3_ENV_CHANNEL_BLOB_H
#define NS3_ENV_CHANNEL_BLOB_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ns3::env
{

/// A new, empty file (close-on-exec). \throws ChannelError
int CreateBlobFile();

/// The file's first `bytes`. \throws ChannelError where there are fewer, or more than any text has.
std::string ReadBlobFile(int fd, uint64_t bytes);

/// Replaces what the file holds, piece by piece; after each, `onPiece` is called. \throws ChannelError
void WriteBlobFile(int fd, std::string_view text, const std::function<void()>& onPiece = {});

} // namespace ns3::env

#endif // NS3_ENV_CHANNEL_BLOB_H
