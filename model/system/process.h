// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

/// Calls of the system that not every system has, about processes.
namespace lanescope::system {

/// Opens a pipe, to read and to write, that programs started later do not inherit; false with
/// `errno`.
bool openPipe(std::array<int, 2>& ends);

/// The calling process is killed when the one that started it ends, where the system can do that.
void endWithParent();

/// The file of the running program; empty if the system does not say.
std::filesystem::path ownProgram();

/// A number that nobody can guess; nothing early in a boot. Does not block.
std::optional<uint64_t> drawNumber();

}  // namespace lanescope::system
