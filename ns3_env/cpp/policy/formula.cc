// SPDX-License-Identifier: GPL-2.0-or-later
// Formula over the declared fields, which a policy observes as a field: "queueing = rtt - 1".
#include "formula.h"

#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

namespace ns3::env
{

namespace
{

using Operation = Formula::Operation;

struct Function
{
    const char* name;
    Operation operation;
    bool ofTwo;
};

constexpr std::array<Function, 5> FUNCTIONS{{{"min", Operation::Min, true},
                                             {"max", Operation::Max, true},
                                             {"abs", Operation::Abs, false},
                                             {"log", Operation::Log, false},
                                             {"exp", Operation::Exp, false}}};

/// Insertions, deletions and replacements from one text to another.
size_t
EditDistance(const std::string& from, const std::string& to)
{
    std::vector<size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 0; i < from.size(); ++i)
    {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < to.size(); ++j)
        {
            const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

const FieldSpec*
FindDeclared(const std::string& name)
{
    const auto fields = ObservationFields();
    const auto found =
        std::ranges::find_if(fields, [&](const FieldSpec& spec) { return name == spec.name; });
    return found == fields.end() ? nullptr : &*found;
}

std::string
Unknown(const std::string& name)
{
    const std::string start = name.substr(0, 64); // as long as any name
    const auto distance = [&](const FieldSpec& spec) { return EditDistance(start, spec.name); };
    const auto nearest = std::ranges::min_element(ObservationFields(), {}, distance);
    return "there is no observation field '" + Shown(name) + "'; the nearest known one is '" +
           nearest->name + "'";
}

double
Cut(double value)
{
    return std::clamp(value, -Formula::STEP_LIMIT, Formula::STEP_LIMIT);
}

double
Result(Operation operation, double a, double b)
{
    switch (operation)
    {
    case Operation::Add:
        return Cut(a + b);
    case Operation::Subtract:
        return Cut(a - b);
    case Operation::Multiply:
        return Cut(a * b);
    case Operation::Divide:
        return b == 0 ? 0.0 : Cut(a / b);
    case Operation::Min:
        return std::min(a, b);
    case Operation::Max:
        return std::max(a, b);
    case Operation::Abs:
        return std::abs(a);
    case Operation::Log:
        return std::log(std::max(a, Formula::LOG_FLOOR));
    case Operation::Exp:
        return Cut(std::exp(a));
    case Operation::Number:
    case Operation::Value:
        break;
    }
    return 0.0;
}

bool
StartsName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool
IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

} // namespace

/// Reads sums of products of numbers, fields, functions and brackets; operands' steps come before their operation's.
class FormulaParser
{
  public:
    FormulaParser(const std::string& text, Formula& formula)
        : m_text(text),
          m_formula(formula)
    {
    }

    void Read()
    {
        if (m_text.size() > Formula::MOST_CHARACTERS)
        {
            Fail(Formula::MOST_CHARACTERS, "a formula has no more characters");
        }
        m_formula.m_name = Name();
        if (m_formula.m_name.empty() || Peek() != '=')
        {
            Refuse("expected a name and '=', as in 'queueing = rtt - 1'");
        }
        if (FindDeclared(m_formula.m_name) != nullptr)
        {
            Fail(0, "'" + m_formula.m_name + "' is a declared field's name: choose another");
        }
        ++m_at;
        Sum();
        if (Peek() != '\0')
        {
            Refuse("expected +, -, *, / or the end");
        }
        if (m_formula.m_fields.empty())
        {
            Fail(m_at, "no field is read: a formula reads at least one");
        }
    }

  private:
    void Sum()
    {
        Product();
        while (Peek() == '+' || Peek() == '-')
        {
            const auto operation = m_text[m_at++] == '+' ? Operation::Add : Operation::Subtract;
            Product();
            Add({operation});
        }
    }

    void Product()
    {
        Factor();
        while (Peek() == '*' || Peek() == '/')
        {
            const auto operation = m_text[m_at++] == '*' ? Operation::Multiply : Operation::Divide;
            Factor();
            Add({operation});
        }
    }

