// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Health : TableOf<Health> {
    constexpr Health() : TableOf("LANESCOPE_HEALTH", "one thing that was lost or is doubtful") {}

    Integer<"severity"> severity{this, "0 information, 1 warning, 2 error"};
    Text<"code"> code{this,
                      "a word that programs can test for: \"events-dropped\", \"log-damaged\""};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about; NULL for the whole run"};
    OptionalInteger<"timestamp"> timestamp{this, "when, ns; NULL if it has no moment"};
    OptionalInteger<"count"> count{this, "how many; NULL if not countable"};
    Text<"sentence"> sentence{this, "for the user: what happened and what to do"};
};
inline constexpr Health health;

struct Properties : TableOf<Properties> {
    constexpr Properties() : TableOf("LANESCOPE_PROPERTIES", "a fact of the run or of a process") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process; NULL for the whole run"};
    Text<"name"> name{this, "the fact"};
    OptionalText<"value"> value{this, "what it is"};
};
inline constexpr Properties properties;

struct ProcessStates : TableOf<ProcessStates> {
    constexpr ProcessStates() : TableOf("LANESCOPE_PROCESSES", "a recorded process") {}

    Integer<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"rank"> rank{this, "of a distributed job; NULL outside one"};
    OptionalInteger<"startNs"> startNs{this, "its first sign of life, ns"};
    OptionalInteger<"endNs"> endNs{
        this,
        "its last sign of life, ns; NVTX ranges that it left open (end is NULL) are shown up to "
        "it, without it up to the last event of the process, or of the trace if the process did "
        "nothing more"};
    OptionalInteger<"endedNormally"> endedNormally{
        this,
        "0: killed, crashed, or its log was cut; the last events may be missing. NULL if not "
        "known"};
    OptionalInteger<"exitStatus"> exitStatus{this, "as wait gives it; NULL if not known"};
    OptionalText<"logFile"> logFile{
        this,
        "name of the log it was read from, without folder; never opened by a reader of the trace"};
    OptionalInteger<"localRank"> localRank{
        this, "rank among the processes of its host; NULL outside a distributed job"};
    OptionalInteger<"worldSize"> worldSize{this, "how many ranks the job has; NULL outside one"};
};
inline constexpr ProcessStates processStates;

struct Windows : TableOf<Windows> {
    constexpr Windows()
        : TableOf("LANESCOPE_WINDOWS",
                  "a stretch in which a process recorded; one without rows here recorded from its "
                  "first moment to its last") {}

    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"index"> index{this, "number of the window, from 0; a word of SQL, so write \"index\""};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    OptionalInteger<"endNs"> endNs{this,
                                   "when it ended, ns; NULL: it was open when the process ended"};
};
inline constexpr Windows windows;

struct Gaps : TableOf<Gaps> {
    constexpr Gaps() : TableOf("LANESCOPE_GAPS", "a stretch in which a process lost something") {}

    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"what"> what{this, "the number of a kind of loss"};
    Integer<"startNs"> startNs{this, "the last sign of that kind before the loss, ns"};
    Integer<"endNs"> endNs{this, "when the loss was noticed, ns"};
    OptionalInteger<"count"> count{this, "how many were lost"};
};
inline constexpr Gaps gaps;

struct Untimed : TableOf<Untimed> {
    constexpr Untimed()
        : TableOf("LANESCOPE_UNTIMED",
                  "an activity of which CUPTI gave no time, instead of a row in its own table") {}

    Text<"tableName"> inTable{this, "the table in which it would have a row"};
    Integer<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread, of what threads do"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process that launched it"};
    OptionalInteger<"nameId"> nameId{this, "what it is called, in StringIds, if it has a name"};
    OptionalInteger<"copyKind"> copyKind{this, "of a migration, as in the table of memcpys"};
};
inline constexpr Untimed untimed;

struct Clocks : TableOf<Clocks> {
    constexpr Clocks()
        : TableOf("LANESCOPE_CLOCKS", "the same moment on three clocks; several rows a process") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"realtimeNs"> realtimeNs{this, "since 1970, ns"};
    OptionalInteger<"monotonicNs"> monotonicNs{this, "the system's monotonic clock, ns"};
    OptionalInteger<"cuptiNs"> cuptiNs{this, "CUPTI's clock, ns"};
};
inline constexpr Clocks clocks;

}  // namespace lanescope::tables
