// SPDX-License-Identifier: Apache-2.0
#include "tests/support/openForWriting.h"

#include <sqlite3.h>

namespace lanescope {

Result<Database> openForWriting(const std::filesystem::path& path) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database = Database::adopt(raw, path.string());
    if (code != SQLITE_OK) return fail("Cannot open {}: {}.", path.string(), sqlite3_errstr(code));
    return database;
}

}  // namespace lanescope
