// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope {

/// The version of all programs of this build: "1.2.3" of the tag v1.2.3, "1.2.3+5.g0123456789ab"
/// five commits later. `installer/version.cmake` says how it is found.
const char* productVersion();

/// The commit that this was built of, in full, with " with changes" behind it if there were some
/// that are in no commit; empty if nobody knew it.
const char* productCommit();

}  // namespace lanescope
