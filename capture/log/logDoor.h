// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope::log {

// Where a process cannot open its log by itself, as after it gave up root or changed its root
// folder, it asks whoever records to do so, at a socket that no file system knows.

enum class DoorWish : uint32_t {
    BeginLog = 1,   ///< Make a file that is not there yet.
    OpenAgain = 2,  ///< One that this process has begun.
    Lost = 3,       ///< There is no log and will be none: `error` says why.
};

/// What is asked, in one message. Answered with a `DoorAnswer` and, if that is 0, a descriptor.
struct DoorQuestion {
    static constexpr uint32_t currentVersion = 1;
    uint32_t version = currentVersion;
    DoorWish wish = DoorWish::BeginLog;
    int32_t error = 0;    ///< errno.
    char name[180] = "";  ///< Of the file, without folders, ended by 0.
};

struct DoorAnswer {
    int32_t error = 0;  ///< errno; 0 if it was done.
};

/// Asks at the door called `door` for the file `name`. Answers a descriptor for appending, which
/// closes with exec, or -1 with errno. Takes no longer than a fifth of a second. Any thread.
int askDoor(std::string_view door, DoorWish wish, std::string_view name, int error = 0);

/// The name of the sign that a process leaves instead of a log that it cannot write; what it holds
/// is `lostLogText`. A symbolic link that leads nowhere, because making one needs no descriptor.
inline constexpr std::string_view lostLogEnding = ".lost";
/// "13 /usr/bin/python3": why, as errno, and the program.
std::string lostLogText(int error, std::string_view program);

/// Whether `name` may be the file of a log or of a sign: of plain characters, beginning with none
/// that hides it.
bool isNameOfLog(std::string_view name);

}  // namespace lanescope::log
