// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::cli {

/// `doctor --measure`: measures the copies of this machine, prints them beside what they could be
/// by the data sheet, and keeps them for `record`. Returns the exit status: 0 if every GPU was
/// measured.
int measurePeaks(bool isForced, bool isJson);

}  // namespace lanescope::cli
