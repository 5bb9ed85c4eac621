// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/importers/events/ForeignChunk.h"
#include "model/importers/events/ForeignFile.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

/// Where the scan of a piece of an array of events ended.
struct ScanEnd {
    /// Behind the last whole event, or behind the end of the array.
    size_t at = 0;
    bool isArrayEnd = false;
};

/// Scans a piece of an array of events that begins between two of them, or amid what is damaged.
/// What is damaged is passed over up to where an event begins again, and noted. An event that the
/// piece ends within is not taken; if `isLast`, nothing comes after it, and it is damaged, too.
/// The chunk holds views of `text`. Linear in the text.
ScanEnd scanEvents(std::string_view text, bool isLast, ScannedChunk& chunk);

/// Where the last event of `text` begins that does so in its last 64 KiB, as far as one can tell
/// without reading all before it; its size if none does.
size_t lastEventStart(std::string_view text);

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
