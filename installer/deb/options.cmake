# SPDX-License-Identifier: Apache-2.0
# CPack reads this for each kind of package that it makes.
if(CPACK_GENERATOR STREQUAL "TGZ")
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
