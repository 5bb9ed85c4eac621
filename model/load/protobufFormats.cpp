// SPDX-License-Identifier: Apache-2.0
#include "model/load/protobufFormats.h"

#include "model/load/perfetto/readPerfettoTrace.h"
#include "model/load/xplane/readXplaneTrace.h"

namespace lanescope {

namespace {

Result<bool> isXplane(TraceSource& source) {
    return startsLikeXplane(source.start());
}

Result<bool> isPerfetto(TraceSource& source) {
    return !startsLikeXplane(source.start()) && startsLikePerfetto(source.start());
}

template <auto readTrace>
Result<void> read(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder,
                     [&source] { return source.fractionRead(); }, progress);
}

}  // namespace

const TraceFormat xplaneFormat{"xplane",
                               "an XPlane profile of JAX or TensorFlow",
                               {".xplane.pb"},
                               isXplane,
                               read<readXplaneTrace>};
const TraceFormat perfettoFormat{"perfetto",
                                 "a Perfetto trace",
                                 {".pftrace", ".perfetto-trace"},
                                 isPerfetto,
                                 read<readPerfettoTrace>};

}  // namespace lanescope
