// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lanescope {

/// State of a thread. The numbers are stored in logs, in the table `LANESCOPE_THREAD_STATES` and in index files.
/// Numbers that only a newer recorder has become `Unknown`.
enum class ThreadState : uint8_t {
    Unknown = 0,
    Running = 1,   ///< On a core, or about to be.
    Runnable = 2,  ///< Ready to run, waiting for a core.
    Gil = 3,       ///< Waiting for Python's lock.
    Lock = 4,      ///< Waiting for another lock, or for a wake-up by another thread.
    Poll = 5,      ///< Waiting for input or space of a pipe, a socket or a queue.
    Disk = 6,      ///< Waiting for a disk, uninterruptibly.
    Sleep = 7,     ///< Sleeping for a time that the thread chose.
    Device = 8,    ///< Waiting in a driver, such as the GPU's.
    Child = 9,     ///< Waiting for a child process to end.
    Blocked = 10,  ///< Sleeping for an unknown reason.
};
inline constexpr size_t threadStateCount = 11;

/// Names of a state: identifier, label, and verb for sentences.
struct ThreadStateName {
    std::string_view identifier, name, meaning;
};
inline constexpr std::array<ThreadStateName, threadStateCount> threadStateNames{{
    {"unknown", "Unknown", "does something unknown"},
    {"running", "Running", "runs"},
    {"runnable", "Runnable", "is runnable, waiting for a core"},
    {"gil", "GIL", "waits for the GIL"},
    {"lock", "Lock", "waits for a lock or another thread"},
    {"poll", "Input", "waits for input"},
    {"disk", "Disk", "waits for a disk"},
    {"sleep", "Sleep", "sleeps"},
    {"device", "Driver", "waits in a driver"},
    {"child", "Child process", "waits for another process to end"},
    {"blocked", "Blocked", "waits for an unknown reason"},
}};
constexpr const ThreadStateName& nameOf(ThreadState state) {
    const auto number = static_cast<size_t>(state);
    return threadStateNames[number < threadStateCount ? number : 0];
}

constexpr ThreadState threadStateFrom(int64_t number) {
    return number > 0 && number < static_cast<int64_t>(threadStateCount) ? static_cast<ThreadState>(number)
                                                                         : ThreadState::Unknown;
}

/// Returns true if the thread waits for something other than a core.
constexpr bool isWaiting(ThreadState state) {
    return state != ThreadState::Unknown && state != ThreadState::Running && state != ThreadState::Runnable;
}

// Artificial frames of Python stacks; they have no file.

/// Outermost frame, in place of the truncated ones.
inline constexpr std::string_view truncatedFrame = "(frames further out are left out)";
/// Innermost frame while the interpreter collects garbage.
inline constexpr std::string_view garbageCollectionFrame = "(garbage collection)";

}  // namespace lanescope
