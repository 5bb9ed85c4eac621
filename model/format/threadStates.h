// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lanescope {

/// What a thread was seen to do. The numbers stand in logs, in `LANESCOPE_THREAD_STATES` and in
/// index files; a file of a newer recorder may hold others, which are `Unknown`.
enum class ThreadState : uint8_t {
    Unknown = 0,
    Running = 1,   ///< On a core, or about to be.
    Runnable = 2,  ///< It could run and got no core.
    Gil = 3,       ///< Waits for Python's lock.
    Lock = 4,      ///< Waits for another lock, or to be woken by another thread.
    Poll = 5,      ///< Waits for input or room: of a pipe, a socket, a queue.
    Disk = 6,      ///< Waits for a disk, in a way that cannot be interrupted.
    Sleep = 7,     ///< For a time that it chose itself.
    Device = 8,    ///< Waits in a driver, as that of the GPU.
    Child = 9,     ///< Waits for another process to end.
    Blocked = 10,  ///< Sleeps, and nobody knows for what.
};
inline constexpr size_t threadStateCount = 11;

/// How a state is called: for programs, for people, and what a thread does in it.
struct ThreadStateName {
    std::string_view identifier, name, meaning;
};
inline constexpr std::array<ThreadStateName, threadStateCount> threadStateNames{{
    {"unknown", "Unknown", "does what nobody knows"},
    {"running", "Running", "runs"},
    {"runnable", "No core", "could run and gets no core"},
    {"gil", "GIL", "waits for the GIL"},
    {"lock", "Lock", "waits for a lock or another thread"},
    {"poll", "Input", "waits for input"},
    {"disk", "Disk", "waits for a disk"},
    {"sleep", "Sleep", "sleeps"},
    {"device", "Driver", "waits in a driver"},
    {"child", "Child process", "waits for another process to end"},
    {"blocked", "Blocked", "waits, for what is not known"},
}};
constexpr const ThreadStateName& nameOf(ThreadState state) {
    const auto number = static_cast<size_t>(state);
    return threadStateNames[number < threadStateCount ? number : 0];
}

/// The state that a file means by a number.
constexpr ThreadState threadStateFrom(int64_t number) {
    return number > 0 && number < static_cast<int64_t>(threadStateCount)
               ? static_cast<ThreadState>(number)
               : ThreadState::Unknown;
}

/// Whether a thread in it waits for something, rather than for a core.
constexpr bool isWaiting(ThreadState state) {
    return state != ThreadState::Unknown && state != ThreadState::Running &&
           state != ThreadState::Runnable;
}

// Frames of Python stacks that are no function's: they have no file.

/// Outermost, in place of those that are left out.
inline constexpr std::string_view cutFrame = "(frames further out are left out)";
/// Innermost, while the interpreter collects garbage.
inline constexpr std::string_view collectingFrame = "(garbage collection)";

}  // namespace lanescope
