// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/sqliteMemory.h"

#include <sqlite3.h>

#include <cstddef>
#include <new>

#include "tests/fuzz/targets/targets.h"

// The C library's own functions, below any replacement of their usual names.
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* __libc_realloc(void* memory, size_t bytes);
extern "C" void __libc_free(void* memory);

namespace lanescope::fuzz {

namespace {

/// Header of each block, sized so that SQLite's memory is aligned to eight bytes.
struct Header {
    alignas(16) int bytes;
};

void* blockOf(void* memory, int bytes) { return memory == nullptr ? nullptr : ::new (memory) Header{bytes} + 1; }

Header* before(void* piece) { return static_cast<Header*>(piece) - 1; }

void* take(int bytes) { return blockOf(__libc_malloc(static_cast<size_t>(bytes) + sizeof(Header)), bytes); }

void give(void* piece) {
    if (piece != nullptr) __libc_free(before(piece));
}

void* resize(void* piece, int bytes) {
    return blockOf(__libc_realloc(before(piece), static_cast<size_t>(bytes) + sizeof(Header)), bytes);
}

int sizeOf(void* piece) { return piece == nullptr ? 0 : before(piece)->bytes; }

}  // namespace

void keepSqliteFromSanitizer() {
    constexpr int multiple = 8;
    static const sqlite3_mem_methods methods{&take,
                                             &give,
                                             &resize,
                                             &sizeOf,
                                             [](int bytes) { return (bytes + multiple - 1) / multiple * multiple; },
                                             [](void*) { return SQLITE_OK; },
                                             [](void*) {},
                                             nullptr};
    require(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK &&
                sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK,
            "SQLite was used before.");
}

}  // namespace lanescope::fuzz
