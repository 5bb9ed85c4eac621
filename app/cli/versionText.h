// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope::cli {

/// What `lanescope --version` prints, without a line feed at its end: the version first, then what
/// of this build tells apart builds of one version, a line each.
std::string versionText();

}  // namespace lanescope::cli
