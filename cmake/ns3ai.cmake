# What is built to speak ns3-ai's wire? A module with either end of a segment, where Boost's headers are at hand, and the
# program that ends a foreign simulator with its Python.
# SPDX-License-Identifier: GPL-2.0-or-later
add_executable(ns3ai-keeper "${RDMA}/bridge/ns3ai/keeper.cc")
target_link_libraries(ns3ai-keeper PRIVATE rdma-options)
install(TARGETS ns3ai-keeper DESTINATION ns3_env/bin)

if(NOT BOOST_INCLUDE)
  find_path(BOOST_INCLUDE boost/interprocess/managed_shared_memory.hpp)
endif()
if(NOT BOOST_INCLUDE)
  message(STATUS "No Boost headers (cmeel-boost has them): built without ns3_env.ns3ai")
  return()
endif()

pybind11_add_module(
  _ns3ai "${RDMA}/bridge/ns3ai/byte-semaphore.cc" "${RDMA}/bridge/ns3ai/python-module.cc"
  "${RDMA}/bridge/ns3ai/segment-end.cc" "${RDMA}/bridge/adaptive-spin.cc" "${RDMA}/bridge/futex.cc")
target_include_directories(_ns3ai SYSTEM PRIVATE "${BOOST_INCLUDE}")
# The layout of segments that every Boost before 1.88 has, and so what distributions' ns-3 is built with.
target_compile_definitions(_ns3ai PRIVATE BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI=1)
target_link_libraries(_ns3ai PRIVATE rdma-options rt)
install(TARGETS _ns3ai DESTINATION ns3_env)
