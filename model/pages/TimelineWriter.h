// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/IdleCauses.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope::report {

/// Removes folders, and names of hosts and users, from texts of a trace.
class NameFilter {
  public:
    /// Keeps all.
    NameFilter() = default;
    explicit NameFilter(const Trace& trace);
    /// Returns printable text. Linear.
    std::string operator()(std::string_view text) const;

  private:
    bool isOn_ = false;
    std::vector<std::pair<std::string, std::string_view>> replaced_;  ///< Name and its substitute.
};

/// Returns the data of a timeline: `description` and the tracks as JSON, then the columns of their slices, gaps and
/// counters. `full` is the part with every slice; `gaps` may be null. `timelineData.js` reads the same layout. O(n).
std::string packedTimeline(const Trace& trace, TimeRange full, const NameFilter& filter, const analysis::IdleGaps* gaps,
                           nlohmann::ordered_json description);

}  // namespace lanescope::report
