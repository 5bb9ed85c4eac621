// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/format/GlobalId.h"
#include "model/format/Memory.h"
#include "model/format/factNames.h"
#include "model/format/parseNumber.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Per process. Every track of the process has them, so a hostile file must not have any number.
constexpr size_t maxWindows = 4096;
/// Later than any time that a table reader accepts.
constexpr int64_t neverNs = int64_t{1} << 62;

template <class Table>
uint32_t processIn(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> id = reader.integer(table.globalPid);
    return id ? identities.process(*id) : noIndex;
}

/// Sorts windows and merges overlaps, which only odd files have.
void tidy(std::vector<TimeRange>& windows) {
    std::ranges::sort(windows, {}, &TimeRange::startNs);
    std::vector<TimeRange> all;
    for (const TimeRange& window : windows) {
        if (!all.empty() && window.startNs < all.back().endNs)
            all.back().endNs = std::max(all.back().endNs, window.endNs);
        else
            all.push_back(window);
    }
    windows = std::move(all);
}

void readWindows(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::windows;
    TableReader reader(context, k, {k.globalPid, k.startNs, k.endNs}, "windows");
    while (reader.next()) {
        const uint32_t index = processIn(reader, k, directory.identities);
        const std::optional<int64_t> startNs = reader.time(k.startNs);
        if (index == noIndex || !startNs) continue;
        Process& process = context.builder().processes()[index];
        // A window that was open at the end of the process extends to that end, which may be unknown.
        const std::optional<int64_t> endNs = reader.isNull(k.endNs) ? neverNs : reader.time(k.endNs);
        if (reader.skipRowIf(!endNs || process.windows.size() >= maxWindows)) continue;
        process.hasWindows = true;
        process.windows.push_back({*startNs, std::max(*startNs, *endNs)});
    }
    for (Process& process : context.builder().processes()) tidy(process.windows);
}

void readGaps(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::gaps;
    TableReader reader(context, k, {k.globalPid, k.what, k.startNs, k.endNs, k.count}, "gaps");
    while (reader.next()) {
        const uint32_t index = processIn(reader, k, directory.identities);
        const std::optional<int64_t> startNs = reader.time(k.startNs);
        const std::optional<int64_t> endNs = startNs ? reader.time(k.endNs) : std::nullopt;
        if (index == noIndex || !endNs) continue;
        // An unknown kind is a loss, too.
        const int64_t what = reader.integerOr(k.what, 0);
        const bool isNumber = what >= 0 && what <= UINT32_MAX;
        std::vector<Gap>& gaps = context.builder().processes()[index].gaps;
        if (reader.skipRowIf(gaps.size() >= maxWindows)) continue;
        gaps.push_back({isNumber ? static_cast<Loss>(what) : Loss::Unknown,
                        {*startNs, std::max(*startNs, *endNs)},
                        std::max<int64_t>(0, reader.integerOr(k.count, 0))});
    }
    for (Process& process : context.builder().processes())
        std::ranges::stable_sort(process.gaps, {}, [](const Gap& gap) { return gap.range.startNs; });
}

/// The entries of `ENUM_CUPTI_OVERHEAD_TYPE` that cost nothing without a profiler. Others, such as
/// the loading of modules, happen anyway.
struct Overhead {
    int64_t type;
    std::string_view name;
    int64_t totalNs = 0;
};

