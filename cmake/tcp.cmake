# What is built of TCP? Its network on ns-3's internet stack and its congestion control, beside RDMA's targets, which
# link nothing of it.
# SPDX-License-Identifier: GPL-2.0-or-later
set(TCP "${CMAKE_CURRENT_SOURCE_DIR}/ns3_env/tcp")
set(TCP_SOURCES
    congestion-control/bottleneck-rate.cc
    congestion-control/rtt-range.cc
    congestion-control/rttmpc-law.cc
    congestion-control/rttmpc-step.cc
    congestion-control/rttmpc.cc
    congestion-control/steered.cc
    congestion-control/tdctcp-law.cc
    congestion-control/tdctcp.cc
    congestion-control/westwood-plus.cc
    helper/checksums.cc
    helper/law-description.cc
    helper/network.cc
    helper/pcap.cc
    helper/read-settings.cc
    helper/tcp-transport.cc
    model/congestion-ops.cc
    model/ecmp-routing.cc
    model/egress-meter.cc
    model/fabric.cc
    model/flow-socket.cc
    model/queue-factory.cc
    model/sent-segments.cc
    model/tcp-flow.cc
    model/tcp-path.cc
    model/threshold-queue-disc.cc
    model/udp-streams.cc)
set(TCP_TEST_SOURCES
    test/capture-test.cc
    test/egress-test.cc
    test/episodes.cc
    test/fabric-test.cc
    test/flow-test.cc
    test/on-the-way.cc
    test/queue-test.cc
    test/routing-test.cc
    test/rttmpc-law-test.cc
    test/rttmpc-loop-test.cc
    test/sent-segments-test.cc
    test/sharing-test.cc
    test/socket-pair.cc
    test/socket-test.cc
    test/steered-test.cc
    test/streams-test.cc
    test/tdctcp-test.cc)
foreach(list TCP_SOURCES TCP_TEST_SOURCES)
  list(TRANSFORM ${list} PREPEND "${TCP}/")
endforeach()

add_library(tcp OBJECT ${TCP_SOURCES})
target_link_libraries(tcp PUBLIC rdma-options ns3::internet ns3::point-to-point)

add_executable(tcp-sim "${TCP}/tcp-sim.cc")
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set_target_properties(tcp tcp-sim PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
endif()
target_link_libraries(tcp-sim PRIVATE tcp rdma rdma-base)
set_target_properties(tcp-sim PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS tcp-sim RUNTIME_DEPENDENCY_SET brought DESTINATION ns3_env/bin)

# `cmake --build DIR --target tcp-tests`, then DIR/tcp-tests
add_executable(tcp-tests EXCLUDE_FROM_ALL ${TCP_TEST_SOURCES} "${RDMA}/test/scenarios.cc"
                                          "${RDMA}/test/test-runner.cc")
target_compile_definitions(tcp-tests PRIVATE TEST_SUITES="tcp-")
target_link_libraries(tcp-tests PRIVATE tcp rdma rdma-base)

# ns-3's TCP as its own examples use it, to compare with: `cmake --build DIR --target tcp-plain-loop`
add_executable(tcp-plain-loop EXCLUDE_FROM_ALL "${TCP}/test/plain-loop.cc")
target_link_libraries(tcp-plain-loop PRIVATE ns3::internet ns3::point-to-point "${NS3_ROOT}/lib64/libns3.44-applications.so")
