// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/export/exportTrace.h"
#include "model/flame/makeFlame.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "tests/support/protoTrace.h"

namespace lanescope::test {

/// Returns the text that `write` passes to a sink in pieces.
template <class Write>
std::string sinkText(Write write) {
    std::string text;
    write([&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

inline std::string perfettoOf(const Trace& trace) {
    return sinkText([&](const TextSink& sink) { writePerfettoTrace(trace, sink); });
}
inline std::string kinetoOf(const Trace& trace, uint32_t process = 0) {
    return sinkText([&](const TextSink& sink) { writeKinetoTrace(trace, process, sink); });
}
inline std::string foldedOf(const FlameTree& tree) {
    return sinkText([&](const TextSink& sink) { writeFolded(tree, 0, sink); });
}

/// Reads a Perfetto trace. Ends the test program if it cannot be read.
inline TracePtr readPerfetto(std::string bytes) {
    TraceBuilder builder;
    builder.setPath("run.pftrace");
    if (!readPerfettoTrace(protoTrace::sourceOf(std::move(bytes)), builder, [] { return 0.0; }, {}) ||
        !builder.finish())
        qFatal("not read");
    return builder.take();
}

}  // namespace lanescope::test
