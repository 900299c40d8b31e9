# Package for plugins of rdma-sim: find_package(ns3_env CONFIG), ns3_env_add_plugin(NAME SOURCE...).
# SPDX-License-Identifier: GPL-2.0-or-later
get_filename_component(ns3_env_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
foreach(header ns3_env/cpp/contract/congestion-control.h ns3/object.h)
  if(NOT EXISTS "${ns3_env_INCLUDE_DIR}/${header}")
    set(ns3_env_FOUND FALSE)
    set(ns3_env_NOT_FOUND_MESSAGE "${ns3_env_INCLUDE_DIR} has no ${header}: install the package again")
    return()
  endif()
endforeach()

if(NOT TARGET ns3_env::contract)
  add_library(ns3_env::contract INTERFACE IMPORTED) # imported: its headers are a system's, with no warnings of theirs
  set_target_properties(
    ns3_env::contract
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${ns3_env_INCLUDE_DIR}"
               INTERFACE_COMPILE_DEFINITIONS "__LINUX__;NS3_BUILD_PROFILE_RELEASE"
               INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()

# NAME.so of the sources: what `rdma-sim --plugin` loads. What it does not define is the simulator's and ns-3's.
function(ns3_env_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE ns3_env::contract)
  target_compile_options(${name} PRIVATE $<$<CONFIG:>:-O2>)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" CXX_EXTENSIONS OFF)
endfunction()
