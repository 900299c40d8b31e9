# The contract that a plugin must agree with (headers' hash, ns-3's version), and its installation.
# SPDX-License-Identifier: GPL-2.0-or-later
set(CONTRACT_DIR "${CMAKE_CURRENT_SOURCE_DIR}/ns3_env/cpp/contract")
file(GLOB CONTRACT_HEADERS CONFIGURE_DEPENDS "${CONTRACT_DIR}/*.h")
list(SORT CONTRACT_HEADERS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CONTRACT_HEADERS})
foreach(header ${CONTRACT_HEADERS})
  get_filename_component(name "${header}" NAME)
  file(SHA256 "${header}" hash)
  string(APPEND contract "${name} ${hash}\n")
endforeach()
string(SHA256 contract "${contract}")
string(SUBSTRING "${contract}" 0 12 CONTRACT_HASH)

get_target_property(ns3_core ns3::core IMPORTED_LOCATION)
string(REGEX REPLACE "^.*/libns([0-9.]+)-core\\.so$" "\\1" CONTRACT_NS3_VERSION "${ns3_core}")

set(CONTRACT_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/include")
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/contract-id.h.in"
               "${CONTRACT_GENERATED}/ns3_env/cpp/contract/contract-id.h" @ONLY)
target_include_directories(rdma-options INTERFACE "${CONTRACT_GENERATED}")

# The contract's symbols, and no others: all else of the simulator stays as optimised as in a program without plugins.
set(CONTRACT_SYMBOLS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/contract-symbols.txt")
function(export_contract program)
  target_link_options(${program} PRIVATE "LINKER:--dynamic-list=${CONTRACT_SYMBOLS}")
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS "${CONTRACT_SYMBOLS}")
endfunction()

# A plugin needs no other package: ns-3's core, which rdma-sim has loaded, comes with its headers.
set(CORE_MODULE "${NS3_ROOT}/include/ns3/core-module.h")
file(STRINGS "${CORE_MODULE}" core_headers REGEX "#include <ns3/.*>")
list(TRANSFORM core_headers REPLACE "^.*#include <(ns3/.*)>.*$" "${NS3_ROOT}/include/\\1")
install(FILES "${CORE_MODULE}" ${core_headers} DESTINATION ns3_env/include/ns3)
install(FILES ${CONTRACT_HEADERS} "${CONTRACT_GENERATED}/ns3_env/cpp/contract/contract-id.h"
        DESTINATION ns3_env/include/ns3_env/cpp/contract)
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/cmake/ns3_env-config.cmake" DESTINATION ns3_env/cmake)
