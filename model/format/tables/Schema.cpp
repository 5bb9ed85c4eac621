// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/format/Inserter.h"
#include "model/format/Memory.h"
#include "model/format/ReadWatch.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Stored.h"
#include "model/format/tables/Threads.h"
#include "model/format/version.h"

namespace lanescope::tables {

namespace {

constexpr std::array inTrace = std::to_array<const Table*>(
    {// Tables of Nsight Systems' exports.
     &strings, &kernels, &memcpys, &memsets, &apiCalls, &syncs, &cudaEvents, &overheads, &graphs, &graphNodes,
     &memoryEvents, &poolEvents, &cpuPageFaults, &gpuPageFaults, &nvtxEvents, &payloadSchemas, &payloadEntries,
     &gpuMetrics, &gpuMetricNames, &threadNames, &processes, &gpus, &cudaDevices, &contexts, &streams, &nullStreams,
     &sessionStart, &systemEnvironment, &captureMetaData, &exportMetaData, &analysisDetails, &diagnostics,
     &scheduleEvents, &sampleEvents, &samplingCallchains,
     // Lanescope's own tables.
     &ncclOperations, &ncclCommunicators, &ncclPluginOperations, &health, &properties, &processStates, &windows, &gaps,
     &clocks, &topology, &affinities, &linkPeaks, &roofs, &counters, &counterSamples, &gpuProcesses, &samplingMoments,
     &stacks, &threadStates, &nvtxStacks, &backwards, &graphNodeStacks, &untimed,
     // Names of numbers.
     &memoryOperations, &cacheConfigs, &launchTypes, &poolOperations, &poolTypes, &sharedMemoryLimits, &faultAccesses,
     &migrationCauses, &overheadTypes, &streamTypes, &syncTypes, &diagnosticSeverities, &diagnosticSources,
     &diagnosticClocks, &eventTypes, &eventClasses, &memcpyKinds, &memoryKinds});

constexpr std::array inStored = std::to_array<const Table*>(
    {&storedFacts,        &storedHealth,       &storedWorkers,       &storedGpuClocks,   &storedSteps,
     &storedParts,        &storedContributors, &storedOutliers,      &storedForecasts,   &storedPaths,
     &storedDistinctions, &storedKernelGroups, &storedUses,          &storedShapes,      &storedCauses,
     &storedPlaces,       &storedClocks,       &storedCommunicators, &storedCollectives, &storedKernels,
     &storedCounters,     &storedCode});

}  // namespace

std::span<const Table* const> traceTables() { return inTrace; }

std::span<const Table* const> eventTables() {
    static const std::vector<const Table*> found = [] {
        std::vector<const Table*> events;
        std::ranges::copy_if(inTrace, std::back_inserter(events),
                             [](const Table* table) { return table->content() == Content::Events; });
        return events;
    }();
    return found;
}

std::span<const Table* const> storedTables() { return inStored; }

}  // namespace lanescope::tables

