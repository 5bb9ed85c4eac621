#include "model/load/loadTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "model/values/formatTable.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"
#include "model/load/LoadContext.h"
#include "model/build/finishTrace.h"
#include "model/load/readers.h"
#include "model/load/unpackGzip.h"

namespace lanescope {

namespace {

constexpr std::array eventTables{
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "NVTX_EVENTS",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "LANESCOPE_COUNTER_SAMPLES",
    "GPU_METRICS",
};

/// Whether the tables are those of a trace, ours or Nsight's. An export of a run without GPU work
/// has none of the tables of events.
bool isTrace(const Database& database) {
    if (database.pragma("application_id") == traceApplicationId) return true;
    for (const char* table : eventTables)
        if (database.hasTable(table)) return true;
    return database.hasTable("StringIds") &&
           (database.hasTable("PROCESSES") || database.hasTable("ThreadNames"));
}

/// Share of the progress that unpacking takes where there is something to unpack.
constexpr double unpackingShare = 0.4;

/// How far a load has come when all is read.
constexpr double finishingFrom = 0.85;

/// Opens `path`, and unpacks it first if it is compressed; the unpacked copy lives as long as the
/// database is open.
Result<Database> openDatabase(const std::filesystem::path& path, bool isCompressed,
                              const LoadProgress& progress) {
    if (!isCompressed) return Database::openReadOnly(path);
    const Result<TemporaryFile> unpacked =
        unpackGzip(path, UnpackLimits{}, partOf(progress, 0, unpackingShare));
    if (!unpacked) return fail(unpacked.error());
    return Database::openReadOnly(unpacked->descriptor(), path);
}

void readEverything(LoadContext& context) {
    FileDirectory directory(context.trace());
    context.expectRows(context.estimatedRows("StringIds"));
    for (const char* table : eventTables) context.expectRows(context.estimatedRows(table));
    readDescription(context);
    readTopology(context);
    readLinkPeaks(context);
    readSampledRanges(context);
    readGpuProcesses(context);
    readHealth(context);
    directory.strings.read(context);
    directory.identities.read(context, directory.strings);
    directory.kinds.read(context);
    readProcessStates(context, directory);
    readFacts(context, directory);
    // API calls first: they name the threads, and with them the processes.
    readApiCalls(context, directory);
    readKernels(context, directory);
    readMemcpys(context, directory);
    readMemsets(context, directory);
    readGraphs(context, directory);
    readMemoryEvents(context, directory);
    readPageFaults(context, directory);
    readSyncs(context, directory);
    readEventRecords(context, directory);
    readNvtx(context, directory);
    readRecordedTime(context, directory);
    readCounters(context, directory);
    readOverhead(context);
    context.noteSkipped();
}

/// Beyond four, who makes tables of the rows does not keep up with who reads them.
unsigned usualThreads() {
    return std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
}

/// Says how many events have no times, unless the recorder has said it of each process.
void noteUntimed(LoadContext& context) {
    int64_t found = 0;
    for (const EventCount& count : context.trace().counts) found += count.untimed;
    int64_t noted = 0;
    for (const HealthNote& note : context.trace().health)
        if (note.code == HealthCode::Untimed) noted += std::clamp<int64_t>(note.count.value_or(0), 0, found);
    if (noted >= found) return;
    for (const EventCount& count : context.trace().counts)
        if (count.untimed > 0)
            context.note({Severity::Warning,
                          HealthCode::Untimed,
                          fmt::format("{} of {} {} carry no time and are not shown.",
                                      formatCount(count.untimed), formatCount(count.total),
                                      count.name),
                          {},
                          {},
                          count.untimed});
}

/// Says what the recorder has not noted with more detail.
void noteCounts(LoadContext& context) {
    const std::vector<EventCount>& counts = context.trace().counts;
    noteUntimed(context);
    if (std::all_of(counts.begin(), counts.end(), [](const EventCount& each) { return each.total == 0; }))
        context.note({Severity::Warning, HealthCode::NoEvents,
                      "This trace holds no events: no CUDA work, API call or NVTX range was "
                      "recorded."});
    for (const Process& process : context.trace().processes)
        if (process.endedAbnormally &&
            !context.isNoted(HealthCode::ProcessEndedAbnormally, process.globalPid))
            context.note({Severity::Warning, HealthCode::ProcessEndedAbnormally,
                          fmt::format("Process {} ended abnormally: the last of its events may be "
                                      "missing.",
                                      process.pid),
                          process.globalPid});
}

/// Finishes the trace beside this thread, which reports that and learns whether it is still wanted.
/// False once it is not.
bool finish(LoadContext& context, unsigned threads) {
    constexpr std::chrono::milliseconds betweenReports{20};
    const auto report = [&context] { return context.report(finishingFrom, "tracks"); };
    if (!report()) return false;
    std::stop_source stop;
    std::future<bool> finished;
    try {
        finished = std::async(std::launch::async, [&context, threads, token = stop.get_token()] {
            return finishTrace(context.trace(), threads, token);
        });
    } catch (const std::system_error&) {
        // The system gives no more threads.
        return finishTrace(context.trace(), threads);
    }
    while (finished.wait_for(betweenReports) != std::future_status::ready)
        if (!report()) stop.request_stop();
    return finished.get() && !context.isCancelled();
}

Result<std::shared_ptr<Trace>> readDatabase(const Database& database,
                                            const std::filesystem::path& path, unsigned threads,
                                            const LoadProgress& progress) {
    if (!isTrace(database))
        return fail(
            "{} is no trace: it is an SQLite file, but without the tables of Lanescope or of "
            "an Nsight Systems export.",
            path.string());
    auto trace = std::make_shared<Trace>();
    trace->path = path;
    trace->title = path.filename().string();
    LoadContext context(database, *trace, threads, progress);
    readEverything(context);
    noteCounts(context);
    if (context.isCancelled() || !finish(context, threads))
        return fail("Opening {} was cancelled.", path.string());
    return trace;
}

}  // namespace

LoadProgress partOf(const LoadProgress& progress, double from, double to) {
    if (!progress) return {};
    return [&progress, from, to](double fraction, std::string_view what) {
        return progress(from + fraction * (to - from), what);
    };
}

Result<TracePtr> loadTrace(const std::filesystem::path& path, const LoadProgress& progress) {
    Result<std::shared_ptr<Trace>> trace = readTrace(path, progress);
    if (!trace) return fail(trace.error());
    return TracePtr(std::move(*trace));
}

Result<std::shared_ptr<Trace>> readTrace(const std::filesystem::path& path,
                                         const LoadProgress& progress, unsigned threads) {
    const bool isCompressed = isGzip(path);
    const Result<Database> database = openDatabase(path, isCompressed, progress);
    if (!database) return fail(database.error());
    return readDatabase(*database, path, threads == 0 ? usualThreads() : threads,
                        partOf(progress, isCompressed ? unpackingShare : 0, 1));
}

Result<TracePtr> loadOpenTrace(int descriptor, const std::filesystem::path& path,
                               const LoadProgress& progress) {
    const Result<Database> database = Database::openReadOnly(descriptor, path);
    if (!database) return fail(database.error());
    Result<std::shared_ptr<Trace>> trace = readDatabase(*database, path, 1, progress);
    if (!trace) return fail(trace.error());
    return TracePtr(std::move(*trace));
}

}  // namespace lanescope
