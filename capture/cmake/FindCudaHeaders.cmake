# SPDX-License-Identifier: Apache-2.0
# Finds the headers of CUPTI, NVTX and NVML. Only headers: the agent opens the libraries at run time.
#
# Looks in, first hit wins:
#   LANESCOPE_CUDA_HEADERS_DIR   a folder given by the user
#   .cache/cuda-headers/include  what installer/setup fetched
#   a CUDA toolkit               $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, with or without extras/CUPTI
#
# Makes:
#   LANESCOPE_HAVE_CUPTI         TRUE when CUPTI was asked for and usable headers were found
#   lanescope_cupti_headers      INTERFACE target: cupti.h and the CUDA headers that it includes; its property
#                                LANESCOPE_API_VERSION is the version that they say they are of, as 130001, or 0
#   lanescope_nvtx_headers       INTERFACE target: nvtx3/nvToolsExt.h with the payload extension;
#                                without them there is no agent, and configuring stops
#   LANESCOPE_HAVE_NVML_HEADER   TRUE when nvml.h was found; only a test needs it
#   lanescope_nvml_header        INTERFACE target: nvml.h

include_guard(GLOBAL)
set(LANESCOPE_CUDA_HEADERS_DIR "" CACHE PATH "Folder that holds cupti.h, cuda.h and nvtx3/")

# The record layouts we name appeared in CUPTI 13.0. The headers may be newer than the driver: the
# agent asks the library it finds at run time for its version.
set(_lanescope_oldest_cupti 130000)

set(_lanescope_cuda_roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
set(_lanescope_header_dirs ${LANESCOPE_CUDA_HEADERS_DIR} ${PROJECT_SOURCE_DIR}/.cache/cuda-headers/include)
foreach(_root IN LISTS _lanescope_cuda_roots)
    list(APPEND _lanescope_header_dirs ${_root}/include ${_root}/targets/x86_64-linux/include
        ${_root}/targets/sbsa-linux/include)
endforeach()

# Sets `out` to the include folders of the first usable CUPTI, or to nothing, and _lanescope_api_version to its version.
function(_lanescope_find_cupti out)
    set(${out} "" PARENT_SCOPE)
    set(_lanescope_api_version 0 PARENT_SCOPE)
    foreach(dir IN LISTS _lanescope_header_dirs)
        if(NOT EXISTS ${dir}/cuda.h)
            continue()
        endif()
        foreach(cupti_dir ${dir} ${dir}/../extras/CUPTI/include ${dir}/../../../extras/CUPTI/include)
            if(NOT EXISTS ${cupti_dir}/cupti.h OR NOT EXISTS ${cupti_dir}/cupti_version.h)
                continue()
            endif()
            file(STRINGS ${cupti_dir}/cupti_version.h line REGEX "define +CUPTI_API_VERSION +[0-9]+")
            string(REGEX MATCH "CUPTI_API_VERSION +([0-9]+)" line "${line}")
            if(CMAKE_MATCH_1 GREATER_EQUAL _lanescope_oldest_cupti)
                set(_lanescope_api_version ${CMAKE_MATCH_1} PARENT_SCOPE)
                get_filename_component(cupti_dir ${cupti_dir} ABSOLUTE)
                set(dirs ${cupti_dir} ${dir})
                list(REMOVE_DUPLICATES dirs)
                set(${out} "${dirs}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
    endforeach()
endfunction()

_lanescope_find_cupti(_lanescope_cupti_dirs)
add_library(lanescope_cupti_headers INTERFACE)
set_property(TARGET lanescope_cupti_headers PROPERTY LANESCOPE_API_VERSION ${_lanescope_api_version})
set(LANESCOPE_HAVE_CUPTI FALSE)
if(NOT LANESCOPE_WITH_CUPTI)
    message(STATUS "CUPTI: switched off, the agent will record no CUDA activity")
elseif(_lanescope_cupti_dirs)
    set(LANESCOPE_HAVE_CUPTI TRUE)
    target_include_directories(lanescope_cupti_headers SYSTEM INTERFACE ${_lanescope_cupti_dirs})
    message(STATUS "CUPTI: headers in ${_lanescope_cupti_dirs}")
else()
    message(WARNING "CUPTI: no headers of version 13.0 or newer were found, so the agent will record "
        "no CUDA activity; run installer/setup, or set LANESCOPE_CUDA_HEADERS_DIR.")
endif()

# The payload extension, which NCCL's ranges use, is missing in the NVTX of older toolkits.
add_library(lanescope_nvtx_headers INTERFACE)
set(_lanescope_nvtx_dir "")
foreach(_dir IN LISTS _lanescope_header_dirs)
    if(EXISTS ${_dir}/nvtx3/nvToolsExtPayload.h)
        set(_lanescope_nvtx_dir ${_dir})
        break()
    endif()
endforeach()
if(NOT _lanescope_nvtx_dir)
    message(FATAL_ERROR "NVTX: no headers with the payload extension were found; run installer/setup, set "
        "LANESCOPE_CUDA_HEADERS_DIR, or leave out recording with -DLANESCOPE_BUILD_CAPTURE=OFF.")
endif()
target_include_directories(lanescope_nvtx_headers SYSTEM INTERFACE ${_lanescope_nvtx_dir})
message(STATUS "NVTX: headers in ${_lanescope_nvtx_dir}")

add_library(lanescope_nvml_header INTERFACE)
set(LANESCOPE_HAVE_NVML_HEADER FALSE)
foreach(_dir IN LISTS _lanescope_header_dirs)
    if(EXISTS ${_dir}/nvml.h)
        set(LANESCOPE_HAVE_NVML_HEADER TRUE)
        target_include_directories(lanescope_nvml_header SYSTEM INTERFACE ${_dir})
        message(STATUS "NVML: header in ${_dir}")
        break()
    endif()
endforeach()
if(BUILD_TESTING AND NOT LANESCOPE_HAVE_NVML_HEADER)
    message(STATUS "NVML: no nvml.h was found, so our own declarations of it go untested; run installer/setup")
endif()
