// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "model/format/ByteSource.h"
#include "model/load/inspector/InspectorRecords.h"

namespace lanescope {

/// Finds the objects in a stream of lines that nobody vouches for: they may stand one behind
/// another or over several lines, be damaged or cut, and have lines of text between them. What is
/// kept of the stream is bounded.
class InspectorScanner {
  public:
    /// Both are kept as long as this.
    InspectorScanner(InspectorRecords& records, InspectorFile& file)
        : records_(records), file_(file) {}

    /// Reads all, or `mostBytes`. Fails if no byte can be read, and once `isWanted` says no.
    /// Linear.
    Result<void> read(const ByteSource& source, const std::function<bool()>& isWanted,
                      uint64_t mostBytes);

  private:
    /// How many bytes of the text need not come again; what is left comes with what follows it.
    size_t scan(std::string_view text, bool isLast);
    /// Where to go on behind an object at `at` that is none.
    size_t behindDamage(std::string_view text, size_t at, bool isCut, bool isLast);
    void countLines(std::string_view text, size_t until);

    InspectorRecords& records_;
    InspectorFile& file_;
    int64_t line_ = 1;       ///< Of `counted_`.
    size_t counted_ = 0;     ///< Up to where in the text lines were counted.
    bool isInLine_ = false;  ///< The text begins in a line that is left out, and was counted.
};

}  // namespace lanescope
