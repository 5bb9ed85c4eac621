// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "installer/single/unpack.h"

namespace lanescope::single {

/// The folders in which to unpack, the best first: the user's cache, and one of the user's own
/// where temporary files go.
std::vector<std::filesystem::path> possiblePlaces();

/// The folder below `place` that holds what is packed, unpacked there if it is not yet. Nobody but
/// the user can write into it, it is never seen half filled, and it stays for as long as this
/// process, or what it becomes, lives. What other versions left and no process uses is removed.
/// Nothing, and why in `problem`, if it cannot be there.
std::optional<std::filesystem::path> unpackedIn(const std::filesystem::path& place, const Payload& payload,
                                                std::string& problem);

}  // namespace lanescope::single
