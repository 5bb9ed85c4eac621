// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Whether a file that begins so is of planes: the first one is named as profilers name theirs.
bool startsLikeXplane(std::string_view start);

/// Reads what the profilers of JAX and TensorFlow write (XSpace) into a builder, whose path is that
/// of the file. `fractionRead` is how much of the source was read. Holds a plane at a time, in the
/// builder's memory. Errors: nothing of it can be read. Cancelled, it leaves out events.
Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead,
                             const LoadProgress& progress);

}  // namespace lanescope
