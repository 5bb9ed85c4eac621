// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

struct sqlite3;

namespace lanescope {

/// Prepares a connection for SQL of the user on an untrusted file: limits, no views, no triggers,
/// no virtual tables but those for JSON, no writing.
void hardenForQueries(sqlite3* database);

/// Makes `database` refuse everything but reading during its lifetime. The statement `sql` is
/// prepared in that time. `sql` must outlive it.
class ReadingOnly {
  public:
    ReadingOnly(sqlite3* database, std::string_view sql);
    ReadingOnly(const ReadingOnly&) = delete;
    ReadingOnly& operator=(const ReadingOnly&) = delete;
    ~ReadingOnly();

    /// Returns the first refused action as a sentence, or an empty text.
    const std::string& refusal() const { return refusal_; }

  private:
    static int decide(void* self, int action, const char* first, const char* second, const char* schema,
                      const char* view);
    bool isAllowed(int action, const char* first, const char* second);

    sqlite3* database_;
    std::string_view sql_;
    std::string refusal_;
};

}  // namespace lanescope
