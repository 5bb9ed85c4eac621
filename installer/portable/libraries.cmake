# SPDX-License-Identifier: Apache-2.0
# Answers find_package() with the libraries that installer/portable/fetch fetched, made as part of the build. Threads
# is left to CMake.
get_filename_component(LANESCOPE_FETCHED ${CMAKE_CURRENT_LIST_DIR}/../../.cache/portable/sources ABSOLUTE)

function(lanescope_add_fetched_libraries)
    include_directories(SYSTEM ${LANESCOPE_FETCHED}/headers/usr/include)
    add_library(lanescope_fetched_sqlite STATIC ${LANESCOPE_FETCHED}/sqlite/sqlite3.c)
    target_include_directories(lanescope_fetched_sqlite SYSTEM PUBLIC ${LANESCOPE_FETCHED}/sqlite)
    target_compile_definitions(lanescope_fetched_sqlite PRIVATE SQLITE_THREADSAFE=1 SQLITE_ENABLE_COLUMN_METADATA
        SQLITE_ENABLE_MATH_FUNCTIONS HAVE_FDATASYNC HAVE_LOCALTIME_R HAVE_USLEEP)
    target_link_libraries(lanescope_fetched_sqlite PUBLIC m ${CMAKE_DL_LIBS})
    add_library(SQLite::SQLite3 ALIAS lanescope_fetched_sqlite)

    set(zlib adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr
        zutil)
    list(TRANSFORM zlib PREPEND ${LANESCOPE_FETCHED}/zlib/)
    list(TRANSFORM zlib APPEND .c)
    add_library(lanescope_fetched_zlib STATIC ${zlib})
    target_include_directories(lanescope_fetched_zlib SYSTEM PUBLIC ${LANESCOPE_FETCHED}/zlib)
    target_compile_definitions(lanescope_fetched_zlib PRIVATE HAVE_UNISTD_H HAVE_STDARG_H)
    add_library(ZLIB::ZLIB ALIAS lanescope_fetched_zlib)

    # Only what unpacks, and of that only what is C.
    set(zstd common/debug common/entropy_common common/error_private common/fse_decompress common/xxhash
        common/zstd_common decompress/huf_decompress decompress/zstd_ddict decompress/zstd_decompress
        decompress/zstd_decompress_block)
    list(TRANSFORM zstd PREPEND ${LANESCOPE_FETCHED}/zstd/)
    list(TRANSFORM zstd APPEND .c)
    add_library(lanescope_fetched_zstd STATIC ${zstd})
    target_include_directories(lanescope_fetched_zstd SYSTEM PUBLIC ${LANESCOPE_FETCHED}/zstd)
    target_compile_definitions(lanescope_fetched_zstd PRIVATE ZSTD_DISABLE_ASM ZSTD_LEGACY_SUPPORT=0)
    # The name that Debian's package gives it.
    add_library(zstd::libzstd_shared ALIAS lanescope_fetched_zstd)

    # This clang does not take the way in which fmt 10 checks its own formats at compile time.
    add_library(lanescope_fetched_fmt STATIC ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fmt.cpp)
    target_compile_features(lanescope_fetched_fmt PRIVATE cxx_std_20)
    target_compile_definitions(lanescope_fetched_fmt PUBLIC FMT_CONSTEVAL=)
    add_library(fmt::fmt ALIAS lanescope_fetched_fmt)

    foreach(name CLI11::CLI11 nlohmann_json::nlohmann_json)
        add_library(${name} INTERFACE IMPORTED GLOBAL)
    endforeach()
endfunction()

# Here no target can be made yet: no compiler is known.
macro(lanescope_provide method name)
    if("${name}" MATCHES "^(fmt|SQLite3|ZLIB|zstd|CLI11|nlohmann_json)$")
        if(NOT TARGET fmt::fmt)
            lanescope_add_fetched_libraries()
        endif()
        set(${name}_FOUND TRUE)
    endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER lanescope_provide SUPPORTED_METHODS FIND_PACKAGE)
