// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace lanescope {

/// Told how far the load has come: `fraction` in [0, 1] and what is being read. Returns false to
/// cancel. Called on the loading thread, at most some tens of times a second.
using LoadProgress = std::function<bool(double fraction, std::string_view what)>;

/// `progress`, of which only the part from `from` to `to` is left. `progress` must stay alive.
inline LoadProgress partOf(const LoadProgress& progress, double from, double to) {
    if (!progress) return {};
    return [&progress, from, to](double fraction, std::string_view what) {
        return progress(from + fraction * (to - from), what);
    };
}

}  // namespace lanescope
