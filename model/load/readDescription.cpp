#include <fmt/format.h>

#include "model/format/GlobalId.h"
#include "model/format/Schema.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

constexpr int newestKnownExport = 3;  ///< Major version of the Nsight Systems export schema.

void readExport(LoadContext& context, const char* table) {
    TableReader reader(context, table, {"name", "value"}, "description");
    std::string product;
    std::string version;
    while (reader.next()) {
        const std::string_view name = reader.text(0);
        if (name == "EXPORT_PRODUCT_NAME") product = reader.text(1);
        if (name == "EXPORT_PRODUCT_VERSION") version = reader.text(1);
        if (name == "EXPORT_SCHEMA_VERSION_MAJOR" && reader.text(1).size() <= 2 &&
            reader.text(1) > std::to_string(newestKnownExport))
            context.note({Severity::Info, HealthCode::NewerExport,
                          fmt::format("The file is of export schema {}, newer than this program "
                                      "knows; what it knows is shown.",
                                      reader.text(1))});
    }
    if (product == "NVIDIA Nsight Systems") product = "Nsight Systems";
    if (!product.empty())
        context.trace().producer = version.empty() ? product : product + " " + version;
}

void readStartTime(LoadContext& context) {
    TableReader reader(context, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, "description");
    if (reader.next()) context.trace().startUtcNs = reader.integerOr(0, 0);
}

}  // namespace

void readDescription(LoadContext& context) {
    context.trace().producer = "Nsight Systems";
    readExport(context, "EXPORT_META_DATA");
    readExport(context, "META_DATA_EXPORT");
    readStartTime(context);
    const bool isOurs = context.database().pragma("application_id") == traceApplicationId;
    if (isOurs && context.database().pragma("user_version") > traceSchemaVersion)
        context.note({Severity::Warning, HealthCode::NewerRecorder,
                      "The trace was recorded by a newer Lanescope; what this one knows is shown."});
}

void readHealth(LoadContext& context) {
    constexpr size_t enoughDiagnostics = 100;
    TableReader health(context, "LANESCOPE_HEALTH",
                       {"severity", "code", "globalPid", "timestamp", "count", "sentence"},
                       "health");
    while (health.next()) {
        HealthNote note;
        note.severity = severityFrom(health.integerOr(0, 1));
        note.code = healthCodeFrom(health.text(1));
        if (note.code == HealthCode::Unknown) note.unknownCode = health.text(1);
        if (const auto process = health.integer(2)) note.globalPid = processOf(*process);
        if (!health.isNull(3)) note.timeNs = health.time(3);
        note.count = health.integer(4);
        note.sentence = health.text(5);
        context.note(std::move(note));
    }
    // `ENUM_DIAGNOSTIC_SEVERITY_LEVEL`; information and details would drown the rest.
    constexpr int64_t warning = 2;
    constexpr int64_t error = 3;
    TableReader diagnostics(context, "DIAGNOSTIC_EVENT", {"severity", "text"}, "health");
    size_t shown = 0;
    while (diagnostics.next() && shown < enoughDiagnostics) {
        const int64_t severity = diagnostics.integerOr(0, 0);
        if (severity != warning && severity != error) continue;
        context.note({severity == error ? Severity::Error : Severity::Warning,
                      HealthCode::ExportDiagnostic, std::string(diagnostics.text(1))});
        ++shown;
    }
}

void readProcessStates(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, "LANESCOPE_PROCESSES",
                       {"globalPid", "rank", "endedNormally", "endNs", "localRank", "worldSize"},
                       "processes");
    const auto countIn = [&reader](int column) -> std::optional<int> {
        const std::optional<int64_t> value = reader.integer(column);
        if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
        return static_cast<int>(*value);
    };
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(0);
        const uint32_t index = id ? directory.identities.process(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Process& process = context.trace().processes[index];
        process.rank = countIn(1);
        process.localRank = countIn(4);
        process.worldSize = countIn(5);
        process.endedAbnormally = reader.integerOr(2, 1) == 0;
        // `finishTrace` finds the start among the events.
        if (!reader.isNull(3)) process.range.endNs = reader.time(3).value_or(0);
    }
}

}  // namespace lanescope
