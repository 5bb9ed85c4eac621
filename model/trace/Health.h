// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/format/TimeRange.h"
#include "model/format/health.h"

namespace lanescope {

/// One thing that was lost or is doubtful: what, where and when for programs, and a sentence for
/// the user. Nobody reads the sentence but the user.
struct HealthNote {
    Severity severity = Severity::Info;
    HealthCode code = HealthCode::Unknown;
    std::string sentence;
    std::optional<int64_t> globalPid = {};  ///< Of the process; nothing for the whole run.
    std::optional<int64_t> timeNs = {};     ///< When; nothing if it has no moment.
    std::optional<int64_t> count = {};      ///< How many; nothing if not countable.
    std::string unknownCode = {};           ///< What the file calls it, if `code` is `Unknown`.
    bool operator==(const HealthNote&) const = default;
};

/// The identifier of the note's code, known or not.
inline std::string codeOf(const HealthNote& note) {
    return note.code == HealthCode::Unknown ? note.unknownCode : std::string(identifier(note.code));
}

/// A stretch in which something of a process was lost.
struct Gap {
    Loss what = Loss::Unknown;  ///< May be a number that this program has no name for.
    TimeRange range;
    int64_t count = 0;  ///< How many were lost; 0 if unknown.
};

}  // namespace lanescope
