# Targets of TCP: its network and its congestion control, which is ns-3's.
# RDMA's targets link nothing of it.
# SPDX-License-Identifier: GPL-2.0-or-later
set(TCP_SOURCES
    tcp/controllers/references.cc
    tcp/controllers/rttmpc-control.cc
    tcp/controllers/rttmpc.cc
    tcp/controllers/steered.cc
    tcp/controllers/tdctcp.cc
    tcp/controllers/westwood-plus.cc
    tcp/network/fabric.cc
    tcp/network/frame.cc
    tcp/network/network.cc
    tcp/network/port.cc
    tcp/network/queue.cc
    tcp/network/red-queue.cc
    tcp/network/tcp-path.cc
    tcp/network/timer.cc
    tcp/network/udp-streams.cc
    tcp/program/pcap.cc
    tcp/program/tcp-episode.cc
    tcp/program/tcp-transport.cc
    tcp/socket/congestion-ops.cc
    tcp/socket/delivery-rate.cc
    tcp/socket/endpoint.cc
    tcp/socket/reassembly.cc
    tcp/socket/receiver.cc
    tcp/socket/scoreboard-losses.cc
    tcp/socket/scoreboard.cc
    tcp/socket/sender-acks.cc
    tcp/socket/sender-losses.cc
    tcp/socket/sender.cc
    tcp/socket/tcp-flow.cc)
set(TCP_TEST_SOURCES
    test/tcp/capture-test.cc
    test/tcp/episodes.cc
    test/tcp/flow-test.cc
    test/tcp/queue-test.cc
    test/tcp/routing-test.cc
    test/tcp/scoreboard-test.cc
    test/tcp/stock-test.cc
    test/tcp/streams-test.cc
    test/tcp_controllers/rttmpc-control-test.cc
    test/tcp_controllers/steered-test.cc
    test/tcp_controllers/tdctcp-test.cc)
foreach(list TCP_SOURCES TCP_TEST_SOURCES)
  list(TRANSFORM ${list} PREPEND "${CPP}/")
endforeach()

add_library(tcp OBJECT ${TCP_SOURCES})
target_link_libraries(tcp PUBLIC rdma-options ns3::internet)

add_executable(tcp-sim "${CPP}/tcp/tcp-sim.cc")
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set_target_properties(tcp tcp-sim PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
endif()
target_link_libraries(tcp-sim PRIVATE tcp rdma rdma-base)
set_target_properties(tcp-sim PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS tcp-sim RUNTIME_DEPENDENCY_SET brought DESTINATION ns3_env/bin)

# `cmake --build DIR --target tcp-tests`, then DIR/tcp-tests
add_executable(tcp-tests EXCLUDE_FROM_ALL ${TCP_TEST_SOURCES} "${CPP}/test/scenarios.cc"
                                          "${CPP}/test/test-runner.cc")
target_link_libraries(tcp-tests PRIVATE tcp rdma rdma-base)
compile_fast(tcp-tests tcp/episodes.h)
set_source_files_properties(
  "${CPP}/test/tcp/stock-test.cc" PROPERTIES COMPILE_DEFINITIONS TCP_STOCK_REPORTS="${CPP}/test/tcp/stock-reports.txt")

# ns-3's TCP as its own examples use it, to compare with: `cmake --build DIR --target tcp-plain-loop`
add_executable(tcp-plain-loop EXCLUDE_FROM_ALL "${CPP}/test/tcp_controllers/plain-loop.cc")
target_link_libraries(tcp-plain-loop PRIVATE ns3::internet ns3::point-to-point "${NS3_ROOT}/lib64/libns3.44-applications.so")
