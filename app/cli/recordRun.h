// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "app/cli/RecordSupervisor.h"
#include "capture/collector/Collector.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

/// Prints the path and the content of the trace.
void printContent(const capture::CollectedRun& run);

/// Prints the warnings about the trace, most severe first; refers to `lanescope info` for long lists.
void reportWarnings(const capture::CollectedRun& run);

/// Returns the steps of `record` and `recover` that finish a trace before it gets its name: summary and index, by
/// `TraceClosing`. Shows progress on stderr if that is a terminal. Ctrl+C or SIGTERM skips the remaining steps, and the
/// trace gets its name at once. Errors are reported, and the trace is complete nevertheless. `summaries` is the folder
/// for a separate summary file; empty for none.
capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries = {});

/// Fails if this user is root and the current folder belongs to another user, who could replace the files there.
Result<void> checkDefaultPlace();

/// Records a run of a program, builds its trace, and reports its content and warnings. The returned `RunEnd` contains
/// errors for the caller to report. Call on the main thread before any other is created.
RunEnd recordRun(const capture::RecordOptions& options);

/// Builds and reports the trace of a recording whose process was ended, for `reason`, before that. Skips summary and
/// index, which need memory. `program` is the end of the recorded program.
RunEnd completeRun(const capture::RecordOptions& options, const capture::RecordState& state,
                   const capture::MainProcess& program, const std::string& reason);

/// Returns where data of a run without a trace may be.
std::string keptSentence(const std::filesystem::path& logs);

/// Prints the reason for a missing trace, if any.
void printProblem(const RunEnd& end);

/// Calls `recordRun` for `count` runs one after the other, each in a separate process, up to the
/// first that fails or is interrupted. Reports errors and returns the exit status: that of the last
/// run, or of the signal. Adds "%n" to a name without it.
int recordRuns(capture::RecordOptions options, int count);

}  // namespace lanescope::cli
