// SPDX-License-Identifier: GPL-2.0-or-later
// Files of a test: a separate folder, and the bytes of a file.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::env::test
{

using Bytes = std::vector<uint8_t>;

/// Folder that is removed at the end of the scope.
class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
        {
            throw std::runtime_error("no folder " + name);
        }
        m_path = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(m_path); }
    TemporaryFolder(TemporaryFolder&&) = delete;

    std::string operator/(const std::string& name) const { return (m_path / name).string(); }
    size_t Files() const
    {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(m_path), {}));
    }

  private:
    std::filesystem::path m_path;
};

inline Bytes
ReadFile(const std::string& name)
{
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace ns3::env::test
