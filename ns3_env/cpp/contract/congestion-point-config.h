// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters of a layer-2 congestion point: queue target, sampling and feedback.
#ifndef NS3_ENV_CONTRACT_CONGESTION_POINT_CONFIG_H
#define NS3_ENV_CONTRACT_CONGESTION_POINT_CONFIG_H

namespace ns3::env
{

/// A congestion point at each egress queue (Jiang 2015, sec. 2.2; IEEE 802.1Q clause 32, whose names are in brackets).
struct CongestionPointConfig
{
    bool enabled{false};
    double targetBytes{64e3};      ///< q0 of Jiang 2015 (cpQSp; the standard's is 26 kB)
    double weight{2};              ///< w (cpW)
    double sampleBytes{150e3};     ///< of arriving frames from sample to sample (cpSampleBase)
    double sampleJitter{0.15};     ///< each interval is longer or shorter by up to this share
    bool adaptiveSampling{true};   ///< shorter intervals, down to 18.5 kB of 150, as |Fb| grows
    double sampleProbability{0.0}; ///< above 0: each frame with this probability, not by bytes
    bool negativeOnly{true};       ///< a frame only where Fb < 0; otherwise at each sample

    bool operator==(const CongestionPointConfig&) const = default;
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_CONGESTION_POINT_CONFIG_H
