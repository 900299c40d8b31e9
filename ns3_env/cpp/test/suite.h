// SPDX-License-Identifier: GPL-2.0-or-later
// Tests in suites: a promise each, and the checks that it consists of.
#pragma once

#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace ns3::env::test
{

/// The suite of a file's tests.
class Suite
{
  public:
    explicit Suite(const char* name)
        : m_name(name)
    {
    }

    /// \returns true, for a static's initialisation
    bool Add(const char* promise, void (*test)()) const;

  private:
    const char* m_name;
};

/// Names one of several cases in failures during its lifetime.
class Case
{
  public:
    explicit Case(std::string name);
    ~Case();
    Case(Case&&) = delete;
};

/// Ends a test that cannot continue.
struct TestEnded
{
};

/// Notes a failed check. \throws TestEnded if it `ends` the test
void Fail(const char* file, int line, const std::string& what, bool ends);

/// Message of the exception that `act` throws; nothing if it throws none.
template <class Act>
std::string
Refusal(const Act& act)
{
    try
    {
        act();
    }
    catch (const std::exception& error)
    {
        return error.what();
    }
    return {};
}

/// Several numbers that a check compares together, whatever their types.
template <class... Numbers>
std::vector<long double>
Row(Numbers... numbers)
{
    return {static_cast<long double>(numbers)...};
}

template <class T>
std::string
Shown(const T& value)
{
    std::ostringstream text;
    text.precision(17);
    if constexpr (std::is_same_v<T, std::vector<long double>>)
    {
        for (const long double number : value)
        {
            text << (&number == value.data() ? "(" : ", ") << number;
        }
        text << ')';
    }
    else if constexpr (requires { text << value; })
    {
        text << value;
    }
    else
    {
        text << "a value";
    }
    return text.str();
}

/// Error if `a` and `b` are not in this relation. Integers compare by value, whatever their signs.
template <class Relation, class A, class B>
std::optional<std::string>
Compared(const A& a, const B& b, const char* relation)
{
    bool holds = false;
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    {
        holds = Relation{}(static_cast<long double>(a), static_cast<long double>(b));
    }
    else
    {
        holds = Relation{}(a, b);
    }
    return holds ? std::nullopt : std::optional(Shown(a) + relation + Shown(b) + " is wrong");
}

/// Error if two numbers differ by more than `tolerance`, or one is NaN.
inline std::optional<std::string>
Near(long double a, long double b, long double tolerance)
{
    const bool holds = std::abs(a - b) <= tolerance;
    return holds
               ? std::nullopt
               : std::optional(Shown(a) + " is not within " + Shown(tolerance) + " of " + Shown(b));
}

} // namespace ns3::env::test

/// `SUITE("name");`, once in a file, in its unnamed namespace.
#define SUITE(name) const ::ns3::env::test::Suite FILE_SUITE(name)

/// `TEST("a promise") { checks }`
#define TEST(promise) NS3_ENV_TEST_AT(promise, __LINE__)
#define NS3_ENV_TEST_AT(promise, line) NS3_ENV_TEST_OF(promise, line)
#define NS3_ENV_TEST_OF(promise, line)                                                             \
    void Test##line();                                                                             \
    const bool ADDED_##line = FILE_SUITE.Add(promise, Test##line);                                 \
    void Test##line()

#define NS3_ENV_CHECK(wrong, message, ends)                                                        \
    do                                                                                             \
    {                                                                                              \
        if (const std::optional<std::string> wrong_ = (wrong))                                     \
        {                                                                                          \
            std::ostringstream message_;                                                           \
            message_ << message << ": " << *wrong_;                                                \
            ::ns3::env::test::Fail(__FILE__, __LINE__, message_.str(), ends);                      \
        }                                                                                          \
    } while (false)
#define NS3_ENV_RELATION(a, relation, sign, b, message, ends)                                      \
    NS3_ENV_CHECK((::ns3::env::test::Compared<std::relation<>>(a, b, sign)), message, ends)
#define NS3_ENV_NEAR(a, b, tolerance, message, ends)                                               \
    NS3_ENV_CHECK(::ns3::env::test::Near(static_cast<long double>(a),                              \
                                         static_cast<long double>(b),                              \
                                         static_cast<long double>(tolerance)),                     \
                  message,                                                                         \
                  ends)

// Checks of a test: `message` may be a chain of <<. After EXPECT... the test continues, after ASSERT... it ends.
#define EXPECT(holds, message) EXPECT_EQ(static_cast<bool>(holds), true, message)
#define EXPECT_EQ(a, b, message) NS3_ENV_RELATION(a, equal_to, " == ", b, message, false)
#define EXPECT_NE(a, b, message) NS3_ENV_RELATION(a, not_equal_to, " != ", b, message, false)
#define EXPECT_LT(a, b, message) NS3_ENV_RELATION(a, less, " < ", b, message, false)
#define EXPECT_LE(a, b, message) NS3_ENV_RELATION(a, less_equal, " <= ", b, message, false)
#define EXPECT_GT(a, b, message) NS3_ENV_RELATION(a, greater, " > ", b, message, false)
#define EXPECT_GE(a, b, message) NS3_ENV_RELATION(a, greater_equal, " >= ", b, message, false)
#define EXPECT_NEAR(a, b, tolerance, message) NS3_ENV_NEAR(a, b, tolerance, message, false)
#define ASSERT(holds, message) ASSERT_EQ(static_cast<bool>(holds), true, message)
#define ASSERT_EQ(a, b, message) NS3_ENV_RELATION(a, equal_to, " == ", b, message, true)
#define ASSERT_NE(a, b, message) NS3_ENV_RELATION(a, not_equal_to, " != ", b, message, true)
#define ASSERT_LT(a, b, message) NS3_ENV_RELATION(a, less, " < ", b, message, true)
#define ASSERT_LE(a, b, message) NS3_ENV_RELATION(a, less_equal, " <= ", b, message, true)
#define ASSERT_GT(a, b, message) NS3_ENV_RELATION(a, greater, " > ", b, message, true)
#define ASSERT_GE(a, b, message) NS3_ENV_RELATION(a, greater_equal, " >= ", b, message, true)
#define ASSERT_NEAR(a, b, tolerance, message) NS3_ENV_NEAR(a, b, tolerance, message, true)
