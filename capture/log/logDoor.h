// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope::log {

// A process that cannot open its log itself requests it from the recorder through an abstract
// socket. That happens, for example, after it gave up root or changed its root folder.

enum class DoorAction : uint32_t {
    BeginLog = 1,   ///< Create a new file.
    OpenAgain = 2,  ///< Open a file that this process has begun.
    Lost = 3,       ///< There is and will be no log; `error` is the reason.
};

/// Request, in one message. The reply is a `DoorReply` and, if that is 0, a descriptor.
struct DoorRequest {
    static constexpr uint32_t currentVersion = 1;
    uint32_t version = currentVersion;
    DoorAction action = DoorAction::BeginLog;
    int32_t error = 0;    ///< errno.
    char name[180] = "";  ///< File name without folders, zero-terminated.
};

struct DoorReply {
    int32_t error = 0;  ///< errno; 0 on success.
};

/// Requests the file `name` at the door called `door`. Returns a descriptor for appending, which
/// closes with exec, or -1 with errno, which is 0 for `DoorAction::Lost` if the recorder has taken
/// note. Takes at most 0.2 s. Any thread.
int requestLog(std::string_view door, DoorAction action, std::string_view name, int error = 0);

/// Suffix of the sign that a process leaves instead of a log that it cannot write; its content is
/// `lostLogText`. The sign is a dangling symbolic link, because creating one needs no descriptor.
inline constexpr std::string_view lostLogEnding = ".lost";
/// Returns the errno and the program, for example "13 /usr/bin/python3".
std::string lostLogText(int error, std::string_view program);

/// Returns true if `name` is a valid file name of a log or a sign: plain characters, not hidden.
bool isLogName(std::string_view name);

}  // namespace lanescope::log
