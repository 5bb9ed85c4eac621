// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/build/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/values/formatValue.h"

namespace lanescope {

/// Adds what the trace is to say of a file as a whole: of no process, at no time. One thread.
class FileNotes {
  public:
    explicit FileNotes(TraceBuilder& builder) : builder_(builder) {}

    void add(Severity severity, HealthCode code, std::string sentence,
             std::optional<int64_t> count = {}) {
        builder_.note({severity, code, std::move(sentence), {}, {}, count});
    }

    /// What is missing at the end of a file that was cut after `bytes`, or could not be read on.
    void cut(uint64_t bytes, std::string_view what, const std::optional<Error>& readError) {
        add(Severity::Warning, HealthCode::FileCut,
            fmt::format("The file ends in the middle, after {} bytes: {} are missing at its end. "
                        "{}",
                        formatCount(static_cast<int64_t>(bytes)), what,
                        readError ? readError->sentence
                                  : "Copy it again, once the program that writes it has ended."));
    }

  private:
    TraceBuilder& builder_;
};

}  // namespace lanescope
