// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/logTrouble.h"

#include <fmt/format.h>

#include "capture/collector/TraceWriter.h"

namespace lanescope::capture {

void writeLogTrouble(const log::LogReader& reader, const std::optional<Error>& problem,
                     TraceWriter& trace, std::optional<int64_t> process) {
    const std::string file = reader.path().filename().string();
    const auto say = [&](Severity severity, HealthCode code, uint64_t count,
                         std::string_view sentence) {
        trace.health(severity, code, sentence, process, {}, static_cast<int64_t>(count));
    };
    if (problem)
        trace.health(Severity::Error, HealthCode::LogUnreadable, problem->sentence, process);
    const log::LogReader::Progress& progress = reader.progress();
    if (const uint64_t bytes = reader.bytesNotUnderstood(); bytes > 0 && !problem)
        say(reader.isDamaged() ? Severity::Error : Severity::Warning,
            reader.isDamaged() ? HealthCode::LogDamaged : HealthCode::LogCut, bytes,
            fmt::format("The last {} bytes of the log {} could not be read: they are {}.", bytes,
                        file, reader.isDamaged() ? "damaged" : "incomplete"));
    if (progress.lostBlocks > 0)
        say(Severity::Error, HealthCode::LogGap, progress.lostBlocks,
            fmt::format("{} blocks are missing inside the log {}.", progress.lostBlocks, file));
    if (progress.oddRecords > 0)
        say(Severity::Warning, HealthCode::LogOddRecords, progress.oddRecords,
            fmt::format("{} records of the log {} made no sense and were left out.",
                        progress.oddRecords, file));
}

}  // namespace lanescope::capture
