// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/LogFormat.h"

namespace lanescope::log {

// What `record` writes down of threads that it looks at from outside; as `Records.h` says.

/// A process whose threads are looked at from outside.
struct WatchedProcessRecord {
    RecordHeader header;
    uint32_t processId, parentId;
    uint32_t program, python;  ///< Strings; `python` 0: it runs none that can be read.
};

/// A thread of it, and what it is called; again when that changes.
struct WatchedThreadRecord {
    RecordHeader header;
    uint32_t processId, threadId;
    uint32_t name, reserved;
};

/// A thread was seen in one state, at one line, for a while.
struct ThreadRunRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    int64_t cpuNs, delayNs;  ///< In which it had a core; in which it wanted one and had none.
    uint32_t processId, threadId;
    uint32_t stack;                      ///< Of a `StackRecord` of this log; 0 if none is known.
    uint32_t call;                       ///< String: the system call that it sleeps in.
    uint32_t holderThread, holderStack;  ///< Who has the GIL that it waits for; 0: unknown.
    uint32_t state;                      ///< As `ThreadState`.
    uint32_t looks;                      ///< How often it was looked at.
};

}  // namespace lanescope::log
