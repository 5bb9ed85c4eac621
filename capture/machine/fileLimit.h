// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::capture {

/// Lets this process have as many files open as it may. A program that it started before has its
/// limit from before. Nothing where that is refused.
void raiseFileLimit();

}  // namespace lanescope::capture
