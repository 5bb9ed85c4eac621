// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace lanescope {

/// A callback for the progress of a load: `fraction` in [0, 1] and the name of the current step.
/// Returns false to cancel. Called on the loading thread, at most some tens of times per second.
using LoadProgress = std::function<bool(double fraction, std::string_view what)>;

/// Returns a callback that maps [0, 1] to [`from`, `to`] of `progress`. `progress` must outlive the result.
inline LoadProgress partOf(const LoadProgress& progress, double from, double to) {
    if (!progress) return {};
    return [&progress, from, to](double fraction, std::string_view what) {
        return progress(from + fraction * (to - from), what);
    };
}

}  // namespace lanescope
