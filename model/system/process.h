// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

/// Calls of the system that not every system has, about processes.
namespace lanescope::system {

/// Opens a pipe, to read and to write, that programs started later do not inherit; false with
/// `errno`.
bool openPipe(std::array<int, 2>& ends);

/// Opens two sockets that are connected, which programs started later do not inherit; false with
/// `errno`.
bool openSockets(std::array<int, 2>& ends);

/// As `send`, but a socket that nobody reads from raises no signal.
ssize_t sendQuietly(int socket, const void* bytes, size_t count);

/// The variables of this process, which programs started by it get; null after the last. Belongs to
/// the system.
char** environment();

/// From now on the calling process gets no more than so much further memory, where the system can
/// do that; what it asks for beyond is refused. Another call sets another bound.
void limitFurtherMemory(uint64_t bytes);

/// Asks for these bytes of memory, which begin at a page, in few large pages, where the system can
/// do that; without them it is only slower.
void preferLargePages(void* memory, size_t bytes);

/// The file of the running program; empty if the system does not say.
std::filesystem::path ownProgram();

/// What starts the running program again, also where its file was replaced in the meantime if the
/// system can do that.
std::filesystem::path programToRestart();

/// A number that nobody can guess; nothing early in a boot. Does not block.
std::optional<uint64_t> drawNumber();

}  // namespace lanescope::system
