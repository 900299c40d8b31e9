# The library of RDMA's objects for ns-3 scripts, and what a script needs to be built: headers, ns-3's libraries.
# SPDX-License-Identifier: GPL-2.0-or-later
set(NS3MODULE_DIR "${CPP}/rdma/ns3module")
file(GLOB NS3MODULE_SOURCES CONFIGURE_DEPENDS "${NS3MODULE_DIR}/*.cc")
set(NS3MODULE_HEADERS rdma-application.h rdma-channel.h rdma-fat-tree-helper.h rdma-helper.h rdma-module.h
    rdma-net-device.h rdma-network.h)

add_library(ns3_env-rdma SHARED ${NS3MODULE_SOURCES})
target_link_libraries(ns3_env-rdma PRIVATE rdma rdma-base ns3::network)
# A script sees the module's classes and the contract of controllers; all else is as optimised as in a program.
set(NS3MODULE_SYMBOLS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/ns3module-symbols.txt")
target_link_options(ns3_env-rdma PRIVATE "LINKER:--version-script=${NS3MODULE_SYMBOLS}")
set_property(TARGET ns3_env-rdma APPEND PROPERTY LINK_DEPENDS "${NS3MODULE_SYMBOLS}")
if(CMAKE_BUILD_TYPE STREQUAL Release)
  set_target_properties(ns3_env-rdma PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
endif()
set_target_properties(ns3_env-rdma PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ns3_env-rdma RUNTIME_DEPENDENCY_SET brought LIBRARY DESTINATION ns3_env/lib)

# The modules of ns-3 that scripts are built with, headers and libraries (docs/ns3.md).
set(SCRIPT_MODULES core stats network bridge traffic-control internet point-to-point applications flow-monitor)
foreach(module ${SCRIPT_MODULES})
  list(APPEND headers "${NS3_ROOT}/include/ns3/${module}-module.h")
  list(APPEND SCRIPT_LIBRARIES "${NS3_ROOT}/lib64/libns3.44-${module}.so")
endforeach()
while(headers) # and what they include
  list(POP_FRONT headers header)
  list(APPEND SCRIPT_HEADERS "${header}")
  file(STRINGS "${header}" includes REGEX "#include [<\"].*\\.h[>\"]")
  list(TRANSFORM includes REPLACE "^.*#include [<\"](ns3/)?([^>\"]*)[>\"].*$" "${NS3_ROOT}/include/ns3/\\2")
  foreach(include ${includes})
    if(NOT include IN_LIST SCRIPT_HEADERS AND NOT include IN_LIST headers AND EXISTS "${include}")
      list(APPEND headers "${include}")
    endif()
  endforeach()
endwhile()
install(FILES ${SCRIPT_HEADERS} DESTINATION ns3_env/include/ns3)
install(FILES ${SCRIPT_LIBRARIES} DESTINATION ns3_env/lib)
list(TRANSFORM NS3MODULE_HEADERS PREPEND "${NS3MODULE_DIR}/")
install(FILES ${NS3MODULE_HEADERS} DESTINATION ns3_env/include/ns3)
