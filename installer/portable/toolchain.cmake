# SPDX-License-Identifier: Apache-2.0
# Compiles for the machine LANESCOPE_MACHINE (x86_64 or aarch64) on either, with the compiler that
# installer/portable/fetch fetched: against glibc 2.28, or for macOS if LANESCOPE_SYSTEM is Darwin. libc++ and all other
# libraries are linked into the programs.
if(NOT LANESCOPE_SYSTEM)
    set(LANESCOPE_SYSTEM Linux)
endif()
set(CMAKE_SYSTEM_NAME ${LANESCOPE_SYSTEM})
set(CMAKE_SYSTEM_PROCESSOR ${LANESCOPE_MACHINE})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LANESCOPE_MACHINE LANESCOPE_SYSTEM)

get_filename_component(_root ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(_zig ${_root}/.cache/portable/zig/ziglang/zig)
if(LANESCOPE_SYSTEM STREQUAL Darwin)
    set(_target -target ${LANESCOPE_MACHINE}-macos)
    # The compiler brings what CMake would look for in Xcode.
    set(CMAKE_OSX_SYSROOT "")
else()
    set(_target -target ${LANESCOPE_MACHINE}-linux-gnu.2.28)
    set(CMAKE_EXE_LINKER_FLAGS_INIT "-s -pie")
    set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
endif()
set(CMAKE_C_COMPILER ${_zig} cc ${_target})
set(CMAKE_CXX_COMPILER ${_zig} c++ ${_target})
foreach(_language C CXX)
    # No path of this machine may get into the programs, and nothing of the kind that the date changes.
    set(CMAKE_${_language}_FLAGS_INIT "-ffile-prefix-map=\"${_root}\"=. -Wdate-time")
    set(CMAKE_${_language}_ARCHIVE_CREATE "\"${_zig}\" ar qcD <TARGET> <OBJECTS>")
    set(CMAKE_${_language}_ARCHIVE_APPEND "\"${_zig}\" ar qD <TARGET> <OBJECTS>")
    set(CMAKE_${_language}_ARCHIVE_FINISH "\"${_zig}\" ranlib -D <TARGET>")
endforeach()

# Nothing of the machine that builds.
set(CMAKE_FIND_ROOT_PATH ${_root}/.cache/portable/none)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
