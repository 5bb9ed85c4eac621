// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/readSqliteTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/format/tables/Cuda.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"
#include "model/format/text.h"
#include "model/importers/sqlite/readers.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Reads rows of `ENUM_*` tables by the name of the constant. Skips unknown names.
template <class Kind>
MixedMap<int64_t, Kind> readNames(LoadContext& context, const tables::Enum& table, int count) {
    MixedMap<int64_t, Kind> kinds;
    TableReader reader(context, table, {table.id, table.name}, "names of kinds");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (!id) continue;
        for (int number = 0; number < count; ++number)
            if (reader.text(table.name) == enumName(static_cast<Kind>(number))) kinds[*id] = static_cast<Kind>(number);
    }
    return kinds;
}

/// Returns true if kinds are CUPTI's. Copies from host to device end in device memory, which is 2
/// in Nsight Systems and 3 in CUPTI.
bool copiesCountFromOne(LoadContext& context) {
    constexpr int64_t maxSampledRows = 100'000;
    constexpr const auto& table = tables::memcpys;
    TableReader reader(context, table, {table.copyKind, table.srcKind, table.dstKind}, "memory kinds");
    int64_t three = 0;
    int64_t two = 0;
    for (int64_t row = 0; row < maxSampledRows && reader.next(); ++row) {
        const MemcpyKind kind = memcpyKindFrom(reader.integerOr(table.copyKind, 0));
        if (kind != MemcpyKind::HtoD && kind != MemcpyKind::DtoH) continue;
        const int64_t memory =
            kind == MemcpyKind::HtoD ? reader.integerOr(table.dstKind, -1) : reader.integerOr(table.srcKind, -1);
        two += memory == 2 ? 1 : 0;
        three += memory == 3 ? 1 : 0;
    }
    return three > two;
}

bool has(const Database& database, const tables::Table& table) { return database.hasTable(table.tableName()); }

/// nvprof has its texts in `StringTable`, Nsight Systems in `StringIds`.
bool isOfNvprof(const Database& database) {
    return database.hasTable("StringTable") && !has(database, tables::strings) &&
           (database.hasTable("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL") ||
            database.hasTable("CUPTI_ACTIVITY_KIND_DRIVER") || has(database, tables::kernels));
}

/// Newer tables have the number of the run as a suffix.
bool isOfRocm(const Database& database) {
    return std::ranges::any_of(database.tables(),
                               [](const std::string& table) { return table.starts_with("rocpd_string"); });
}

bool isOfRpd(const Database& database) { return database.hasTable("rocpd_api") || database.hasTable("rocpd_op"); }

/// Each kind of events is in a table of its own, if there are any.
bool isOfHip(const Database& database) {
    return std::ranges::any_of(std::array{"OPS", "HIP", "COPY"}, [&](const char* table) {
        return database.hasColumn(table, "BeginNs") && database.hasColumn(table, "EndNs");
    });
}

/// An export of a run without GPU work has no event tables.
bool isOfNsight(const Database& database) {
    return std::ranges::any_of(tables::eventTables(),
                               [&](const tables::Table* table) { return has(database, *table); }) ||
           (has(database, tables::strings) && (has(database, tables::processes) || has(database, tables::threadNames)));
}

/// Some tools that copy a file table by table lose its mark.
bool hasOurTables(const Database& database) {
    const std::vector<std::string> tables = database.tables();
    return std::ranges::any_of(tables, [](const std::string& table) { return table.starts_with("LANESCOPE_"); });
}

constexpr std::array tablesOfNsight{
    UnreadTable{"OSRT_FILE_ACCESS_EVENTS", "accesses to files"},
    UnreadTable{"CUDA_CALLCHAINS", "entries of the call stacks of CUDA calls"},
    UnreadTable{"GENERIC_EVENTS", "events of other sources"},
    UnreadTable{"OPENMP_EVENT_KIND_TASK_CREATE", "tasks of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_PARALLEL", "parallel regions of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_SYNC_REGION", "waits of OpenMP"},
    UnreadTable{"OPENMP_EVENT_KIND_WORK", "worksharing regions of OpenMP"},
    UnreadTable{"OPENGL_API", "calls of OpenGL"},
    UnreadTable{"VULKAN_API", "calls of Vulkan"},
    UnreadTable{"NET_NIC_METRIC", "metrics of network adapters"},
    UnreadTable{"NET_IB_SWITCH_METRIC", "metrics of InfiniBand switches"},
    UnreadTable{"ETW_EVENTS", "events of Windows"},
    UnreadTable{"PROFILER_OVERHEAD", "profiler overhead times"},
    UnreadTable{"PYTHON_EVENTS", "events of Python"},
};

// Unknown tables: this many are named, the others only counted.
constexpr size_t maxNamedTables = 16;

/// Returns true if rows of that table have a time and so are events, not names or settings.
bool holdsEvents(const Database& database, const std::string& table) {
    constexpr std::array<std::string_view, 3> times{"start", "timestamp", "rawtimestamp"};
    return std::ranges::any_of(database.columns(table), [&](const Database::Column& column) {
        return std::ranges::find(times, column.name) != times.end();
    });
}

bool isNative(const std::string& table) {
    const auto is = [&](const tables::Table* known) {
        return lowerCase(std::string(known->tableName())) == lowerCase(table);
    };
    return std::ranges::any_of(tables::traceTables(), is) || std::ranges::any_of(tables::storedTables(), is);
}

