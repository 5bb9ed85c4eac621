// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Strings : TableOf<Strings> {
    constexpr Strings() : TableOf("StringIds", "a string") {}

    Key<"id"> id{this, "the number that other tables call it by; 0 is a number like any other"};
    Text<"value"> value{this, "the string, UTF-8"};
};
inline constexpr Strings strings;

struct ThreadNames : TableOf<ThreadNames> {
    constexpr ThreadNames() : TableOf("ThreadNames", "a name of a thread") {}

    Integer<"nameId"> nameId{this, "the name, in StringIds"};
    OptionalInteger<"priority"> priority{this, "of several names that with the greatest counts"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread"};
};
inline constexpr ThreadNames threadNames;
/// Priority of a substitute name, which is not the thread's own and is stored only because readers expect a name.
inline constexpr int64_t substitutePriority = -2;

struct Processes : TableOf<Processes> {
    constexpr Processes() : TableOf("PROCESSES", "a process") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"pid"> pid{this, "its plain PID"};
    OptionalText<"name"> name{this, "as on its command line"};
};
inline constexpr Processes processes;

struct SessionStart : TableOf<SessionStart> {
    constexpr SessionStart() : TableOf("TARGET_INFO_SESSION_START_TIME", "time 0") {}

    OptionalInteger<"utcEpochNs"> utcEpochNs{this, "since 1970, ns"};
    OptionalText<"utcTime"> utcTime{this, "\"2026-01-31T12:00:00\""};
    OptionalText<"localTime"> localTime{this, "the same in the machine's zone"};
    OptionalInteger<"systemClockNs"> systemClockNs{this, "the system's monotonic clock at that time, ns"};
};
inline constexpr SessionStart sessionStart;

struct SystemEnvironment : TableOf<SystemEnvironment> {
    constexpr SystemEnvironment()
        : TableOf("TARGET_INFO_SYSTEM_ENV", "a fact of the machine, never the environment of the process; not filled") {
    }

    OptionalInteger<"globalVid"> globalVid{this, "the machine"};
    Text<"devStateName"> devStateName{this, "group of facts"};
    Text<"name"> name{this, "the fact"};
    Integer<"nameEnum"> nameEnum{this, "Nsight's number of the fact"};
    Text<"value"> value{this, "what it is"};
};
inline constexpr SystemEnvironment systemEnvironment;

/// Shared columns of two tables.
struct MetaData : TableOf<MetaData> {
    constexpr explicit MetaData(const char* tableName = "", const char* rowMeaning = "")
        : TableOf(tableName, rowMeaning) {}

    Text<"name"> name{this, "the property"};
    OptionalText<"value"> value{this, "what it is"};
};
inline constexpr MetaData captureMetaData{"META_DATA_CAPTURE", "how it was recorded"};
inline constexpr MetaData exportMetaData{"META_DATA_EXPORT", "which schema this is"};
/// Row with the recorder of the trace, such as "Lanescope 1.2.3"; exports have none.
inline constexpr const char* producerName = "LANESCOPE_PRODUCER";

struct AnalysisDetails : TableOf<AnalysisDetails> {
    constexpr AnalysisDetails() : TableOf("ANALYSIS_DETAILS", "the session") {}

    Integer<"globalVid"> globalVid{this, "the machine"};
    Integer<"duration"> duration{this, "ns"};
    Integer<"startTime"> startTime{this, "ns"};
    Integer<"stopTime"> stopTime{this, "ns"};
};
inline constexpr AnalysisDetails analysisDetails;

struct Diagnostics : TableOf<Diagnostics> {
    constexpr Diagnostics() : TableOf("DIAGNOSTIC_EVENT", "a message of the profiler; not filled") {}

    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"timestampType"> timestampType{this, "as ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE"};
    Integer<"source"> source{this, "as ENUM_DIAGNOSTIC_SOURCE_TYPE"};
    Integer<"severity"> severity{this, "as ENUM_DIAGNOSTIC_SEVERITY_LEVEL"};
    Text<"text"> text{this, "the message"};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about"};
};
inline constexpr Diagnostics diagnostics;

struct Health : TableOf<Health> {
    constexpr Health() : TableOf("LANESCOPE_HEALTH", "a loss or another warning") {}

    Integer<"severity"> severity{this, "0 information, 1 warning, 2 error"};
    Text<"code"> code{this, "a code for programs: \"events-dropped\", \"log-damaged\""};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about; NULL for the whole run"};
    OptionalInteger<"timestamp"> timestamp{this, "when, ns; NULL if it has no time"};
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
        "0: killed, crashed, or its log was truncated; the last events may be missing. NULL if not "
        "known"};
    OptionalInteger<"exitStatus"> exitStatus{this, "as wait gives it; NULL if not known"};
    OptionalText<"logFile"> logFile{
        this, "name of the log it was read from, without folder; never opened by a reader of the trace"};
    OptionalInteger<"localRank"> localRank{this,
                                           "rank among the processes of its host; NULL outside a distributed job"};
    OptionalInteger<"worldSize"> worldSize{this, "how many ranks the job has; NULL outside one"};
};
inline constexpr ProcessStates processStates;

