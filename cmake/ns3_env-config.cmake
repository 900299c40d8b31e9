# Package for plugins of rdma-sim and for ns-3 scripts: ns3_env_add_plugin(NAME SOURCE...), and the target ns3_env::rdma.
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

# RDMA in ns-3 scripts, with ns-3's modules (docs/ns3.md): target_link_libraries(NAME PRIVATE ns3_env::rdma).
get_filename_component(ns3_env_LIBRARY_DIR "${CMAKE_CURRENT_LIST_DIR}/../lib" ABSOLUTE)
if(NOT TARGET ns3_env::rdma AND EXISTS "${ns3_env_LIBRARY_DIR}/libns3_env-rdma.so")
  add_library(ns3_env::rdma SHARED IMPORTED)
  set_target_properties(ns3_env::rdma PROPERTIES IMPORTED_LOCATION "${ns3_env_LIBRARY_DIR}/libns3_env-rdma.so")
  file(GLOB ns3_env_MODULES "${ns3_env_LIBRARY_DIR}/libns3.*.so")
  target_link_libraries(ns3_env::rdma INTERFACE ns3_env::contract -Wl,--as-needed ${ns3_env_MODULES})
  target_link_options(ns3_env::rdma INTERFACE "LINKER:-rpath,${ns3_env_LIBRARY_DIR}")
endif()
