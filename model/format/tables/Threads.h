// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

inline constexpr struct ThreadStates : TableOf<ThreadStates> {
    constexpr ThreadStates()
        : TableOf("LANESCOPE_THREAD_STATES", "an interval with one state of a CPU thread, from samples",
                  Content::Events) {}
    OptionalInteger<"start"> start{this, "start of the interval, ns"};
    OptionalInteger<"end"> end{this, "end of the interval, ns"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id"};
    Integer<"state"> state{this,
                           "0 unknown, 1 running, 2 runnable; waits: 3 GIL, 4 lock or thread, 5 input, 6 disk, 7 "
                           "timer, 8 driver, 9 process, 10 unknown"};
    OptionalInteger<"callchainId"> callchainId{this, "Python stack, in LANESCOPE_STACKS; NULL if absent or not read"};
    Integer<"cpuNs"> cpuNs{this, "running time as counted by the kernel, ns"};
    Integer<"delayNs"> delayNs{this, "runnable time (waiting for a core) as counted by the kernel, ns"};
    OptionalInteger<"callId"> callId{this, "system call of a waiting thread, in StringIds"};
    OptionalInteger<"holderTid"> holderTid{this, "packed id of the thread with the awaited GIL"};
    OptionalInteger<"holderCallchainId"> holderCallchainId{this, "Python stack of holderTid, in LANESCOPE_STACKS"};
} threadStates;

// Tables of exports of Nsight Systems.

inline constexpr struct ScheduleEvents : TableOf<ScheduleEvents> {
    constexpr ScheduleEvents() : TableOf("SCHED_EVENTS", "a context switch of a CPU thread", Content::Events) {}
    OptionalInteger<"start"> start{this, "time, ns"};
    OptionalInteger<"cpu"> cpu{this, "CPU core"};
    OptionalInteger<"isSchedIn"> isSchedIn{this, "1: scheduled in, 0: scheduled out"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id"};
    OptionalInteger<"isPreempted"> isPreempted{
        this, "1: preempted (scheduled out while runnable); not in Nsight Systems exports"};
} scheduleEvents;

// Table written only by Nsight Systems.

inline constexpr struct SystemCalls : TableOf<SystemCalls> {
    constexpr SystemCalls() : TableOf("OSRT_API", "a call of an operating system library") {}
    OptionalInteger<"start"> start{this, "start time, ns"};
    OptionalInteger<"end"> end{this, "time of return, ns"};
    OptionalInteger<"globalTid"> globalTid{this, "packed id of the calling thread"};
    OptionalInteger<"nameId"> nameId{this, "function name, in StringIds"};
    OptionalInteger<"callchainId"> callchainId{this, "call stack, in OSRT_CALLCHAINS"};
} systemCalls;

inline constexpr struct SampleEvents : TableOf<SampleEvents> {
    constexpr SampleEvents() : TableOf("COMPOSITE_EVENTS", "a sample of a running CPU thread", Content::Events) {}
    OptionalInteger<"id"> id{
        this, "call stack, in SAMPLING_CALLCHAINS; in Lanescope traces shared by samples with equal stacks"};
    OptionalInteger<"start"> start{this, "time, ns"};
    OptionalInteger<"cpu"> cpu{this, "CPU core"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id"};
} sampleEvents;

inline constexpr struct Callchains : TableOf<Callchains> {
    constexpr explicit Callchains(const char* table = "SAMPLING_CALLCHAINS")
        : TableOf(table, "a frame of a call stack") {}
    OptionalInteger<"id"> id{this, "stack number"};
    OptionalInteger<"symbol"> symbol{this, "function name, in StringIds"};
    OptionalInteger<"module"> module{this, "library, or file of a Python function; in StringIds"};
    OptionalInteger<"stackDepth"> stackDepth{this, "frame number, from 0 (innermost)"};
    OptionalInteger<"line"> line{this, "line of a Python function; not in Nsight Systems exports"};
} samplingCallchains;
inline constexpr Callchains systemCallchains{"OSRT_CALLCHAINS"};

inline constexpr struct Stacks : TableOf<Stacks> {
    constexpr Stacks() : TableOf("LANESCOPE_STACKS", "a Python stack, stored as innermost frame and parent stack") {}
    Key<"id"> id{this, "stack number for callchainId, from 1"};
    OptionalInteger<"parentId"> parentId{
        this, "number of the stack without the innermost frame, always lower than id; NULL for a stack of one frame"};
    Integer<"functionId"> functionId{this, "function of the innermost frame, qualified if possible, in StringIds"};
    OptionalInteger<"fileId"> fileId{this, "file of the function, in StringIds; NULL without a file"};
    OptionalInteger<"line"> line{this, "line in the file, from 1; NULL if unknown"};
    OptionalInteger<"moduleId"> moduleId{this,
                                         "class of the called torch.nn.Module, a blank, and its path in the outer "
                                         "module, in StringIds; NULL for other calls"};
    OptionalInteger<"operatorsId"> operatorsId{
        this, "operators that a line made by torch.compile replaces, in StringIds; NULL for other lines"};
    OptionalInteger<"codeId"> codeId{
        this, "text of the line when it was recorded, in StringIds; NULL for libraries and unreadable files"};
} stacks;

}  // namespace lanescope::tables
