// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::fuzz {

/// From now on SQLite takes its memory past the sanitizer, which is several times as quick: it is
/// not what is fuzzed, and allocates for most of the time that a small file takes. Call it before
/// SQLite is used. What is read beyond a text of SQLite's is seen in the tests, which do not call
/// it and are given the same corpus.
void keepSqliteFromSanitizer();

}  // namespace lanescope::fuzz
