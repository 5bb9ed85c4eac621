// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/build/TraceBuilder.h"
#include "model/load/inspector/InspectorFile.h"

namespace lanescope {

/// Takes the records of a file in their order.
class InspectorRecords {
  public:
    /// Both are kept as long as this.
    InspectorRecords(TraceBuilder& builder, InspectorFile& file) : builder_(builder), file_(file) {}

    /// A whole object of JSON that begins in that line. O(length).
    void take(std::string_view object, int64_t line);
    /// What lies between objects and could not be read.
    void pass(std::string_view damaged);

  private:
    struct Parts;
    InspectorContext contextOf(const Parts& parts);
    void takeOperation(std::string_view text, const InspectorContext& of, bool isMessage,
                       int64_t line);
    void takeStats(std::string_view text, const InspectorContext& of);

    TraceBuilder& builder_;
    InspectorFile& file_;
    // From format 4.3 on a batch begins with whose it is, and its records do not repeat that.
    std::optional<InspectorContext> batch_;
    int64_t leftOfBatch_ = 0;
};

}  // namespace lanescope
