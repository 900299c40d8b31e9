// SPDX-License-Identifier: GPL-2.0-or-later
// Counts attacks, shows progress, and names the one in which the program dies or hangs.
#ifndef NS3_ENV_TEST_FUZZ_GUARD_H
#define NS3_ENV_TEST_FUZZ_GUARD_H

#include <chrono>
#include <cstdint>
#include <string>

namespace ns3::env::fuzz
{

/// One in a process.
class Guard
{
  public:
    /// \param name of the attacks, for the lines
    /// \param keep folder where an input that did harm is written to
    Guard(std::string name, std::string keep, uint64_t seed);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    /// Attack `number` begins; it may take 20 s of CPU time, or 60 s in all.
    void Begin(uint64_t number, const std::string& input = {});
    /// What was taken although it is wrong. The input is kept, the attacks go on.
    void Silent(const std::string& what);
    /// The last line. \returns the program's exit code
    int End(const std::string& what);

  private:
    std::string m_name;
    uint64_t m_count{0};
    uint64_t m_silent{0};
    std::chrono::steady_clock::time_point m_nextLine;
};

} // namespace ns3::env::fuzz

#endif // NS3_ENV_TEST_FUZZ_GUARD_H
