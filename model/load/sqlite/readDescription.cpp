// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "model/format/GlobalId.h"
#include "model/format/tables/Older.h"
#include "model/format/tables/Recording.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

namespace {

constexpr int newestKnownExport = 3;  ///< Major version of the Nsight Systems export schema.

/// 0 of what is no number.
int majorOf(std::string_view value) {
    int major = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), major);
    return error == std::errc{} && stop == value.data() + value.size() ? major : 0;
}

void readExport(LoadContext& context, const tables::MetaData& table) {
    TableReader reader(context, table, {table.name, table.value}, "description");
    std::string product;
    std::string version;
    std::optional<std::string> producer;
    while (reader.next()) {
        const std::string_view name = reader.text(table.name);
        const std::string_view value = reader.text(table.value);
        if (name == "EXPORT_PRODUCT_NAME") product = value;
        if (name == "EXPORT_PRODUCT_VERSION") version = value;
        if (name == tables::producerName) producer = value;
        if (name == "EXPORT_SCHEMA_VERSION_MAJOR" && majorOf(value) > newestKnownExport)
            context.note({Severity::Info, HealthCode::NewerExport,
                          fmt::format("The file is of export schema {}, newer than this program "
                                      "knows; what it knows is shown.",
                                      value)});
    }
    if (product == "NVIDIA Nsight Systems") product = "Nsight Systems";
    if (producer)
        context.description().producer = *producer;
    else if (!product.empty())
        context.description().producer = version.empty() ? product : product + " " + version;
}

void readStartTime(LoadContext& context) {
    constexpr const auto& k = tables::sessionStart;
    TableReader reader(context, k, {k.utcEpochNs}, "description");
    if (reader.next()) context.description().startUtcNs = reader.integerOr(k.utcEpochNs, 0);
}

}  // namespace

void readDescription(LoadContext& context) {
    context.description().producer = "Nsight Systems";
    readExport(context, tables::oldExportMetaData);
    readExport(context, tables::exportMetaData);
    readStartTime(context);
    const bool isOurs = context.database().pragma("application_id") == traceApplicationId;
    if (isOurs && context.database().pragma("user_version") > traceSchemaVersion)
        context.note(
            {Severity::Warning, HealthCode::NewerRecorder,
             "The trace was recorded by a newer Lanescope; what this one knows is shown."});
}

void readHealth(LoadContext& context) {
    constexpr size_t enoughDiagnostics = 100;
    constexpr const auto& k = tables::health;
    TableReader health(
        context, k, {k.severity, k.code, k.globalPid, k.timestamp, k.count, k.sentence}, "health");
    while (health.next()) {
        HealthNote note;
        note.severity = severityFrom(health.integerOr(k.severity, 1));
        note.code = healthCodeFrom(health.text(k.code));
        if (note.code == HealthCode::Unknown) note.unknownCode = health.text(k.code);
        if (const auto process = health.integer(k.globalPid)) note.globalPid = processOf(*process);
        if (!health.isNull(k.timestamp)) note.timeNs = health.time(k.timestamp);
        note.count = health.integer(k.count);
        note.sentence = health.text(k.sentence);
        context.note(std::move(note));
    }
    // `ENUM_DIAGNOSTIC_SEVERITY_LEVEL`; information and details would drown the rest.
    constexpr int64_t warning = 2;
    constexpr int64_t error = 3;
    constexpr const auto& d = tables::diagnostics;
    TableReader diagnostics(context, d, {d.severity, d.text}, "health");
    size_t shown = 0;
    while (diagnostics.next() && shown < enoughDiagnostics) {
        const int64_t severity = diagnostics.integerOr(d.severity, 0);
        if (severity != warning && severity != error) continue;
        context.note({severity == error ? Severity::Error : Severity::Warning,
                      HealthCode::ExportDiagnostic, std::string(diagnostics.text(d.text))});
        ++shown;
    }
}

void readProcessStates(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::processStates;
    TableReader reader(context, k,
                       {k.globalPid, k.rank, k.endedNormally, k.endNs, k.localRank, k.worldSize},
                       "processes");
    const auto countIn = [&reader](const auto& column) -> std::optional<int> {
        const std::optional<int64_t> value = reader.integer(column);
        if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
        return static_cast<int>(*value);
    };
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(k.globalPid);
        const uint32_t index = id ? directory.identities.process(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Process& process = context.builder().processes()[index];
        process.rank = countIn(k.rank);
        process.localRank = countIn(k.localRank);
        process.worldSize = countIn(k.worldSize);
        process.endedAbnormally = reader.integerOr(k.endedNormally, 1) == 0;
        // `finishTrace` finds the start among the events.
        if (!reader.isNull(k.endNs)) process.range.endNs = reader.time(k.endNs).value_or(0);
    }
}

}  // namespace lanescope
