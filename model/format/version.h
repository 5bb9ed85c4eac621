// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope {

/// Returns the version of this build: "1.2.3" at the tag v1.2.3, "1.2.3+5.g0123456789ab" five
/// commits later. `installer/version.cmake` determines it.
const char* productVersion();

/// Returns the full hash of the commit of this build, with " with changes" appended if there were
/// uncommitted changes; empty if unknown.
const char* productCommit();

}  // namespace lanescope
