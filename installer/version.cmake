# SPDX-License-Identifier: Apache-2.0
# Which version this source is, for all that is made of it: X.Y.Z of the tag vX.Y.Z, X.Y.Z+5.gCOMMIT five commits after
# it, and without a tag that of project() in CMakeLists.txt. It asks git or, in an archive, installer/version.txt.
#
# include()d it defines lanescope_find_version(). A build runs it to write the source that programs have it from:
#   cmake -DOUTPUT=version.cpp -P installer/version.cmake
# Scripts run it to have "version X.Y.Z", "commit ...", "time ..." and "describe ..." on lines of their own, the last
# three as in installer/version.txt and empty if nobody knows:
#   cmake -P installer/version.cmake
set(LANESCOPE_SOURCE ${CMAKE_CURRENT_LIST_DIR}/..)

# Sets ${out} to what a git command prints, or to nothing.
function(_lanescope_ask_git out)
    execute_process(COMMAND git -c safe.directory=* -C ${LANESCOPE_SOURCE} ${ARGN}
        OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        set(text "")
    endif()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Sets LANESCOPE_VERSION, LANESCOPE_COMMIT (which says if there are changes that are in no commit), LANESCOPE_COMMIT_TIME
# (seconds since 1970) and LANESCOPE_DESCRIBE; all but the first may be empty.
function(lanescope_find_version)
    set(commit "")
    set(time "")
    set(describe "")
    if(EXISTS ${LANESCOPE_SOURCE}/.git)
        _lanescope_ask_git(commit rev-parse --verify --quiet HEAD)
        _lanescope_ask_git(time log -1 --format=%ct)
        _lanescope_ask_git(describe describe --tags --abbrev=12 --match=v[0-9]*.[0-9]*.[0-9]* --exclude=*[!v0-9.]*)
        _lanescope_ask_git(changes status --porcelain --untracked-files=no)
        if(changes)
            string(APPEND commit " with changes")
        endif()
    else()
        file(STRINGS ${LANESCOPE_SOURCE}/installer/version.txt lines)
        foreach(line IN LISTS lines)
            if(line MATCHES "^(commit|time|describe) ([^$]*)$")
                set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
            endif()
        endforeach()
    endif()

    if(describe MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)(-([0-9]+)-(g[0-9a-f]+))?$")
        set(version ${CMAKE_MATCH_1})
        if(CMAKE_MATCH_2)
            string(APPEND version "+${CMAKE_MATCH_3}.${CMAKE_MATCH_4}")
        endif()
    else()
        file(STRINGS ${LANESCOPE_SOURCE}/CMakeLists.txt line REGEX "^project\\(lanescope VERSION ")
        string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${line}")
    endif()
    set(LANESCOPE_VERSION ${version} PARENT_SCOPE)
    set(LANESCOPE_COMMIT "${commit}" PARENT_SCOPE)
    set(LANESCOPE_COMMIT_TIME "${time}" PARENT_SCOPE)
    set(LANESCOPE_DESCRIBE "${describe}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    lanescope_find_version()
    if(OUTPUT)
        # Keeps the file as it is if it says the same.
        configure_file(${LANESCOPE_SOURCE}/model/format/version.cpp.in ${OUTPUT} @ONLY)
    else()
        execute_process(COMMAND ${CMAKE_COMMAND} -E echo "version ${LANESCOPE_VERSION}
commit ${LANESCOPE_COMMIT}
time ${LANESCOPE_COMMIT_TIME}
describe ${LANESCOPE_DESCRIBE}")
    endif()
endif()