namespace lanescope {

namespace {

void fillEnums(const Database& database, FirstError& error) {
    const auto fill = [&](const tables::Enum& table, const auto& rows) {
        Inserter inserter(database, table, error);
        for (const EnumRow& row : rows)
            inserter.insert(table.id = row.id, table.name = row.name, table.label = row.label);
    };
    for (const EnumTable& each : enumTables()) fill(*each.table, each.rows);
    std::vector<EnumRow> copies, memory;
    for (int id = 0; id < memcpyKindCount; ++id) {
        const MemcpyKind kind = memcpyKindFrom(id);
        copies.push_back({id, enumName(kind), longName(kind)});
    }
    for (int id = 0; id < memoryKindCount; ++id) {
        const MemoryKind kind = memoryKindFrom(id);
        memory.push_back({id, enumName(kind), longName(kind)});
    }
    fill(tables::memcpyKinds, copies);
    fill(tables::memoryKinds, memory);
}

void describeExport(const Database& database, FirstError& error) {
    const std::string producer = fmt::format("Lanescope {}", productVersion());
    const std::pair<std::string_view, std::string_view> rows[] = {
        {tables::producerName, producer},
        // The Nsight Systems export that these tables imitate: programs that read such exports
        // check this value and accept no other product.
        {"EXPORT_PRODUCT_NAME", "Lanescope"},
        {"EXPORT_PRODUCT_VERSION", "2026.2.1"},
        {"EXPORT_SCHEMA_VERSION", "3.25.0"},
        {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
        {"EXPORT_SCHEMA_VERSION_MINOR", "25"},
        {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
    };
    constexpr const auto& table = tables::exportMetaData;
    Inserter inserter(database, table, error);
    for (const auto& [name, value] : rows) inserter.insert(table.name = name, table.value = value);
}

std::string applicationIdSql(int64_t id) { return fmt::format("PRAGMA application_id = {};", id); }

/// Returns the value of `expression` in the first row; 0 if unknown.
int64_t answer(const Database& database, const char* expression, const tables::Table& table) {
    if (!database.hasTable(table.tableName())) return 0;
    auto statement = database.prepare(fmt::format("SELECT {} FROM {}", expression, table.tableName()));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row && statement->isInteger(0) ? statement->integer(0) : 0;
}

}  // namespace

Result<void> markWhole(Database& database) { return database.execute(applicationIdSql(traceApplicationId).c_str()); }

Result<void> createTraceTables(Database& database, TraceState state) {
    std::string sql = "BEGIN;\n";
    for (const tables::Table* table : tables::traceTables()) sql += createSql(*table);
    // Pragmas take no binds.
    sql += applicationIdSql(state == TraceState::Whole ? traceApplicationId : unfinishedTraceId);
    sql += fmt::format("PRAGMA user_version = {}", traceSchemaVersion);
    if (auto done = database.execute(sql.c_str()); !done) return done;
    FirstError error;
    fillEnums(database, error);
    describeExport(database, error);
    if (error) return fail(*error);
    return database.execute("COMMIT");
}

Result<void> dropEmptyTables(Database& database) {
    const auto isKept = [](std::string_view name) {
        return name.starts_with("LANESCOPE_") || name.starts_with("ENUM_") || name.starts_with("META_DATA_") ||
               name == tables::strings.tableName();
    };
    for (const tables::Table* table : tables::traceTables()) {
        const std::string_view name = table->tableName();
        if (isKept(name) || !database.hasTable(name)) continue;
        auto statement = database.prepare(fmt::format("SELECT 1 FROM {} LIMIT 1", name));
        if (!statement) return fail(statement.error());
        const auto hasRow = statement->step();
        if (!hasRow) return fail(hasRow.error());
        if (*hasRow) continue;
        statement->reset();
        if (auto done = database.execute(fmt::format("DROP TABLE {}", name).c_str()); !done) return done;
    }
    return {};
}

/// Row of `META_DATA_CAPTURE`.
constexpr std::string_view sealName = "checksums", sealValue = "pages";

Result<void> announceSeal(Database& database) {
    constexpr const auto& table = tables::captureMetaData;
    if (wasSealed(database)) return {};
    FirstError error;
    Inserter(database, table, error).insert(table.name = sealName, table.value = sealValue);
    if (error) return fail(*error);
    return {};
}

bool wasSealed(const Database& database) {
    constexpr const auto& table = tables::captureMetaData;
    if (!database.hasTable(table.tableName())) return false;
    auto statement =
        database.prepare(fmt::format("SELECT 1 FROM {} WHERE {} = ?1", table.tableName(), table.name.name));
    if (!statement) return false;
    statement->bind(1, sealName);
    const auto row = statement->step();
    return row && *row;
}

int64_t traceFingerprint(const Database& database) {
    Fnv1a hash;
    const auto add = [&](const char* expression, const tables::Table& table) {
        hash.add(static_cast<uint64_t>(answer(database, expression, table)));
    };
    for (const tables::Table* table : tables::eventTables()) add("max(rowid)", *table);
    add("max(rowid)", tables::strings);
    add(tables::sessionStart.utcEpochNs.name, tables::sessionStart);
    return static_cast<int64_t>(hash.value());
}

}  // namespace lanescope
