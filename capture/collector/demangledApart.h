// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanescope::capture {

/// Demangles a name that may take for ever and all memory: names may refer back to parts of
/// themselves, so that one of 250 bytes stands for gigabytes. A child process does it, with a
/// second and 256 MiB, and is killed when that is used up. Nothing if it did not get there, or the
/// result is longer than 64 KiB. All names together have half a minute; after that nothing comes of
/// any. Any thread.
std::optional<std::string> demangledApart(const std::string& mangledName);

}  // namespace lanescope::capture