    void Factor()
    {
        const char next = Peek();
        if (next == '-')
        {
            ++m_at;
            Add({Operation::Number, 0.0});
            Factor();
            Add({Operation::Subtract});
        }
        else if (next == '(')
        {
            ++m_at;
            Sum();
            Expect(')', "expected ')'");
        }
        else if (IsDigit(next) || next == '.')
        {
            Add({Operation::Number, Number()});
        }
        else if (StartsName(next))
        {
            const size_t start = m_at;
            const std::string name = Name();
            Peek() == '(' ? Call(name, start) : Value(name, start);
        }
        else
        {
            Refuse("expected a number, a field, a function or '('");
        }
    }

    void Call(const std::string& name, size_t start)
    {
        const auto function =
            std::ranges::find_if(FUNCTIONS, [&](const Function& one) { return name == one.name; });
        if (function == FUNCTIONS.end())
        {
            Fail(start,
                 "there is no function '" + name + "': there are min, max, abs, log and exp");
        }
        ++m_at;
        Sum();
        if (function->ofTwo)
        {
            Expect(',', "expected ',' between the two numbers of " + name + "(a, b)");
            Sum();
        }
        Expect(')', "expected ')' of " + name + (function->ofTwo ? "(a, b)" : "(a)"));
        Add({function->operation});
    }

    void Value(const std::string& name, size_t start)
    {
        const FieldSpec* spec = FindDeclared(name);
        if (spec == nullptr)
        {
            Fail(start, Unknown(name));
        }
        auto& fields = m_formula.m_fields;
        const auto found = std::ranges::find(fields, spec->field);
        const auto index = static_cast<size_t>(found - fields.begin());
        if (found == fields.end())
        {
            fields.push_back(spec->field);
        }
        Add({Operation::Value, 0.0, index});
    }

    double Number()
    {
        double number = 0;
        const char* start = m_text.data() + m_at;
        const auto [end, fault] = std::from_chars(start, m_text.data() + m_text.size(), number);
        if (fault != std::errc() || number > Formula::STEP_LIMIT)
        {
            Fail(m_at, "expected a number up to 1e15, such as 2, 0.5 or 1e-3");
        }
        m_at += static_cast<size_t>(end - start);
        return number;
    }

    std::string Name()
    {
        Peek();
        const size_t start = m_at;
        while (m_at < m_text.size() &&
               (StartsName(m_text[m_at]) || (m_at > start && IsDigit(m_text[m_at]))))
        {
            ++m_at;
        }
        return m_text.substr(start, m_at - start);
    }

    /// The next character that is no space; 0 at the end.
    char Peek()
    {
        m_at = std::min(m_text.find_first_not_of(' ', m_at), m_text.size());
        return m_at < m_text.size() ? m_text[m_at] : '\0';
    }

    void Expect(char wanted, const std::string& right)
    {
        if (Peek() != wanted)
        {
            Refuse(right);
        }
        ++m_at;
    }

    void Add(Formula::Step step) { m_formula.m_steps.push_back(step); }

    [[noreturn]] void Refuse(const std::string& right)
    {
        const bool end = Peek() == '\0';
        Fail(m_at,
             right + ", found " + (end ? "the end" : "'" + Shown(m_text.substr(m_at, 1)) + "'"));
    }

    [[noreturn]] void Fail(size_t at, const std::string& fault) const
    {
        throw ScenarioError("formula '" + Shown(m_text) + "', character " + std::to_string(at + 1) +
                            ": " + fault);
    }

    const std::string& m_text;
    Formula& m_formula;
    size_t m_at{0};
};

Formula::Formula(const std::string& text)
{
    FormulaParser(text, *this).Read();
}

float
Formula::operator()(std::span<const float> values) const
{
    std::array<double, MOST_CHARACTERS> stack;
    size_t size = 0;
    for (const Step& step : m_steps)
    {
        if (step.operation == Operation::Number || step.operation == Operation::Value)
        {
            stack[size++] = step.operation == Operation::Number ? step.number : values[step.field];
            continue;
        }
        const double second = step.operation >= Operation::Abs ? 0.0 : stack[--size];
        stack[size - 1] = Result(step.operation, stack[size - 1], second);
    }
    return static_cast<float>(std::clamp(stack[0], -LIMIT, LIMIT));
}

Field
DeclaredField(const std::string& name)
{
    const FieldSpec* spec = FindDeclared(name);
    if (spec == nullptr)
    {
        throw ScenarioError(Unknown(name));
    }
    return spec->field;
}

} // namespace ns3::env
