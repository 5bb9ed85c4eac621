// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmClock.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::capture {

namespace {

/// Maximum distance of a zero offset from the bounds: the clocks of a machine agree more closely.
constexpr int64_t toleranceNs = 5'000'000;
constexpr int64_t windowNs = 5'000'000'000;
/// A slow GPU clock makes samples appear to be decoded later and later. A busy machine has the same
/// effect, by several ms for seconds, but never by this much over a whole window.
constexpr int64_t maxDriftNs = 25'000'000;

double milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

void PmClock::begin(int64_t startedNs, int64_t firstBeginNs) {
    if (minOffsetNs_) return;
    minOffsetNs_ = startedNs - firstBeginNs;
    if (*minOffsetNs_ > toleranceNs || (maxOffsetNs_ && *maxOffsetNs_ < -toleranceNs)) offsetNs_ = *minOffsetNs_;
}

void PmClock::observe(int64_t nowNs, int64_t endNs) {
    const int64_t boundNs = nowNs - endNs;
    if (!maxOffsetNs_) windowBegunNs_ = nowNs;
    maxOffsetNs_ = std::min(maxOffsetNs_.value_or(boundNs), boundNs);
    windowMaxOffsetNs_ = std::min(windowMaxOffsetNs_.value_or(boundNs), boundNs);
    if (nowNs - windowBegunNs_ < windowNs) return;
    if (!firstWindowNs_) firstWindowNs_ = windowMaxOffsetNs_;
    if (const int64_t movedNs = *windowMaxOffsetNs_ - *firstWindowNs_; movedNs > maxDriftNs || movedNs < -toleranceNs) {
        offsetNs_ += movedNs;
        firstWindowNs_ = windowMaxOffsetNs_;
    }
    windowMaxOffsetNs_.reset();
    windowBegunNs_ = nowNs;
}

std::string PmClock::describe() const {
    if (!maxOffsetNs_ || !minOffsetNs_) return "not compared with the clock of the machine";
    return fmt::format("{:.3f} ms added to the GPU clock (true value between {:.3f} and {:.3f} ms)",
                       milliseconds(offsetNs_), milliseconds(*minOffsetNs_), milliseconds(*maxOffsetNs_));
}

}  // namespace lanescope::capture
