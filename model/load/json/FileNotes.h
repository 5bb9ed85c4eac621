// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "model/build/TraceBuilder.h"

namespace lanescope {

/// Adds what the trace is to say of a file as a whole: of no process, at no time. One thread.
class FileNotes {
  public:
    explicit FileNotes(TraceBuilder& builder) : builder_(builder) {}

    void add(Severity severity, HealthCode code, std::string sentence,
             std::optional<int64_t> count = {}) {
        builder_.note({severity, code, std::move(sentence), {}, {}, count});
    }

  private:
    TraceBuilder& builder_;
};

}  // namespace lanescope
