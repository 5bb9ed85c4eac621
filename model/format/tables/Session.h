// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct SessionStart : TableOf<SessionStart> {
    constexpr SessionStart() : TableOf("TARGET_INFO_SESSION_START_TIME", "time 0") {}

    OptionalInteger<"utcEpochNs"> utcEpochNs{this, "since 1970, ns"};
    OptionalText<"utcTime"> utcTime{this, "\"2026-01-31T12:00:00\""};
    OptionalText<"localTime"> localTime{this, "the same in the machine's zone"};
    OptionalInteger<"systemClockNs"> systemClockNs{
        this, "the system's monotonic clock at that moment, ns"};
};
inline constexpr SessionStart sessionStart;

struct SystemEnvironment : TableOf<SystemEnvironment> {
    constexpr SystemEnvironment()
        : TableOf("TARGET_INFO_SYSTEM_ENV",
                  "a fact of the machine, never the environment of the process; not filled") {}

    OptionalInteger<"globalVid"> globalVid{this, "the machine"};
    Text<"devStateName"> devStateName{this, "group of facts"};
    Text<"name"> name{this, "the fact"};
    Integer<"nameEnum"> nameEnum{this, "Nsight's number of the fact"};
    Text<"value"> value{this, "what it is"};
};
inline constexpr SystemEnvironment systemEnvironment;

/// Two tables have these columns.
struct MetaData : TableOf<MetaData> {
    constexpr explicit MetaData(const char* tableName = "", const char* rowMeaning = "")
        : TableOf(tableName, rowMeaning) {}

    Text<"name"> name{this, "the property"};
    OptionalText<"value"> value{this, "what it is"};
};
inline constexpr MetaData captureMetaData{"META_DATA_CAPTURE", "how it was recorded"};
inline constexpr MetaData exportMetaData{"META_DATA_EXPORT", "which schema this is"};
/// Its row that says what recorded the trace, "Lanescope 1.2.3"; exports have none.
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
    constexpr Diagnostics()
        : TableOf("DIAGNOSTIC_EVENT", "a message of the profiler; not filled") {}

    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"timestampType"> timestampType{this, "as ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE"};
    Integer<"source"> source{this, "as ENUM_DIAGNOSTIC_SOURCE_TYPE"};
    Integer<"severity"> severity{this, "as ENUM_DIAGNOSTIC_SEVERITY_LEVEL"};
    Text<"text"> text{this, "the message"};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about"};
};
inline constexpr Diagnostics diagnostics;

}  // namespace lanescope::tables
