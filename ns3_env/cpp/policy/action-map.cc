// SPDX-License-Identifier: GPL-2.0-or-later
// Maps from an agent's action to a window and a pacing rate, by name.
#include "action-map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace ns3::env
{

namespace
{

constexpr double MOST_ALPHA = 100;
constexpr double LEAST_POSITIVE = 1e-9; ///< logarithms and quotients stay finite

/// Window / base RTT, at most the rate of the sender's link.
double
PacingRate(double window, const ObservationRecord& record)
{
    return std::min(window * 8e9 / record[Field::BaseRttNs], record[Field::HostRateBps]);
}

/// A flow that has not decided yet has no window: it counts as one BDP.
double
WindowNow(const ObservationRecord& record, double bdp)
{
    return std::min(record[Field::WindowBytes], bdp);
}

/// 1 + alpha a, or 1 / (1 - alpha a) below zero: as far up as down (Zhang 2023, sec. 4.2; Tessler et al. 2022).
double
MultiplicativeFactor(double alpha, double a)
{
    return a >= 0 ? 1 + alpha * a : 1 / (1 - alpha * a);
}

/// The action in [-1, 1] with this MultiplicativeFactor(), or the nearest one.
double
OfMultiplicativeFactor(double alpha, double factor)
{
    const double positive = std::max(factor, LEAST_POSITIVE);
    const double step = positive >= 1 ? positive - 1 : 1 - 1 / positive;
    return std::clamp(step / alpha, -1.0, 1.0);
}

/// One BDP, or a packet if that is larger.
double
PathBytes(const ObservationRecord& record)
{
    return std::max(record[Field::BdpBytes], record[Field::PacketBytes]);
}

/// Bytes of this number of packets, at most the path's.
double
LeastWindow(double packets, const ObservationRecord& record)
{
    return std::min(packets * record[Field::PacketBytes], PathBytes(record));
}

/// Factor by which a window is larger than the flow's present one.
double
WindowFactor(double window, const ObservationRecord& record)
{
    const double bdp = PathBytes(record);
    return std::min(window, bdp) / std::max(WindowNow(record, bdp), LEAST_POSITIVE);
}

/// The share of the most congested hop; 1 as long as no hop has reported one.
double
FairShare(const ObservationRecord& record)
{
    return record[Field::FairShare] > 0 ? record[Field::FairShare] : 1.0;
}

/// The window of the number of whole packets that fit into `bytes`. It counts their payload, as the data in flight does:
/// with a window of a packet's bytes on the wire a second packet would leave with the first. The tolerance keeps a whole
/// number of packets whole through the rounding of a product.
double
FloorToPackets(double bytes, double payload)
{
    return std::floor(bytes / payload + 1e-9) * payload;
}

enum class WindowRounding : uint8_t
{
    Floor,
    Progress,
    None,
};

/// The window times MultiplicativeFactor().
class MultiplicativeWindow final : public ActionMap
{
  public:
    explicit MultiplicativeWindow(const ActionSettings& settings)
        : m_alpha(settings[0]),
          m_rounding(static_cast<WindowRounding>(settings[1]))
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = m_rounding == WindowRounding::None ? record[Field::PacketBytes]
                                                                 : record[Field::PayloadBytes];
        const double bdp = std::max(record[Field::BdpBytes], packet);
        const double old = WindowNow(record, bdp);
        const double grown = old * MultiplicativeFactor(m_alpha, a);
        double window = grown;
        if (m_rounding != WindowRounding::None)
        {
            window = FloorToPackets(grown, packet);
        }
        if (m_rounding == WindowRounding::Progress && a > 0 && window <= old)
        {
            window = grown;
        }
        window = std::clamp(window, packet, bdp);
        return {window, PacingRate(window, record), a};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& record) const override
    {
        return OfMultiplicativeFactor(m_alpha, WindowFactor(window, record));
    }

  private:
    double m_alpha;
    WindowRounding m_rounding;
};

/// Zhang 2023, sec. 4.2, as printed: the action is a factor that is itself scaled from decision to decision,
/// action_{t+1} = action_t x MultiplicativeFactor(), and the window is multiplied by it each time.
///
/// The factor lies within [1 / MOST, MOST]; the echo is its logarithm, log(factor) / log(MOST).
class RecursiveWindow final : public ActionMap
{
  public:
    explicit RecursiveWindow(const ActionSettings& settings)
        : m_alpha(settings[0]),
          m_logOfMost(std::log(settings[1]))
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PayloadBytes];
        const double bdp = std::max(record[Field::BdpBytes], packet);
        const double before = record[Field::LastAction] * m_logOfMost;
        const double exponent = std::clamp(before + std::log(MultiplicativeFactor(m_alpha, a)),
                                           -m_logOfMost,
                                           m_logOfMost);
        const double window =
            std::clamp(FloorToPackets(WindowNow(record, bdp) * std::exp(exponent), packet),
                       packet,
                       bdp);
        return {window, PacingRate(window, record), exponent / m_logOfMost};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& record) const override
    {
        const double before = std::exp(record[Field::LastAction] * m_logOfMost);
        return OfMultiplicativeFactor(m_alpha, WindowFactor(window, record) / before);
    }

  private:
    double m_alpha;
    double m_logOfMost;
};

