// SPDX-License-Identifier: GPL-2.0-or-later
// Maps a file at one address for both of its users, so that ThreadSanitizer sees what they share.
// The linker replaces mmap and munmap by these (--wrap).
#include <cstddef>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>

namespace
{

struct Mapping
{
    void* data;
    int users;
};

std::mutex s_mutex;
std::map<ino_t, Mapping> s_mappings;

} // namespace

extern "C"
{
    void* __real_mmap(void* hint, size_t bytes, int protection, int flags, int fd, off_t offset);
    int __real_munmap(void* data, size_t bytes);

    void* __wrap_mmap(void* hint, size_t bytes, int protection, int flags, int fd, off_t offset)
    {
        struct stat info{};
        if (fd < 0 || fstat(fd, &info) != 0)
        {
            return __real_mmap(hint, bytes, protection, flags, fd, offset);
        }
        const std::scoped_lock lock(s_mutex);
        Mapping& mapping = s_mappings[info.st_ino];
        if (mapping.users++ == 0)
        {
            mapping.data = __real_mmap(hint, bytes, protection, flags, fd, offset);
        }
        return mapping.data;
    }

    int __wrap_munmap(void* data, size_t bytes)
    {
        const std::scoped_lock lock(s_mutex);
        for (auto at = s_mappings.begin(); at != s_mappings.end(); ++at)
        {
            if (at->second.data == data)
            {
                if (--at->second.users > 0)
                {
                    return 0;
                }
                s_mappings.erase(at);
                break;
            }
        }
        return __real_munmap(data, bytes);
    }
}
