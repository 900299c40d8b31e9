// SPDX-License-Identifier: GPL-2.0-or-later
// Declares a controller to ns-3: its attributes with their ranges, and its trace sources.
#pragma once

#include "congestion-control.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/traced-value.h"
#include "ns3/uinteger.h"

#include <string>
#include <type_traits>
#include <utility>

namespace ns3::env
{

/// A number that users may change, in the range from `least` to `most`.
template <class T>
struct Ranged
{
    T value;
    T least;
    T most;
};

/// ns-3's groups of the types that are declared as references: for all flows of a scenario, or for some.
inline constexpr const char* REFERENCE_GROUP = "Reference";
inline constexpr const char* END_HOST_REFERENCE_GROUP = "EndHostReference";

/// Reports whether a controller of either transport is declared as a reference that needs all flows of a scenario.
inline bool
NeedsAllFlows(TypeId type)
{
    return type.GetGroupName() == REFERENCE_GROUP;
}

/// Reports whether a controller of either transport is declared as any reference.
inline bool
IsReference(TypeId type)
{
    return NeedsAllFlows(type) || type.GetGroupName() == END_HOST_REFERENCE_GROUP;
}

/// The TypeId of a class with a constructor. Each member has a name, help for users, and the class's variable.
template <class C, class Parent = CongestionControl>
class Declaration
{
  public:
    explicit Declaration(const std::string& name)
        : m_tid(name)
    {
        m_tid.SetParent<Parent>().SetGroupName(name.starts_with("tcp::") ? "Tcp" : "Rdma");
        if constexpr (!std::is_abstract_v<C>)
        {
            m_tid.AddConstructor<C>();
        }
    }

    template <class T>
    Declaration& Number(const char* name,
                        const char* help,
                        T C::* member,
                        const std::type_identity_t<Ranged<T>>& range)
    {
        if constexpr (std::is_same_v<T, Time>)
        {
            Add(name,
                help,
                TimeValue(range.value),
                MakeTimeAccessor(member),
                MakeTimeChecker(range.least, range.most));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            Add(name,
                help,
                DoubleValue(range.value),
                MakeDoubleAccessor(member),
                MakeDoubleChecker<T>(range.least, range.most));
        }
        else if constexpr (std::is_unsigned_v<T>)
        {
            Add(name,
                help,
                UintegerValue(range.value),
                MakeUintegerAccessor(member),
                MakeUintegerChecker<T>(range.least, range.most));
        }
        else
        {
            Add(name,
                help,
                IntegerValue(range.value),
                MakeIntegerAccessor(member),
                MakeIntegerChecker<T>(range.least, range.most));
        }
        return *this;
    }

    Declaration& Flag(const char* name, const char* help, bool C::* member, bool value)
    {
        return Add(name,
                   help,
                   BooleanValue(value),
                   MakeBooleanAccessor(member),
                   MakeBooleanChecker());
    }

    Declaration&
    Text(const char* name, const char* help, std::string C::* member, const char* value)
    {
        return Add(name, help, StringValue(value), MakeStringAccessor(member), MakeStringChecker());
    }

    /// An attribute of any other type, as ns-3 declares it.
    Declaration& Add(const char* name,
                     const char* help,
                     const AttributeValue& value,
                     Ptr<const AttributeAccessor> accessor,
                     Ptr<const AttributeChecker> checker)
    {
        m_tid.AddAttribute(name, help, value, std::move(accessor), std::move(checker));
        return *this;
    }

    /// A state, which a run records over time.
    Declaration& State(const char* name, const char* help, TracedValue<double> C::* member)
    {
        return Trace(name, help, member, "ns3::TracedValueCallback::Double");
    }

    /// A counter, which a run records over time.
    Declaration& Counter(const char* name, const char* help, TracedValue<uint64_t> C::* member)
    {
        return Trace(name, help, member, "ns3::TracedValueCallback::Uint64");
    }

    /// An undeployable bound: it has all flows of a scenario, and tables do not rank it.
    Declaration& Reference()
    {
        m_tid.SetGroupName(REFERENCE_GROUP);
        return *this;
    }

    /// An undeployable controller of end hosts, next to other controllers too; tables do not rank it.
    Declaration& EndHostReference()
    {
        m_tid.SetGroupName(END_HOST_REFERENCE_GROUP);
        return *this;
    }

    operator TypeId() const { return m_tid; }

  private:
    template <class T>
    Declaration& Trace(const char* name, const char* help, T C::* member, const char* callback)
    {
        m_tid.AddTraceSource(name, help, MakeTraceSourceAccessor(member), callback);
        return *this;
    }

    TypeId m_tid;
};

} // namespace ns3::env