/// Factor exp(alpha a); windows may fall below one packet, and are paced then.
class ExponentialWindow final : public ActionMap
{
  public:
    explicit ExponentialWindow(const ActionSettings& settings)
        : m_alpha(settings[0]),
          m_leastPackets(settings[1])
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double bdp = PathBytes(record);
        const double least = LeastWindow(m_leastPackets, record);
        const double window =
            std::clamp(WindowNow(record, bdp) * std::exp(m_alpha * a), least, bdp);
        return {window, PacingRate(window, record), a};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& record) const override
    {
        const double factor = std::max(WindowFactor(window, record), LEAST_POSITIVE);
        return std::clamp(std::log(factor) / m_alpha, -1.0, 1.0);
    }

  private:
    double m_alpha;
    double m_leastPackets;
};

/// An absolute window, independent of the previous one: between the minimum and one BDP, its logarithm in proportion.
class LogarithmicWindow final : public ActionMap
{
  public:
    explicit LogarithmicWindow(const ActionSettings& settings)
        : m_leastPackets(settings[0])
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double bdp = PathBytes(record);
        const double least = LeastWindow(m_leastPackets, record);
        const double window = std::clamp(bdp * std::pow(least / bdp, (1 - a) / 2), least, bdp);
        return {window, PacingRate(window, record), a};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& record) const override
    {
        const double bdp = PathBytes(record);
        const double least = LeastWindow(m_leastPackets, record);
        const double span = std::max(std::log(bdp / least), LEAST_POSITIVE);
        return std::clamp(1 + 2 * std::log(std::clamp(window, least, bdp) / bdp) / span, -1.0, 1.0);
    }

  private:
    double m_leastPackets;
};

/// BDP x fair share x exp(alpha a), independent of the previous window; a share of 0 means that no hop has reported
/// one.
class FairShareWindow final : public ActionMap
{
  public:
    explicit FairShareWindow(const ActionSettings& settings)
        : m_alpha(settings[0]),
          m_leastPackets(settings[1])
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double bdp = PathBytes(record);
        const double least = LeastWindow(m_leastPackets, record);
        const double window =
            std::clamp(bdp * FairShare(record) * std::exp(m_alpha * a), least, bdp);
        return {window, PacingRate(window, record), a};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& record) const override
    {
        const double shared = PathBytes(record) * FairShare(record);
        return std::clamp(std::log(std::max(window, LEAST_POSITIVE) / shared) / m_alpha, -1.0, 1.0);
    }

  private:
    double m_alpha;
    double m_leastPackets;
};

