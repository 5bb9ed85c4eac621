// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "tests/support/openForWriting.h"

namespace lanescope::test {

/// Writes a trace like a finished recording: with its summary and its checksums.
inline Result<void> writeFinishedTrace(const Trace& trace, const std::filesystem::path& path) {
    if (const Result<void> written = writeTraceFile(trace, path); !written) return written;
    const Result<TracePtr> loaded = loadTrace(path);
    if (!loaded) return fail(loaded.error());
    const auto summary = analysis::summarizeRun(**loaded);
    if (!summary) return fail(summary.error());
    {
        Result<Database> database = openForWriting(path);
        if (!database) return fail(database.error());
        if (const Result<void> announced = announceSeal(*database); !announced) return announced;
        if (const Result<void> stored = analysis::writeRunSummary(*database, *summary); !stored) return stored;
    }
    return sealPages(path);
}

}  // namespace lanescope::test
