// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

struct sqlite3;

namespace lanescope {

/// Makes a connection fit for SQL that somebody typed, on a file that nobody vouches for: limits,
/// no views, no triggers, no virtual tables but those that read JSON, nothing that writes.
void hardenForQueries(sqlite3* database);

/// While it lives, `database` refuses everything but reading. One statement is prepared under it,
/// `sql`, which outlives it.
class ReadingOnly {
  public:
    ReadingOnly(sqlite3* database, std::string_view sql);
    ReadingOnly(const ReadingOnly&) = delete;
    ReadingOnly& operator=(const ReadingOnly&) = delete;
    ~ReadingOnly();

    /// What was refused first, as a sentence; empty if nothing was.
    const std::string& refusal() const { return refusal_; }

  private:
    static int decide(void* self, int action, const char* first, const char* second,
                      const char* schema, const char* view);
    bool isAllowed(int action, const char* first, const char* second);

    sqlite3* database_;
    std::string_view sql_;
    std::string refusal_;
};

}  // namespace lanescope
