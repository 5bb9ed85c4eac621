// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmClock.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::capture {

namespace {

/// How far adding nothing may lie outside the bounds: the clocks of a machine agree to less.
constexpr int64_t toleranceNs = 5'000'000;
constexpr int64_t windowNs = 5'000'000'000;
/// A GPU's clock that falls back looks as if samples were decoded later and later, which a busy
/// machine does too: by several ms for seconds. So much it does not do to all of a window.
constexpr int64_t latestNs = 25'000'000;

double milliseconds(int64_t ns) {
    return static_cast<double>(ns) / 1e6;
}

}  // namespace

void PmClock::begin(int64_t startedNs, int64_t firstBeginNs) {
    if (lowestNs_) return;
    lowestNs_ = startedNs - firstBeginNs;
    if (*lowestNs_ > toleranceNs || (highestNs_ && *highestNs_ < -toleranceNs))
        offsetNs_ = *lowestNs_;
}

void PmClock::observe(int64_t nowNs, int64_t endNs) {
    const int64_t boundNs = nowNs - endNs;
    if (!highestNs_) windowBegunNs_ = nowNs;
    highestNs_ = std::min(highestNs_.value_or(boundNs), boundNs);
    windowHighestNs_ = std::min(windowHighestNs_.value_or(boundNs), boundNs);
    if (nowNs - windowBegunNs_ < windowNs) return;
    if (!firstWindowNs_) firstWindowNs_ = windowHighestNs_;
    const int64_t movedNs = *windowHighestNs_ - *firstWindowNs_;
    if (movedNs > latestNs || movedNs < -toleranceNs) {
        offsetNs_ += movedNs;
        firstWindowNs_ = windowHighestNs_;
    }
    windowHighestNs_.reset();
    windowBegunNs_ = nowNs;
}

std::string PmClock::describe() const {
    if (!highestNs_ || !lowestNs_) return "not compared with the clock of the machine";
    return fmt::format(
        "{:.3f} ms added to the GPU's clock; what is right lies between {:.3f} and {:.3f} ms",
        milliseconds(offsetNs_), milliseconds(*lowestNs_), milliseconds(*highestNs_));
}

}  // namespace lanescope::capture