constexpr int maxKnownExportVersion = 3;  ///< Major version of the Nsight Systems export schema.

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
        if (name == "EXPORT_SCHEMA_VERSION_MAJOR" && parseNumber<int>(value).value_or(0) > maxKnownExportVersion)
            context.note({Severity::Info, HealthCode::NewerExport,
                          fmt::format("The file has export schema {}, newer than this program "
                                      "supports; only supported data is shown.",
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

/// Limit for GPUs and for hosts. A file with more keeps the rest by name.
constexpr size_t maxSubjects = 1024;

/// The displayed facts of the machine, out of some hundred in `TARGET_INFO_SYSTEM_ENV` of an
/// export. The environment of the process is among the others and stays private.
struct ExportFact {
    std::string_view name;
    std::string RunFacts::*member;
};
const std::array<ExportFact, 4> exportFacts{{
    {"Hostname", &RunFacts::host},
    {"CpuDescription", &RunFacts::cpu},
    {"OsDescription", &RunFacts::operatingSystem},
    {"SoftwareReleaseVersion", &RunFacts::kernel},
}};

/// Returns the element with that value of a member, or a new one. Null if the limit is reached.
template <class T, class Key, class Value>
T* findOrAdd(std::vector<T>& all, Key T::*member, const Value& value) {
    const auto found = std::ranges::find(all, value, member);
    if (found != all.end()) return &*found;
    if (all.size() >= maxSubjects) return nullptr;
    T& added = all.emplace_back();
    added.*member = value;
    return &added;
}

bool takeGpuFact(TraceDescription& trace, std::string_view name, std::string_view value) {
    const auto fact = splitGpuFact(name);
    if (!fact) return false;
    GpuFacts* const gpu = findOrAdd(trace.gpuFacts, &GpuFacts::gpu, fact->subject);
    if (gpu == nullptr) return false;
    if (!takeNamedFact(*gpu, fact->name, value)) gpu->others.push_back({std::string(fact->name), std::string(value)});
    return true;
}

/// Reads a fact of the samplers of a host or of one of its GPUs.
bool takeSamplerFact(RunFacts& run, std::string_view host, std::string_view name, std::string_view value) {
    SamplerFacts probe;
    SampledGpuFacts gpuProbe;
    const auto numbered = splitNumberedFact(name);
    const bool isOfGpu = numbered && takeNamedFact(gpuProbe, numbered->name, value);
    if (!isOfGpu && !takeNamedFact(probe, name, value)) return false;
    SamplerFacts* const samplers = findOrAdd(run.samplers, &SamplerFacts::host, host);
    if (samplers == nullptr) return false;
    if (!isOfGpu) return takeNamedFact(*samplers, name, value);
    SampledGpuFacts* const gpu = findOrAdd(samplers->gpus, &SampledGpuFacts::cudaDevice, numbered->subject);
    return gpu != nullptr && takeNamedFact(*gpu, numbered->name, value);
}

bool takeHostName(RunFacts& run, std::string_view name, std::string_view value) {
    const auto numbered = splitNumberedFact(name);
    if (!numbered || numbered->name != facts::host || run.hosts.size() >= maxSubjects) return false;
    run.hosts.push_back({numbered->subject, std::string(value)});
    return true;
}

void takeRunFact(TraceDescription& trace, std::string_view name, std::string_view value) {
    RunFacts& run = trace.facts;
    if (takeGpuFact(trace, name, value) || takeNamedFact(run, name, value) || takeSamplerFact(run, {}, name, value) ||
        takeHostName(run, name, value))
        return;
    const auto ofHost = splitHostFact(name);
    if (ofHost && takeSamplerFact(run, ofHost->subject, ofHost->name, value)) return;
    run.others.push_back({std::string(name), std::string(value)});
}

/// Reads a rank from a fact of an old file. Newer files have columns for ranks, which were read before.
bool takeRank(std::optional<int>& member, std::string_view value) {
    std::optional<int64_t> number;
    if (!storeFact(FactName{}, value, number) || *number < 0 || *number > INT32_MAX) return false;
    if (member && *member != *number) return false;
    member = static_cast<int>(*number);
    return true;
}

void takeProcessFact(Process& process, std::string_view name, std::string_view value) {
    const bool isTaken = (name == facts::rank && takeRank(process.rank, value)) ||
                         (name == facts::localRank && takeRank(process.localRank, value)) ||
                         (name == facts::worldSize && takeRank(process.worldSize, value)) ||
                         takeNamedFact(process.facts.edit(), name, value);
    if (!isTaken) process.facts.edit().others.push_back({std::string(name), std::string(value)});
}

void readExportFacts(LoadContext& context) {
    constexpr const auto& k = tables::systemEnvironment;
    TableReader reader(context, k, {k.name, k.value}, "description");
    while (reader.next())
        for (const ExportFact& fact : exportFacts)
            if (reader.text(k.name) == fact.name && !reader.text(k.value).empty())
                context.description().facts.*fact.member = reader.text(k.value);
}

}  // namespace

void readRecordedTime(LoadContext& context, FileDirectory& directory) {
    readWindows(context, directory);
    readGaps(context, directory);
}

void readUntimed(LoadContext& context) {
    constexpr const auto& t = tables::untimed;
    TableReader reader(context, t, {t.inTable, t.copyKind}, "untimed activities");
    while (reader.next()) {
        const std::string_view name = reader.text(t.inTable);
        const bool isKnown = std::ranges::any_of(
            tables::eventTables(), [name](const tables::Table* table) { return table->tableName() == name; });
        if (isMigration(memcpyKindFrom(reader.integerOr(t.copyKind, 0))))
            context.addUntimed(migrationsCounted);
        else if (isKnown)
            context.addUntimed(name);
        else
            reader.skipRow();
    }
}

void readOverhead(LoadContext& context) {
    std::array<Overhead, 3> overheads{
        {{3, "flushing CUPTI's buffers"}, {4, "CUPTI's instrumentation"}, {5, "setting up CUPTI's resources"}}};
    constexpr const auto& k = tables::overheads;
    TableReader reader(context, k, {k.start, k.end, k.overheadType, k.globalTid}, "overhead");
    while (reader.next()) {
        const std::optional<int64_t> thread = reader.integer(k.globalTid);
        const int64_t type = reader.integerOr(k.overheadType, 0);
        const auto found = std::ranges::find_if(overheads, [&](const Overhead& each) { return each.type == type; });
        // Work on a thread of the profiler does not slow the program.
        if (found == overheads.end() || !thread || threadIdOf(*thread) == 0) continue;
        const std::optional<TimeRange> times = reader.times(k.start, k.end);
        if (!times) continue;
        const int64_t room = std::numeric_limits<int64_t>::max() / 4 - found->totalNs;
        found->totalNs += std::min(times->endNs - times->startNs, room);
    }
    std::ranges::sort(overheads, [](const Overhead& a, const Overhead& b) { return a.totalNs > b.totalNs; });
    int64_t totalNs = 0;
    std::string parts;
    for (const Overhead& each : overheads) {
        if (each.totalNs == 0) continue;
        totalNs += each.totalNs;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", each.name, formatDuration(each.totalNs));
    }
    if (totalNs > 0)
        context.note({Severity::Info, HealthCode::ProfilerOverhead,
                      fmt::format("Profiler overhead that CUPTI reports, sum over the run and all threads: {} ({}).",
                                  formatDuration(totalNs), parts)});
}

void readDescription(LoadContext& context) {
    context.description().producer = "Nsight Systems";
    readExport(context, tables::oldExportMetaData);
    readExport(context, tables::exportMetaData);
    readStartTime(context);
    const bool isNative = context.database().pragma("application_id") == traceApplicationId;
    if (isNative && context.database().pragma("user_version") > traceSchemaVersion)
        context.note({Severity::Warning, HealthCode::NewerRecorder,
                      "The trace was recorded by a newer Lanescope; only supported data is shown."});
}

void readWarnings(LoadContext& context) {
    constexpr size_t maxDiagnostics = 100;
    constexpr const auto& k = tables::health;
    TableReader health(context, k, {k.severity, k.code, k.globalPid, k.timestamp, k.count, k.sentence}, "health");
    while (health.next()) {
        HealthNote note{.severity = severityFrom(health.integerOr(k.severity, 1)),
                        .code = healthCodeFrom(health.text(k.code))};
        if (note.code == HealthCode::Unknown) note.unknownCode = health.text(k.code);
        if (const auto process = health.integer(k.globalPid)) note.globalPid = processOf(*process);
        if (!health.isNull(k.timestamp)) note.timeNs = health.time(k.timestamp);
        note.count = health.integer(k.count);
        note.sentence = health.text(k.sentence);
        context.note(std::move(note));
    }
    // `ENUM_DIAGNOSTIC_SEVERITY_LEVEL`. Information and details would hide the rest.
    constexpr int64_t warning = 2;
    constexpr int64_t error = 3;
    constexpr const auto& d = tables::diagnostics;
    TableReader diagnostics(context, d, {d.severity, d.text}, "health");
    size_t shown = 0;
    while (diagnostics.next() && shown < maxDiagnostics) {
        const int64_t severity = diagnostics.integerOr(d.severity, 0);
        if (severity != warning && severity != error) continue;
        context.note({severity == error ? Severity::Error : Severity::Warning, HealthCode::ExportDiagnostic,
                      std::string(diagnostics.text(d.text))});
        ++shown;
    }
}

void readProcessStates(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::processStates;
    TableReader reader(context, k, {k.globalPid, k.rank, k.endedNormally, k.endNs, k.localRank, k.worldSize},
                       "processes");
    const auto countIn = [&reader](const auto& column) -> std::optional<int> {
        const std::optional<int64_t> value = reader.integer(column);
        if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
        return static_cast<int>(*value);
    };
    while (reader.next()) {
        const uint32_t index = processIn(reader, k, directory.identities);
        if (reader.skipRowIf(index == noIndex)) continue;
        Process& process = context.builder().processes()[index];
        process.rank = countIn(k.rank);
        process.localRank = countIn(k.localRank);
        process.worldSize = countIn(k.worldSize);
        process.endedAbnormally = reader.integerOr(k.endedNormally, 1) == 0;
        // `finishTrace` finds the start among the events.
        if (!reader.isNull(k.endNs)) process.range.endNs = reader.time(k.endNs).value_or(0);
    }
}

void readFacts(LoadContext& context, FileDirectory& directory) {
    readExportFacts(context);
    constexpr const auto& k = tables::properties;
    TableReader reader(context, k, {k.globalPid, k.name, k.value}, "description");
    while (reader.next()) {
        const std::string name(reader.text(k.name));
        const std::string value(reader.text(k.value));
        if (reader.isNull(k.globalPid)) {
            takeRunFact(context.description(), name, value);
            continue;
        }
        const uint32_t process = processIn(reader, k, directory.identities);
        if (!reader.skipRowIf(process == noIndex)) takeProcessFact(context.builder().processes()[process], name, value);
    }
}

}  // namespace lanescope
