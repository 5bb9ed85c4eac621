// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

inline constexpr struct Strings : TableOf<Strings> {
    constexpr Strings() : TableOf("StringIds", "a string") {}
    Key<"id"> id{this, "string number used by other tables; 0 is valid"};
    Text<"value"> value{this, "string, UTF-8"};
} strings;

inline constexpr struct ThreadNames : TableOf<ThreadNames> {
    constexpr ThreadNames() : TableOf("ThreadNames", "a thread name") {}
    Integer<"nameId"> nameId{this, "name, in StringIds"};
    OptionalInteger<"priority"> priority{this, "priority; the name with the highest priority applies"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id"};
} threadNames;
/// Priority of a substitute name, stored for a thread without a name because readers expect names.
inline constexpr int64_t substitutePriority = -2;

inline constexpr struct Processes : TableOf<Processes> {
    constexpr Processes() : TableOf("PROCESSES", "a process") {}
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"pid"> pid{this, "PID"};
    OptionalText<"name"> name{this, "program, as on the command line"};
} processes;

inline constexpr struct SessionStart : TableOf<SessionStart> {
    constexpr SessionStart() : TableOf("TARGET_INFO_SESSION_START_TIME", "the start of the session, which is time 0") {}
    OptionalInteger<"utcEpochNs"> utcEpochNs{this, "UTC time since 1970, ns"};
    OptionalText<"utcTime"> utcTime{this, "UTC time, for example \"2026-01-31T12:00:00\""};
    OptionalText<"localTime"> localTime{this, "local time of the machine, in the same format"};
    OptionalInteger<"systemClockNs"> systemClockNs{this, "monotonic system clock at time 0, ns"};
} sessionStart;

inline constexpr struct SystemEnvironment : TableOf<SystemEnvironment> {
    constexpr SystemEnvironment()
        : TableOf("TARGET_INFO_SYSTEM_ENV",
                  "a machine property, never an environment variable of the process; no rows in Lanescope traces") {}
    OptionalInteger<"globalVid"> globalVid{this, "packed id of host and virtual machine"};
    Text<"devStateName"> devStateName{this, "group of properties"};
    Text<"name"> name{this, "property name"};
    Integer<"nameEnum"> nameEnum{this, "Nsight's number of the property"};
    Text<"value"> value{this, "property value"};
} systemEnvironment;

/// Columns of the metadata tables.
struct MetaData : TableOf<MetaData> {
    constexpr explicit MetaData(const char* tableName = "", const char* rowMeaning = "")
        : TableOf(tableName, rowMeaning) {}
    Text<"name"> name{this, "property name"};
    OptionalText<"value"> value{this, "property value"};
};
inline constexpr MetaData captureMetaData{"META_DATA_CAPTURE", "a property of the recording"};
inline constexpr MetaData exportMetaData{"META_DATA_EXPORT", "a property of the schema"};
/// Name of the row with the producer of the trace, such as "Lanescope 1.2.3"; missing in exports of Nsight Systems.
inline constexpr const char* producerName = "LANESCOPE_PRODUCER";

inline constexpr struct AnalysisDetails : TableOf<AnalysisDetails> {
    constexpr AnalysisDetails() : TableOf("ANALYSIS_DETAILS", "the session") {}
    Integer<"globalVid"> globalVid{this, "packed id of host and virtual machine"};
    Integer<"duration"> duration{this, "duration, ns"};
    Integer<"startTime"> startTime{this, "start time, ns"};
    Integer<"stopTime"> stopTime{this, "end time, ns"};
} analysisDetails;

inline constexpr struct Diagnostics : TableOf<Diagnostics> {
    constexpr Diagnostics() : TableOf("DIAGNOSTIC_EVENT", "a message of the profiler; no rows in Lanescope traces") {}
    Integer<"timestamp"> timestamp{this, "time, ns"};
    Integer<"timestampType"> timestampType{this, "clock of the timestamp, as in ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE"};
    Integer<"source"> source{this, "source of the message, as in ENUM_DIAGNOSTIC_SOURCE_TYPE"};
    Integer<"severity"> severity{this, "severity, as in ENUM_DIAGNOSTIC_SEVERITY_LEVEL"};
    Text<"text"> text{this, "message text"};
    OptionalInteger<"globalPid"> globalPid{this, "packed id of the affected process"};
} diagnostics;

inline constexpr struct Health : TableOf<Health> {
    constexpr Health() : TableOf("LANESCOPE_HEALTH", "a loss or another warning") {}
    Integer<"severity"> severity{this, "0: information, 1: warning, 2: error"};
    Text<"code"> code{this, "code for programs, for example \"events-dropped\" or \"log-full\""};
    OptionalInteger<"globalPid"> globalPid{this, "packed id of the affected process; NULL for the whole run"};
    OptionalInteger<"timestamp"> timestamp{this, "time, ns; NULL without a time"};
    OptionalInteger<"count"> count{this, "number of reported items; NULL if not countable"};
    Text<"sentence"> sentence{this, "message for the user: event and remedy"};
} health;

inline constexpr struct Properties : TableOf<Properties> {
    constexpr Properties() : TableOf("LANESCOPE_PROPERTIES", "a property of the run or of a process") {}
    OptionalInteger<"globalPid"> globalPid{this, "packed process id; NULL for the whole run"};
    Text<"name"> name{this, "property name"};
    OptionalText<"value"> value{this, "property value"};
} properties;

inline constexpr struct ProcessStates : TableOf<ProcessStates> {
    constexpr ProcessStates() : TableOf("LANESCOPE_PROCESSES", "a recorded process") {}
    Integer<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"rank"> rank{this, "rank in the distributed job; NULL without a job"};
    OptionalInteger<"startNs"> startNs{this, "first sign of life, ns"};
    OptionalInteger<"endNs"> endNs{this,
                                   "last sign of life, ns; drawn end of open NVTX ranges (if NULL: last event of the "
                                   "process, or else of the trace)"};
    OptionalInteger<"endedNormally"> endedNormally{this,
                                                   "0: killed, crashed or log truncated, so that the last events may "
                                                   "be missing; 1: ended normally; NULL if unknown"};
    OptionalInteger<"exitStatus"> exitStatus{this, "exit status in the encoding of wait(); NULL if unknown"};
    OptionalText<"logFile"> logFile{
        this, "name of the source log, without folder; for information only, since readers never open the log"};
    OptionalInteger<"localRank"> localRank{this, "rank within the host; NULL without a distributed job"};
    OptionalInteger<"worldSize"> worldSize{this, "number of ranks of the job; NULL without a distributed job"};
} processStates;

inline constexpr struct Windows : TableOf<Windows> {
    constexpr Windows()
        : TableOf("LANESCOPE_WINDOWS",
                  "a recording window of a process; a process without rows was recorded from start to end") {}
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"index"> index{this, "window number, from 0; an SQL keyword, to be written as \"index\""};
    Integer<"startNs"> startNs{this, "start time, ns"};
    OptionalInteger<"endNs"> endNs{this, "end time, ns; NULL if the window was open at the end of the process"};
} windows;

inline constexpr struct Gaps : TableOf<Gaps> {
    constexpr Gaps() : TableOf("LANESCOPE_GAPS", "an interval in which records of a process were lost") {}
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"what"> what{
        this,
        "1 nvtx-calls, 2 cuda-activity, 3 log-blocks, 5 nccl-events, 7 nested-calls, 8 calls-without-memory, "
        "9 cuda-calls"};
    Integer<"startNs"> startNs{this, "time of the last record of the same kind before the loss, ns"};
    Integer<"endNs"> endNs{this, "detection time of the loss, ns"};
    OptionalInteger<"count"> count{this, "number of lost records"};
} gaps;

inline constexpr struct Untimed : TableOf<Untimed> {
    constexpr Untimed()
        : TableOf("LANESCOPE_UNTIMED",
                  "an activity without a time from CUPTI, stored here instead of in the table of its kind") {}
    Text<"tableName"> inTable{this, "table of timed activities of the same kind"};
    Integer<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id; NULL for activities without a thread"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "correlation id of the launching API call in the same process"};
    OptionalInteger<"nameId"> nameId{this, "name, in StringIds; NULL without a name"};
    OptionalInteger<"copyKind"> copyKind{this,
                                         "migration kind, as in ENUM_CUDA_MEMCPY_OPER; NULL for other activities"};
} untimed;

inline constexpr struct Clocks : TableOf<Clocks> {
    constexpr Clocks() : TableOf("LANESCOPE_CLOCKS", "one time on three clocks; several rows per process") {}
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"realtimeNs"> realtimeNs{this, "UTC time since 1970, ns"};
    OptionalInteger<"monotonicNs"> monotonicNs{this, "monotonic system clock, ns"};
    OptionalInteger<"cuptiNs"> cuptiNs{this, "CUPTI clock, ns"};
} clocks;

// Tables of older exports of Nsight Systems or of older Lanescope traces, which are only read.

inline constexpr struct OldestGpus : TableOf<OldestGpus> {
    constexpr OldestGpus() : TableOf("TARGET_INFO_GPU", "a GPU, in the oldest exports") {}
    OptionalInteger<"deviceId"> id{this, "GPU number shown to users"};
    OptionalText<"name"> name{this, "GPU name reported by the driver"};
    OptionalText<"uuid"> uuid{this, "UUID, \"GPU-...\""};
    OptionalText<"busLocation"> busLocation{this, "PCI address"};
    OptionalInteger<"totalMemory"> totalMemory{this, "memory size, bytes"};
    OptionalInteger<"memoryBandwidth"> memoryBandwidth{this, "memory bandwidth, bytes per second"};
    OptionalInteger<"smCount"> smCount{this, "number of streaming multiprocessors"};
    OptionalInteger<"computeMajor"> computeMajor{this, "major compute capability"};
    OptionalInteger<"computeMinor"> computeMinor{this, "minor compute capability"};
} oldestGpus;

inline constexpr struct CudaGpus : TableOf<CudaGpus> {
    constexpr CudaGpus() : TableOf("TARGET_INFO_CUDA_GPU", "a GPU with a CUDA device") {}
    OptionalInteger<"deviceId"> deviceId{this, "GPU number shown to users"};
    OptionalText<"name"> name{this, "GPU name reported by the driver"};
    OptionalText<"pciBusId"> pciBusId{this, "PCI address"};
    OptionalInteger<"globalMemorySize"> globalMemorySize{this, "memory size, bytes"};
    OptionalInteger<"globalMemoryBandwidth"> globalMemoryBandwidth{this, "memory bandwidth, bytes per second"};
    OptionalInteger<"numMultiprocessors"> numMultiprocessors{this, "number of streaming multiprocessors"};
    OptionalInteger<"computeCapabilityMajor"> computeCapabilityMajor{this, "major compute capability"};
    OptionalInteger<"computeCapabilityMinor"> computeCapabilityMinor{this, "minor compute capability"};
} cudaGpus;

/// Lanescope table up to schema version 6.
inline constexpr struct OldGraphNodes : TableOf<OldGraphNodes> {
    constexpr OldGraphNodes() : TableOf("LANESCOPE_GRAPH_NODES", "a node of a CUDA graph") {}
    Integer<"globalTid"> globalTid{this, "packed id of the creating thread"};
    Integer<"timestamp"> timestamp{this, "time, ns"};
    Integer<"graphNodeId"> graphNodeId{this, "node id within the process"};
    OptionalInteger<"originalNodeId"> originalNodeId{this, "id of the copied node; NULL if not a copy"};
    OptionalInteger<"callchainId"> callchainId{this, "Python stack at the capture, in LANESCOPE_STACKS"};
} oldGraphNodes;

inline constexpr MetaData oldExportMetaData{"EXPORT_META_DATA", "a property of the schema"};

}  // namespace lanescope::tables
