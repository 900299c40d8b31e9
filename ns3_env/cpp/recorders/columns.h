// SPDX-License-Identifier: GPL-2.0-or-later
// Long series of the results as plain numbers behind the JSON, for who reads them as arrays.
#pragma once

#include <string>

namespace ns3::env
{

class Columns
{
  public:
    /// A column of `rows` numbers follows those that are there. \param value of a row, as a double
    template <typename Rows, typename Value>
    void Add(const Rows& rows, const Value& value)
    {
        m_bytes.reserve(m_bytes.size() + rows.size() * sizeof(double));
        for (const auto& row : rows)
        {
            const double number = value(row);
            m_bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
        }
    }

    /// The JSON, a zero or more up to a multiple of eight bytes, and the numbers.
    std::string Behind(std::string json) const
    {
        json.append(sizeof(double) - json.size() % sizeof(double), '\0');
        json += m_bytes;
        return json;
    }

  private:
    std::string m_bytes;
};

} // namespace ns3::env
