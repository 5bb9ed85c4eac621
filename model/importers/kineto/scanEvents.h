// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/importers/events/ImportedChunk.h"
#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

/// The end position of the scan of a piece of an array of events.
struct ScanEnd {
    /// After the last complete event or after the end of the array.
    size_t at = 0;
    bool isArrayEnd = false;
};

/// Scans a piece of an array of events that begins between two events or within corrupt text. Corrupt text is skipped
/// up to the next event and recorded. An event that the piece truncates is not read. If `isLast`, the truncated event
/// is corrupt, too. The chunk contains views of `text`. O(length).
ScanEnd scanEvents(std::string_view text, bool isLast, ImportedChunk& chunk);

/// Returns the start of the last event that begins in the last 64 KiB of `text`, judged without the
/// text before. Returns its size if none does.
size_t lastEventStart(std::string_view text);

/// Reads the text around the arrays of events of a trace: members of an object, or nothing if the
/// trace is a bare array. Accepts the text in pieces.
class TopLevel {
  public:
    enum class Next {
        More,    ///< The text ends within a member.
        Events,  ///< An array of events begins.
        End      ///< The trace ends.
    };
    struct Progress {
        Next next = Next::More;
        size_t taken = 0;  ///< The rest is passed again with the following text.
    };

    /// Reads on. `isLast` means that no text follows. O(length).
    Progress read(std::string_view text, bool isLast);
    bool isClosed() const { return isClosed_; }
    bool isCorrupt() const { return isCorrupt_; }
    const TopLevelFacts& facts() const { return facts_; }

  private:
    void keep(std::string_view key, std::string_view value, bool isText);

    bool isBegun_ = false;
    bool isBareArray_ = false;
    bool isClosed_ = false;
    bool isCorrupt_ = false;
    size_t keptBytes_ = 0;
    TopLevelFacts facts_;
};

}  // namespace lanescope
