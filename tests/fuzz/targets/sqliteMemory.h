// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::fuzz {

/// Makes SQLite allocate without the sanitizer, which is several times as fast: SQLite is not fuzzed, and allocates
/// during most of the time of a small file. Call it before SQLite is used. Reads beyond a text of SQLite are detected
/// in the tests, which do not call it and use the same corpus.
void keepSqliteFromSanitizer();

}  // namespace lanescope::fuzz
