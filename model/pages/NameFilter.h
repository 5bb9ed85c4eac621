// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace lanescope::report
