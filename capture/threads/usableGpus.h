// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace lanescope::capture {

/// How many GPUs what is recorded can use: those that the driver shows, but no more than
/// CUDA_VISIBLE_DEVICES of the recorder lists, which ends at the first that is negative; 1 if none.
/// Any thread.
int usableGpus();
/// Of so many that the driver shows, and what that variable says, if it is set.
int usableGpus(int shown, std::optional<std::string_view> listed);

}  // namespace lanescope::capture
