// SPDX-License-Identifier: GPL-2.0-or-later
// What is TCP's own of a scenario, and what of the program tcp-sim?
#ifndef TCP_TCP_TRANSPORT_H
#define TCP_TCP_TRANSPORT_H

#include "ns3_env/rdma/episode/transport.h"
#include "ns3_env/tcp/model/tcp-settings.h"

#include <string>
#include <vector>

namespace ns3::tcp
{

/// "tcp": ns-3's own stack over queue discs.
class TcpTransport final : public rdma::Transport
{
  public:
    std::string Name() const override;
    std::string Title() const override;
    std::vector<std::string> Controllers() const override;
    std::string Describe() const override;
    /// The section "tcp".
    void ReadKeys(rdma::JsonReader& root, rdma::Scenario& scenario) override;
    std::unique_ptr<rdma::FlowRun> Build(rdma::Scenario scenario,
                                         rdma::FlowRun::FlowHook onCreate) override;

  private:
    TcpSettings m_settings;
};

} // namespace ns3::tcp

#endif // TCP_TCP_TRANSPORT_H
