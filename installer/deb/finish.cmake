# SPDX-License-Identifier: Apache-2.0
# CPack runs this between installing into a folder of its own and packing what is there.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    execute_process(
        COMMAND ${CMAKE_CURRENT_LIST_DIR}/finish ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr
            ${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}
            ${CPACK_PACKAGE_CONTACT}
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
