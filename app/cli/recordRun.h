// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/runApart.h"
#include "capture/record/Recorder.h"

namespace lanescope::cli {

/// Records a run of a program, makes its trace and says what is in it and what is doubtful; what
/// kept it from that is in the answer, for the caller to say. The main thread, before any other is
/// made.
RunEnd recordRun(const capture::RecordOptions& options);

/// Says what kept a run from its trace, if anything did.
void sayProblem(const RunEnd& end);

/// The same as `recordRun` for `count` runs one after the other, each in a process of its own, up
/// to the first that fails or is interrupted. Says what went wrong and returns the exit status:
/// that of the last run, or of the signal. A name without "%n" gets one.
int recordRuns(capture::RecordOptions options, int count);

/// `pattern` with "-%n" before its ending, unless it has a number.
std::string numberedPattern(const std::string& pattern);

}  // namespace lanescope::cli
