// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/format/Result.h"

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

}  // namespace lanescope
