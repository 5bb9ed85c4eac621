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

/// How the text of a search is meant.
enum class PatternKind {
    Substring,   ///< Stands anywhere in the name.
    Expression,  ///< A regular expression, as RE2 understands them, that matches anywhere in it.
};

/// What a name is searched for, without regard to the case of letters. Matching takes time linear
/// in the name, whatever the expression. Any thread may match.
class NamePattern {
  public:
    /// The error is a sentence on what is wrong with an expression.
    static Result<NamePattern> compile(std::string_view text, PatternKind kind);

    bool matches(std::string_view name) const;

  private:
    std::string lowered_;  // of a substring
    std::shared_ptr<const re2::RE2> expression_;
};

/// Which names of a trace a pattern matches. A name is tested when first asked for, and once.
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
    /// By the short or the demangled name of its kernel.
    bool isConfigHit(uint32_t config);
    /// As "HtoD" and as "memcpy HtoD".
    bool isHit(MemcpyKind kind) const { return memcpys_[static_cast<size_t>(kind)]; }
    bool isMemsetHit() const { return isMemsetHit_; }
    /// A text that is made, not stored.
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
