# Installation step: the package's copies of ns-3's libraries no longer name GSL, of which they use no symbol (docs/licences.md).
# SPDX-License-Identifier: GPL-2.0-or-later
find_program(PATCHELF patchelf REQUIRED)
file(GLOB libraries "${CMAKE_INSTALL_PREFIX}/ns3_env/lib/libns3*.so")
foreach(library ${libraries})
  execute_process(COMMAND "${PATCHELF}" --print-needed "${library}" OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "libgsl[^\n]*" names "${needed}")
  foreach(name ${names})
    execute_process(COMMAND "${PATCHELF}" --remove-needed "${name}" "${library}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