/// Notes the contents of unknown tables that no reader requested, as from a profiler that is newer than this program.
void noteUnknown(LoadContext& context) {
    const auto isPlain = [](char c) { return isLetter(c) || isDigit(c) || c == '_'; };
    size_t named = 0;
    int64_t others = 0, otherRows = 0;
    for (const std::string& table : context.database().tables()) {
        if (context.isRead(table) || isNative(table) || !std::ranges::all_of(table, isPlain) ||
            !holdsEvents(context.database(), table))
            continue;
        if (named < maxNamedTables) {
            const UnreadTable unknown{table, "events of an unknown kind"};
            named += noteSkippedTables(context, std::span(&unknown, 1));
        } else if (const int64_t rows = context.database().rowCount(table); rows > 0) {
            ++others;
            otherRows += rows;
        }
    }
    context.builder().noteNotShown(
        otherRows, fmt::format("rows of {} more tables that this program does not support", formatCount(others)));
}

void readEverything(LoadContext& context) {
    FileDirectory directory(context.builder());
    context.expectRows(context.estimatedRows(tables::strings.tableName()));
    for (const tables::Table* table : tables::eventTables())
        context.expectRows(context.estimatedRows(table->tableName()));
    readUntimed(context);
    readDescription(context);
    readTopology(context);
    readLinkPeaks(context);
    readRoofs(context);
    readSampledRanges(context);
    readGpuProcesses(context);
    readWarnings(context);
    directory.strings.read(context);
    directory.identities.read(context, directory.strings);
    directory.kinds.read(context);
    readProcessStates(context, directory);
    readFacts(context, directory);
    readStacks(context, directory);
    // API calls come first, since they name the threads and so the processes.
    readApiCalls(context, directory);
    readKernels(context, directory);
    readMemcpys(context, directory);
    readMemsets(context, directory);
    readGraphs(context, directory);
    readGraphNodes(context, directory);
    readMemoryEvents(context, directory);
    readUnifiedMemory(context, directory);
    readSyncs(context, directory);
    readEventRecords(context, directory);
    readNvtx(context, directory);
    readOtherCalls(context, directory);
    readRecordedTime(context, directory);
    readCounters(context, directory);
    // Threads that launched work come first.
    SampledStates samples = readThreadStates(context, directory);
    const CoreTimes onCore = readSchedule(context, directory, std::move(samples));
    readSystemCalls(context, directory);
    readSamples(context, directory, onCore);
    readOverhead(context);
    noteSkippedNsightTables(context);
}

/// Notes that the file differs from the recording.
void noteDifferences(const Database& database, TraceBuilder& builder) {
    if (auto ignored = database.ignoredFiles())
        builder.note({ignored->severity, ignored->code, std::move(ignored->sentence)});
    if (auto doubt = database.doubt())
        builder.note({doubt->severity, doubt->code, std::move(doubt->sentence)});
    else if (database.sealState() == SealState::None && wasSealed(database))
        builder.note({Severity::Warning, HealthCode::TraceChanged,
                      "The checksums of the trace are missing: another program modified it, or its "
                      "recording was interrupted."});
}

}  // namespace

void MemoryKinds::read(LoadContext& context) {
    memcpyKinds_ = readNames<MemcpyKind>(context, tables::memcpyKinds, memcpyKindCount);
    memoryKinds_ = readNames<MemoryKind>(context, tables::memoryKinds, memoryKindCount);
    if (memoryKinds_.empty()) countsFromOne_ = copiesCountFromOne(context);
}

MemcpyKind MemoryKinds::memcpyKind(int64_t number) const {
    if (memcpyKinds_.empty()) return memcpyKindFrom(number);
    return valueOr(memcpyKinds_, number, MemcpyKind::Unknown);
}

MemoryKind MemoryKinds::memoryKind(int64_t number) const {
    if (memoryKinds_.empty()) return memoryKindFrom(countsFromOne_ && number >= 0 ? number - 1 : number);
    return valueOr(memoryKinds_, number, MemoryKind::Unknown);
}

void readStacks(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::stacks;
    TableReader reader(context, t, "Python stacks");
    const auto text = [&](const auto& column) { return reader.string(column, directory.strings).value_or(0); };
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.id);
        const std::optional<int64_t> parent = reader.integer(t.parentId);
        const auto outer = parent ? directory.stacks.find(*parent) : directory.stacks.end();
        if (reader.skipRowIf(!id || (parent && outer == directory.stacks.end()))) continue;
        const uint32_t stack =
            context.builder().stack(parent ? outer->second : noIndex, text(t.functionId), text(t.fileId),
                                    reader.unsigned32(t.line), text(t.moduleId), text(t.operatorsId), text(t.codeId));
        if (!reader.skipRowIf(stack == noIndex)) directory.stacks.try_emplace(*id, stack);
    }
}

SqliteKind kindOf(const Database& database) {
    if (database.pragma("application_id") == traceApplicationId) return SqliteKind::Lanescope;
    if (isOfNvprof(database)) return SqliteKind::Nvprof;
    if (isOfRocm(database)) return isOfRpd(database) ? SqliteKind::Rpd : SqliteKind::Rocpd;
    if (!isOfNsight(database)) return isOfHip(database) ? SqliteKind::Hip : SqliteKind::Unknown;
    return hasOurTables(database) ? SqliteKind::Lanescope : SqliteKind::Nsight;
}

size_t noteSkippedTables(LoadContext& context, std::span<const UnreadTable> tables) {
    size_t notes = 0;
    for (const UnreadTable& each : tables) {
        context.reads(each.table);
        const int64_t rows = context.database().rowCount(each.table);
        if (rows == 0) continue;
        ++notes;
        context.builder().noteNotShown(rows, fmt::format("rows of {} ({})", each.table, each.rows));
    }
    return notes;
}

void noteSkippedNsightTables(LoadContext& context) {
    noteSkippedTables(context, tablesOfNsight);
    noteUnknown(context);
}

void readSqliteTrace(LoadContext& context) {
    readEverything(context);
    noteDifferences(context.database(), context.builder());
}

}  // namespace lanescope