struct Windows : TableOf<Windows> {
    constexpr Windows()
        : TableOf("LANESCOPE_WINDOWS",
                  "an interval in which a process recorded; a process without rows here recorded "
                  "from its start to its end") {}

    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"index"> index{this, "number of the window, from 0; a word of SQL, so write \"index\""};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    OptionalInteger<"endNs"> endNs{this, "when it ended, ns; NULL: it was open when the process ended"};
};
inline constexpr Windows windows;

struct Gaps : TableOf<Gaps> {
    constexpr Gaps() : TableOf("LANESCOPE_GAPS", "an interval in which a process lost records") {}

    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"what"> what{this, "the number of a kind of loss"};
    Integer<"startNs"> startNs{this, "the last sign of that kind before the loss, ns"};
    Integer<"endNs"> endNs{this, "when the loss was noticed, ns"};
    OptionalInteger<"count"> count{this, "how many were lost"};
};
inline constexpr Gaps gaps;

struct Untimed : TableOf<Untimed> {
    constexpr Untimed()
        : TableOf("LANESCOPE_UNTIMED", "an activity of which CUPTI gave no time, instead of a row in its own table") {}

    Text<"tableName"> inTable{this, "the table in which it would have a row"};
    Integer<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread, of what threads do"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "joins it with the API call of the same process that launched it"};
    OptionalInteger<"nameId"> nameId{this, "what it is called, in StringIds, if it has a name"};
    OptionalInteger<"copyKind"> copyKind{this, "of a migration, as in the table of memcpys"};
};
inline constexpr Untimed untimed;

struct Clocks : TableOf<Clocks> {
    constexpr Clocks() : TableOf("LANESCOPE_CLOCKS", "the same time on three clocks; several rows per process") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"realtimeNs"> realtimeNs{this, "since 1970, ns"};
    OptionalInteger<"monotonicNs"> monotonicNs{this, "the system's monotonic clock, ns"};
    OptionalInteger<"cuptiNs"> cuptiNs{this, "CUPTI's clock, ns"};
};
inline constexpr Clocks clocks;

// Tables of older exports of Nsight Systems, or of older Lanescope traces. They are read, never written.

struct OldestGpus : TableOf<OldestGpus> {
    constexpr OldestGpus() : TableOf("TARGET_INFO_GPU", "a GPU, as the first exports have it") {}

    OptionalInteger<"deviceId"> id{this, "the number that is shown"};
    OptionalText<"name"> name{this, "as the driver calls it"};
    OptionalText<"uuid"> uuid{this, "\"GPU-...\""};
    OptionalText<"busLocation"> busLocation{this, "PCI address"};
    OptionalInteger<"totalMemory"> totalMemory{this, "bytes"};
    OptionalInteger<"memoryBandwidth"> memoryBandwidth{this, "bytes a second"};
    OptionalInteger<"smCount"> smCount{this, "streaming multiprocessors"};
    OptionalInteger<"computeMajor"> computeMajor{this, "major compute capability"};
    OptionalInteger<"computeMinor"> computeMinor{this, "minor compute capability"};
};
inline constexpr OldestGpus oldestGpus;

struct CudaGpus : TableOf<CudaGpus> {
    constexpr CudaGpus() : TableOf("TARGET_INFO_CUDA_GPU", "a GPU that CUDA knows") {}

    OptionalInteger<"deviceId"> deviceId{this, "the number that is shown"};
    OptionalText<"name"> name{this, "as the driver calls it"};
    OptionalText<"pciBusId"> pciBusId{this, "PCI address"};
    OptionalInteger<"globalMemorySize"> globalMemorySize{this, "bytes"};
    OptionalInteger<"globalMemoryBandwidth"> globalMemoryBandwidth{this, "bytes a second"};
    OptionalInteger<"numMultiprocessors"> numMultiprocessors{this, "streaming multiprocessors"};
    OptionalInteger<"computeCapabilityMajor"> computeCapabilityMajor{this, "before the point"};
    OptionalInteger<"computeCapabilityMinor"> computeCapabilityMinor{this, "after the point"};
};
inline constexpr CudaGpus cudaGpus;

/// Table of Lanescope itself, up to schema version 6.
struct OldGraphNodes : TableOf<OldGraphNodes> {
    constexpr OldGraphNodes() : TableOf("LANESCOPE_GRAPH_NODES", "a node of a CUDA graph") {}

    Integer<"globalTid"> globalTid{this, "the thread that made it"};
    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"graphNodeId"> graphNodeId{this, "its number in its process"};
    OptionalInteger<"originalNodeId"> originalNodeId{this, "the node of which it is a copy"};
    OptionalInteger<"callchainId"> callchainId{this, "the Python stack at its capture"};
};
inline constexpr OldGraphNodes oldGraphNodes;

inline constexpr MetaData oldExportMetaData{"EXPORT_META_DATA", "which schema it is"};

}  // namespace lanescope::tables
