// SPDX-License-Identifier: Apache-2.0
#include "capture/record/OutputPlace.h"

#include <utility>

#include "capture/record/OutputName.h"
#include "model/format/checkFile.h"

namespace lanescope::capture {

Result<OutputPlace> OutputPlace::claim(const std::string& pattern, int pid, bool overwrite,
                                       const RunInfo& info) {
    const bool canCount = isNumbered(pattern);
    for (int number = 1;; ++number) {
        const auto name = expandOutputPattern(pattern, {pid, number});
        if (!name) return fail(name.error());
        const std::filesystem::path trace = *name;
        // A trace gets its name before its folder goes, so look in the other order.
        if (canCount && (isThere(runFolderFor(trace)) || isThere(trace))) continue;
        if (auto possible = checkOutput(trace, overwrite); !possible) return fail(possible.error());
        auto logs = RunFolder::create(runFolderFor(trace), info);
        if (!logs && canCount && isThere(runFolderFor(trace))) continue;  // Another was faster.
        if (!logs) return fail(logs.error());
        if (canCount && isThere(trace)) {
            logs->remove();
            continue;
        }
        return OutputPlace{trace, std::move(*logs)};
    }
}

}  // namespace lanescope::capture
