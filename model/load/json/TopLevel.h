// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace lanescope {

/// What stands in a trace beside its events, by name: as it stands in the file, texts as they are
/// meant.
using TopLevelFacts = std::map<std::string, std::string, std::less<>>;

/// Reads what surrounds the arrays of events of a trace: members of an object, or nothing where the
/// trace is a bare array. Takes text as it comes.
class TopLevel {
  public:
    enum class Next {
        More,    ///< The text ends within a member.
        Events,  ///< An array of events begins.
        End      ///< The trace ends.
    };
    struct Progress {
        Next next = Next::More;
        size_t taken = 0;  ///< Of the text; what is left comes again with what follows it.
    };

    /// Reads on. `isLast`: nothing follows the text. Linear.
    Progress read(std::string_view text, bool isLast);
    /// Whether the object, or the bare array, was closed.
    bool isClosed() const { return isClosed_; }
    bool isDamaged() const { return isDamaged_; }
    const TopLevelFacts& facts() const { return facts_; }

  private:
    void keep(std::string_view key, std::string_view value, bool isText);

    bool isBegun_ = false;
    bool isBareArray_ = false;
    bool isClosed_ = false;
    bool isDamaged_ = false;
    size_t keptBytes_ = 0;
    TopLevelFacts facts_;
};

}  // namespace lanescope
