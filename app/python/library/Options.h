// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::python {

/// What a caller asks for beside the name of a thing: names with values. Whoever makes the thing
/// takes each that it knows; what is left over is a mistake.
class Options {
  public:
    /// `pairs` is name, value, name, value and so on, then null; may be null itself.
    explicit Options(const char* const* pairs);

    /// The value of an option; empty if it was not given.
    std::string take(std::string_view name);
    /// Every value of an option that may be given many times.
    std::vector<std::string> takeAll(std::string_view name);
    /// A whole number above 0, `otherwise` if it was not given.
    Result<int64_t> takeCount(std::string_view name, int64_t otherwise);
    /// Fails if an option is left that nobody took.
    Result<void> checkAllTaken(std::string_view what) const;

  private:
    std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace lanescope::python