/// The pacing rate times MultiplicativeFactor(); the window stays one BDP (Zhang 2023, sec. 5.3), or there is no
/// window.
class MultiplicativeRate final : public ActionMap
{
  public:
    explicit MultiplicativeRate(const ActionSettings& settings)
        : m_alpha(settings[0]),
          m_leastPackets(settings[1]),
          m_windowed(settings[2] == 0)
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PacketBytes];
        const double window =
            m_windowed ? PathBytes(record) : std::numeric_limits<double>::infinity();
        const double link = record[Field::HostRateBps];
        const double least = PacingRate(m_leastPackets * packet, record);
        const double rate =
            std::clamp(record[Field::RateBps] * MultiplicativeFactor(m_alpha, a), least, link);
        return {window, rate, a};
    }

    double
    Nearest(double /*window*/, double rateBps, const ObservationRecord& record) const override
    {
        return OfMultiplicativeFactor(m_alpha,
                                      rateBps / std::max(record[Field::RateBps], LEAST_POSITIVE));
    }

  private:
    double m_alpha;
    double m_leastPackets;
    bool m_windowed;
};

/// Window in bytes as the action, as MPCC computes it (Zheng 2024, sec. 4.3).
class AbsoluteWindow final : public ActionMap
{
  public:
    explicit AbsoluteWindow(const ActionSettings& /*none*/) {}

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double bdp = record[Field::BdpBytes];
        const double hostRate = record[Field::HostRateBps];
        // In the order of the controller's own arithmetic: the last bit of a rate moves packets.
        return {action,
                std::min(hostRate * action / bdp, hostRate),
                std::min(action / std::max(bdp, 1.0), 1.0)};
    }

    double
    Nearest(double window, double /*rateBps*/, const ObservationRecord& /*record*/) const override
    {
        return window;
    }
};

template <class Map>
std::unique_ptr<ActionMap>
Make(const ActionSettings& settings)
{
    return std::make_unique<Map>(settings);
}

} // namespace

const std::vector<ActionMapSpec>&
ActionMaps()
{
    const auto alpha = [](double otherwise)
    { return ActionSetting{"alpha", otherwise, 1e-6, MOST_ALPHA}; };
    const auto leastPackets = [](double otherwise)
    { return ActionSetting{"least_packets", otherwise, 1e-6, 1e6}; };
    static const std::vector<ActionMapSpec> MAPS{
        {"absolute_window", {}, {}, &Make<AbsoluteWindow>},
        {"exponential_window", {alpha(0.5), leastPackets(0.01)}, {}, &Make<ExponentialWindow>},
        {"fair_share_window",
         {alpha(1.5), leastPackets(0.01)},
         {Field::FairShare},
         &Make<FairShareWindow>},
        {"logarithmic_window", {leastPackets(0.1)}, {}, &Make<LogarithmicWindow>},
        {"multiplicative_rate",
         {alpha(0.2), leastPackets(0.01), {"window", 0, 0, 1, {"bdp", "none"}}},
         {},
         &Make<MultiplicativeRate>},
        {"multiplicative_window",
         {alpha(0.5), {"rounding", 0, 0, 2, {"floor", "progress", "none"}}},
         {},
         &Make<MultiplicativeWindow>},
        {"recursive_window",
         {alpha(0.5), {"most_factor", 2.0, 1.001, 1e3}},
         {},
         &Make<RecursiveWindow>},
    };
    return MAPS;
}

std::unique_ptr<ActionMap>
ActionMap::FromJson(JsonReader json)
{
    std::vector<std::string> names;
    for (const ActionMapSpec& spec : ActionMaps())
    {
        names.emplace_back(spec.name);
    }
    const std::string name = json.OneOf("name", names);
    const ActionMapSpec& spec =
        *std::find_if(ActionMaps().begin(),
                      ActionMaps().end(),
                      [&name](const ActionMapSpec& x) { return name == x.name; });
    ActionSettings values;
    for (const auto& [key, otherwise, least, most, words] : spec.settings)
    {
        if (!json.Has(key))
        {
            values.push_back(otherwise);
        }
        else if (words.empty())
        {
            values.push_back(json.Number(key, least, most));
        }
        else
        {
            const auto word = std::find(words.begin(), words.end(), json.OneOf(key, words));
            values.push_back(static_cast<double>(word - words.begin()));
        }
    }
    json.RefuseOthers();
    return spec.make(values);
}

} // namespace ns3::env
