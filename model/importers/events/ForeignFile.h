// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/events/emitEvents.h"
#include "model/text/formatValue.h"

namespace lanescope {

/// What stands in a trace beside its events, by name: as it stands in the file, texts as they are
/// meant.
using TopLevelFacts = std::map<std::string, std::string, std::less<>>;

/// How far a file could be read.
struct JsonFile {
    TopLevelFacts facts;
    bool isClosed = false;           ///< It ends where a trace does, and not in the middle.
    bool isBesideDamaged = false;    ///< Some of what stands beside the events.
    bool isTooLong = false;          ///< The rest of it was left.
    uint64_t bytes = 0;              ///< Unpacked.
    std::optional<Error> readError;  ///< Why there is no more of it.
};

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

/// The rank that the file says it is of, or else its name does ("rank3_trace.json"); -1 if neither.
int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path);

/// Gives what stands beside the events: who recorded them and when, GPUs, ranks. GPUs and processes
/// must be known.
void describeJson(const JsonFile& file, JsonGiving& giving);

/// Says what could not be read, what does not fit together, and what is not shown. `damage` is what
/// programs call damage of such a file.
void noteJson(const JsonFile& file, const JsonFindings& findings, JsonGiving& giving,
              HealthCode damage = HealthCode::JsonDamaged);

/// Notes that so many parts of a file, `what` in the plural, are damaged and were passed over.
void noteDamagedParts(std::string_view what, int64_t count, TraceBuilder& builder);

}  // namespace lanescope
