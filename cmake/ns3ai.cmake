# Targets that speak ns3-ai's wire: a module with either end of a segment, and a keeper program.
# The keeper ends a foreign simulator with its Python.
# SPDX-License-Identifier: GPL-2.0-or-later
add_executable(ns3ai-keeper "${CPP}/ns3ai/keeper.cc")
target_link_libraries(ns3ai-keeper PRIVATE rdma-options)
install(TARGETS ns3ai-keeper DESTINATION ns3_env/bin)

# A module for each layout of segments, by BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI: that of Boost's releases up to 1.84, which
# distributions' ns-3 is built with, and that of newer ones.
function(add_ns3ai_module name layout)
  pybind11_add_module(
    ${name} "${CPP}/ns3ai/python-module.cc"
    "${CPP}/ns3ai/segment-end.cc" "${CPP}/channel/futex.cc")
  target_compile_definitions(${name} PRIVATE NS3AI_MODULE=${name})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD OFF)
  use_boost(${name} ${layout})
  install(TARGETS ${name} DESTINATION ns3_env)
endfunction()

function(use_boost target layout)
  target_include_directories(${target} SYSTEM PRIVATE "${BOOST_INCLUDE}")
  target_compile_definitions(${target} PRIVATE BOOST_INTERPROCESS_SEGMENT_MANAGER_ABI=${layout})
  target_link_libraries(${target} PRIVATE rdma-options rt)
endfunction()

add_ns3ai_module(_ns3ai 1)
add_ns3ai_module(_ns3ai_boost187 2)

# Stand-ins for the other ends, for tests/ns3ai: written from the wire's description, nothing of the above.
add_custom_target(ns3ai-foreign)
foreach(layout 1 2)
  set(simulator ns3ai-foreign-simulator-${layout})
  set(python ns3ai-foreign-python-${layout})
  add_executable(${simulator} EXCLUDE_FROM_ALL "${CPP}/test/ns3ai/foreign-simulator.cc")
  add_library(${python} MODULE EXCLUDE_FROM_ALL "${CPP}/test/ns3ai/foreign-python.cc")
  set_target_properties(${python} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  foreach(foreign ${simulator} ${python})
    use_boost(${foreign} ${layout})
    target_compile_options(${foreign} PRIVATE -O1) # quick to compile
    add_dependencies(ns3ai-foreign ${foreign})
  endforeach()
endforeach()
