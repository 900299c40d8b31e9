// SPDX-License-Identifier: GPL-2.0-or-later
// Maps from an agent's action to a window and a pacing rate, by name.
#include "action-map.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::env
{

namespace
{

constexpr double MOST_ALPHA = 100;

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

/**
 * The window of the number of whole packets that fit into `bytes`. It counts their payload, as the data in flight does:
 * with a window of a packet's bytes on the wire a second packet would leave with the first. The tolerance keeps a whole
 * number of packets whole through the rounding of a product.
 */
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
    explicit MultiplicativeWindow(JsonReader& json)
        : m_alpha(json.Has("alpha") ? json.Number("alpha", 1e-6, MOST_ALPHA) : 0.5)
    {
        const std::string rounding =
            json.Has("rounding") ? json.OneOf("rounding", {"floor", "progress", "none"}) : "floor";
        m_rounding = rounding == "floor"      ? WindowRounding::Floor
                     : rounding == "progress" ? WindowRounding::Progress
                                              : WindowRounding::None;
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
    explicit RecursiveWindow(JsonReader& json)
        : m_alpha(json.Has("alpha") ? json.Number("alpha", 1e-6, MOST_ALPHA) : 0.5),
          m_logOfMost(
              std::log(json.Has("most_factor") ? json.Number("most_factor", 1.001, 1e3) : 2.0))
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

  private:
    double m_alpha;
    double m_logOfMost;
};

/// Factor exp(alpha a); windows may fall below one packet, and are paced then.
class ExponentialWindow final : public ActionMap
{
  public:
    explicit ExponentialWindow(JsonReader& json)
        : m_alpha(json.Has("alpha") ? json.Number("alpha", 1e-6, MOST_ALPHA) : 0.5),
          m_leastPackets(json.Has("least_packets") ? json.Number("least_packets", 1e-6, 1e6) : 0.01)
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PacketBytes];
        const double bdp = std::max(record[Field::BdpBytes], packet);
        const double least = std::min(m_leastPackets * packet, bdp);
        const double window =
            std::clamp(WindowNow(record, bdp) * std::exp(m_alpha * a), least, bdp);
        return {window, PacingRate(window, record), a};
    }

  private:
    double m_alpha;
    double m_leastPackets;
};

/// An absolute window, independent of the previous one: between the minimum and one BDP, its logarithm in proportion.
class LogarithmicWindow final : public ActionMap
{
  public:
    explicit LogarithmicWindow(JsonReader& json)
        : m_leastPackets(json.Has("least_packets") ? json.Number("least_packets", 1e-6, 1e6) : 0.1)
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PacketBytes];
        const double bdp = std::max(record[Field::BdpBytes], packet);
        const double least = std::min(m_leastPackets * packet, bdp);
        const double window = std::clamp(bdp * std::pow(least / bdp, (1 - a) / 2), least, bdp);
        return {window, PacingRate(window, record), a};
    }

  private:
    double m_leastPackets;
};

/// BDP x fair share x exp(alpha a), independent of the previous window; a share of 0 means that no hop has reported
/// one.
class FairShareWindow final : public ActionMap
{
  public:
    explicit FairShareWindow(JsonReader& json)
        : m_alpha(json.Has("alpha") ? json.Number("alpha", 1e-6, MOST_ALPHA) : 1.5),
          m_leastPackets(json.Has("least_packets") ? json.Number("least_packets", 1e-6, 1e6) : 0.01)
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PacketBytes];
        const double bdp = std::max(record[Field::BdpBytes], packet);
        const double least = std::min(m_leastPackets * packet, bdp);
        const double share = record[Field::FairShare] > 0 ? record[Field::FairShare] : 1.0;
        const double window = std::clamp(bdp * share * std::exp(m_alpha * a), least, bdp);
        return {window, PacingRate(window, record), a};
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
    explicit MultiplicativeRate(JsonReader& json)
        : m_alpha(json.Has("alpha") ? json.Number("alpha", 1e-6, MOST_ALPHA) : 0.2),
          m_leastPackets(json.Has("least_packets") ? json.Number("least_packets", 1e-6, 1e6)
                                                   : 0.01),
          m_windowed(!json.Has("window") || json.OneOf("window", {"bdp", "none"}) == "bdp")
    {
    }

    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double a = std::clamp(action, -1.0, 1.0);
        const double packet = record[Field::PacketBytes];
        const double window = m_windowed ? std::max(record[Field::BdpBytes], packet)
                                         : std::numeric_limits<double>::infinity();
        const double link = record[Field::HostRateBps];
        const double least = PacingRate(m_leastPackets * packet, record);
        const double rate =
            std::clamp(record[Field::RateBps] * MultiplicativeFactor(m_alpha, a), least, link);
        return {window, rate, a};
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
    ActionRow operator()(double action, const ObservationRecord& record) const override
    {
        const double bdp = record[Field::BdpBytes];
        const double hostRate = record[Field::HostRateBps];
        // In the order of the controller's own arithmetic: the last bit of a rate moves packets.
        return {action,
                std::min(hostRate * action / bdp, hostRate),
                std::min(action / std::max(bdp, 1.0), 1.0)};
    }
};

} // namespace

std::unique_ptr<ActionMap>
ActionMap::FromJson(JsonReader json)
{
    const std::string name = json.OneOf("name",
                                        {"absolute_window",
                                         "exponential_window",
                                         "fair_share_window",
                                         "logarithmic_window",
                                         "multiplicative_rate",
                                         "multiplicative_window",
                                         "recursive_window"});
    std::unique_ptr<ActionMap> map;
    if (name == "multiplicative_window")
    {
        map = std::make_unique<MultiplicativeWindow>(json);
    }
    else if (name == "recursive_window")
    {
        map = std::make_unique<RecursiveWindow>(json);
    }
    else if (name == "multiplicative_rate")
    {
        map = std::make_unique<MultiplicativeRate>(json);
    }
    else if (name == "exponential_window")
    {
        map = std::make_unique<ExponentialWindow>(json);
    }
    else if (name == "fair_share_window")
    {
        map = std::make_unique<FairShareWindow>(json);
    }
    else if (name == "logarithmic_window")
    {
        map = std::make_unique<LogarithmicWindow>(json);
    }
    else
    {
        map = std::make_unique<AbsoluteWindow>();
    }
    json.RefuseOthers();
    return map;
}

} // namespace ns3::env
