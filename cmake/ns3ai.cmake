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
# The layout of segments that every Boost up to 1.84 has, and so what distributions' ns-3 is built with.
target_compile_definitions(_ns3ai PRIVATE BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI=1)
target_link_libraries(_ns3ai PRIVATE rdma-options rt)
install(TARGETS _ns3ai DESTINATION ns3_env)

# Stand-ins for the other ends, for tests/test_ns3ai_*.py: written from the wire's description, nothing of the above.
add_executable(ns3ai-foreign-simulator EXCLUDE_FROM_ALL "${RDMA}/test/ns3ai/foreign-simulator.cc")
add_library(ns3ai-foreign-python MODULE EXCLUDE_FROM_ALL "${RDMA}/test/ns3ai/foreign-python.cc")
set_target_properties(ns3ai-foreign-python PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
foreach(foreign ns3ai-foreign-simulator ns3ai-foreign-python)
  target_include_directories(${foreign} SYSTEM PRIVATE "${BOOST_INCLUDE}")
  target_compile_definitions(${foreign} PRIVATE BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI=1)
  target_compile_options(${foreign} PRIVATE -O1) # quick to compile
  target_link_libraries(${foreign} PRIVATE rdma-options rt)
endforeach()
