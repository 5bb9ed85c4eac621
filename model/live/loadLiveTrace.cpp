// SPDX-License-Identifier: Apache-2.0
#include "model/live/loadLiveTrace.h"

#include <fmt/format.h>

#include "model/live/TraceMirror.h"

namespace lanescope {

namespace {

/// At once, so that a wish to stop is heard.
constexpr int64_t rowsAtOnce = 500'000;

}  // namespace

Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress) {
    Result<TraceMirror> mirror = TraceMirror::create(live.partial);
    if (!mirror) return fail(mirror.error());
    for (int64_t rows = rowsAtOnce; rows >= rowsAtOnce;) {
        const Result<int64_t> more = mirror->refresh(rowsAtOnce);
        if (!more) return fail(more.error());
        rows = *more;
        if (progress && !progress(0, "reading along"))
            return fail("Opening {} was cancelled.", live.partial.string());
    }
    return loadOpenTrace(mirror->descriptor(), live.partial, progress);
}

}  // namespace lanescope
