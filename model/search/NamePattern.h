// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace re2 {
class RE2;
}

namespace lanescope {

enum class PatternKind {
    Substring,   ///< Anywhere in the name.
    Expression,  ///< A regular expression of RE2, which matches anywhere in the name.
};

/// A search pattern for names that ignores case. Matching is O(length of the name) for any
/// expression. Any thread may match.
class NamePattern {
  public:
    /// The error is a sentence about the expression.
    static Result<NamePattern> compile(std::string_view text, PatternKind kind);

    bool matches(std::string_view name) const;

  private:
    std::string lowered_;  // of a substring
    std::shared_ptr<const re2::RE2> expression_;
};

/// Match results for the names of a trace. Each name is tested at most once, on demand.
class NameTests {
  public:
    NameTests(const Trace& trace, const NamePattern& pattern);

    bool isHit(StringIndex name) {
        if (name >= names_.size()) [[unlikely]]
            return false;
        uint8_t& state = names_[name];
        if (state == unknown) state = pattern_.matches(trace_.strings.at(name)) ? hit : miss;
        return state == hit;
    }
    /// Returns true if the short or demangled name of the kernel matches.
    bool isConfigHit(uint32_t config);
    /// Matches "HtoD" and "memcpy HtoD".
    bool isHit(MemcpyKind kind) const { return memcpys_[static_cast<size_t>(kind)]; }
    bool isMemsetHit() const { return isMemsetHit_; }
    bool isHit(std::string_view text) const { return pattern_.matches(text); }

  private:
    static constexpr uint8_t unknown = 0, miss = 1, hit = 2;

    const Trace& trace_;
    const NamePattern& pattern_;
    std::vector<uint8_t> names_, configs_;
    bool memcpys_[memcpyKindCount] = {};
    bool isMemsetHit_ = false;
};

}  // namespace lanescope
