// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct ThreadStates : TableOf<ThreadStates> {
    constexpr ThreadStates()
        : TableOf("LANESCOPE_THREAD_STATES", "state of a CPU thread for a while, from samples", Content::Events) {}

    OptionalInteger<"start"> start{this, "from when on, ns"};
    OptionalInteger<"end"> end{this, "until when, ns"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread"};
    Integer<"state"> state{this,
                           "0 unknown, 1 running, 2 runnable; waiting: 3 for Python's GIL, 4 for "
                           "another lock or thread, 5 for input, 6 for a disk, 7 for a time, 8 in "
                           "a driver, 9 for a process, 10 for what is not known"};
    OptionalInteger<"callchainId"> callchainId{
        this, "its Python stack, in LANESCOPE_STACKS; NULL if it has none, or was not read"};
    Integer<"cpuNs"> cpuNs{this, "for how long it had a core, as the kernel counts, ns"};
    Integer<"delayNs"> delayNs{this, "for how long it was runnable, ns"};
    OptionalInteger<"callId"> callId{this, "the system call it waits in, in StringIds"};
    OptionalInteger<"holderTid"> holderTid{this, "the thread that has the GIL it waits for"};
    OptionalInteger<"holderCallchainId"> holderCallchainId{this, "the Python stack of that, in LANESCOPE_STACKS"};
};
inline constexpr ThreadStates threadStates;

// As in Nsight Systems.

struct ScheduleEvents : TableOf<ScheduleEvents> {
    constexpr ScheduleEvents() : TableOf("SCHED_EVENTS", "a thread got a core or lost it", Content::Events) {}

    OptionalInteger<"start"> start{this, "when, ns"};
    OptionalInteger<"cpu"> cpu{this, "which core"};
    OptionalInteger<"isSchedIn"> isSchedIn{this, "1: it got it, 0: it lost it"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread"};
    OptionalInteger<"isPreempted"> isPreempted{
        this, "1: it lost it though it could have gone on; not in Nsight Systems exports"};
};
inline constexpr ScheduleEvents scheduleEvents;

// Only Nsight Systems writes this table.

struct SystemCalls : TableOf<SystemCalls> {
    constexpr SystemCalls() : TableOf("OSRT_API", "a call of the operating system's libraries") {}

    OptionalInteger<"start"> start{this, "when it began, ns"};
    OptionalInteger<"end"> end{this, "when it returned, ns"};
    OptionalInteger<"globalTid"> globalTid{this, "the calling thread"};
    OptionalInteger<"nameId"> nameId{this, "the function, in StringIds"};
    OptionalInteger<"callchainId"> callchainId{this, "its stack, in OSRT_CALLCHAINS"};
};
inline constexpr SystemCalls systemCalls;

struct SampleEvents : TableOf<SampleEvents> {
    constexpr SampleEvents() : TableOf("COMPOSITE_EVENTS", "a thread was seen on a core", Content::Events) {}

    OptionalInteger<"id"> id{this, "its stack, in SAMPLING_CALLCHAINS; of several samples the same, where we made it"};
    OptionalInteger<"start"> start{this, "when, ns"};
    OptionalInteger<"cpu"> cpu{this, "on which core"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread"};
};
inline constexpr SampleEvents sampleEvents;

struct Callchains : TableOf<Callchains> {
    constexpr explicit Callchains(const char* table = "SAMPLING_CALLCHAINS") : TableOf(table, "a frame of a stack") {}

    OptionalInteger<"id"> id{this, "the stack"};
    OptionalInteger<"symbol"> symbol{this, "the function, in StringIds"};
    OptionalInteger<"module"> module{this, "the library, in StringIds; of a function of Python its file"};
    OptionalInteger<"stackDepth"> stackDepth{this, "from 0, the innermost"};
    OptionalInteger<"line"> line{this, "of a function of Python its line; not in Nsight Systems exports"};
};
inline constexpr Callchains samplingCallchains;
inline constexpr Callchains systemCallchains{"OSRT_CALLCHAINS"};

struct Stacks : TableOf<Stacks> {
    constexpr Stacks() : TableOf("LANESCOPE_STACKS", "a Python stack, by its innermost frame") {}

    Key<"id"> id{this, "the number that calls name it by, in callchainId; from 1"};
    OptionalInteger<"parentId"> parentId{
        this, "the stack without its innermost frame; a lower number; NULL if there is no other"};
    Integer<"functionId"> functionId{
        this, "the function of the innermost frame, qualified where Python says so; in StringIds"};
    OptionalInteger<"fileId"> fileId{this, "its file, in StringIds; NULL if it has none"};
    OptionalInteger<"line"> line{this, "the line in it, from 1; NULL if unknown"};
};
inline constexpr Stacks stacks;

}  // namespace lanescope::tables
