// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Returns true if the first bytes begin a plane with a name of known profilers.
bool startsLikeXplane(std::string_view start);

/// Reads a trace of the profilers of JAX and TensorFlow (XSpace) into a builder with the path of the file.
/// `fractionRead` returns the fraction of the source that was read. Keeps one plane at a time in the memory of the
/// builder. Fails if nothing can be read. If cancelled, events are missing.
Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead, const LoadProgress& progress);

}  // namespace lanescope
