// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/record/Recorder.h"
#include "model/causality/StepReplay.h"
#include "model/compare/CompareSelection.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// Test of a forecast: a program runs with time added to some of its calls in every second interval.
struct Verification {
    capture::RecordOptions recording;  ///< For each run; with the program and without a trace name.
    causality::Change change;          ///< With `addedNs`.
    CompareSelection selection;
    std::string folder;  ///< For the traces; new or empty. Empty: lanescope-verify-<n>.
    int runs = 3;        ///< With added time, after one as it is, which the forecast is made from.
};

/// Outcome of a verification. Times are nanoseconds per step.
struct VerifiedForecast {
    causality::Change change;
    std::vector<std::string> calls;  ///< Names of the calls that took longer.
    double callsPerStep = 0;
    int64_t periodNs = 0;
    int runs = 0, pairs = 0;                ///< A pair is an interval as it is, and the next one, which has added time.
    double stepNs = 0;                      ///< Mean step as it is.
    double addedNs = 0;                     ///< The calls took so much longer: as asked, but as measured for launches.
    std::optional<double> hostFactor = {};  ///< Host code in slowed intervals, relative to the others.
    double callsForecastNs = 0;             ///< Forecast growth of the step with that time.
    double forecastNs = 0;                  ///< The same with that host code, too.
    double measuredNs = 0;                  ///< Measured growth, the mean over the pairs.
    double marginNs = 0;                    ///< Half of the 95 % interval of `measuredNs`.

    /// Returns true if the forecast is in the measured interval.
    bool isInside() const;
    /// Returns true if that interval is narrow enough to tell a part that matters from one that does not.
    bool isDecided() const { return marginNs <= addedNs / 4; }
    /// Returns sentences for people: what was done to the program, both times, and the verdict.
    std::string text() const;
    std::string json() const;
};

/// Runs and compares. Reports progress. Blocks; call it on the main thread before any other is created. Fails with a
/// sentence if a run fails or is interrupted, no forecast is made, or the runs are too short.
Result<VerifiedForecast> verifyForecast(const Verification& verification);

}  // namespace lanescope::cli
