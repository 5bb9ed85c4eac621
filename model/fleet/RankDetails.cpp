// SPDX-License-Identifier: Apache-2.0
#include "model/fleet/RankDetails.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "model/analysis/storedSummary.h"
#include "model/format/Inserter.h"
#include "model/format/OutputFile.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Stored.h"
#include "model/system/system.h"
#include "model/trace/collectives.h"
#include "model/trace/gpuNames.h"

namespace lanescope::fleet {

namespace {

/// Maximum clock readings of a rank, more than any process writes. A hostile file could have any number.
constexpr size_t maxClocks = 4096;

struct FoundWorker {
    uint32_t number = noIndex;
    const WorkerSteps* steps = nullptr;
};

/// Returns the workers of the summary with their steps, in its order.
std::vector<FoundWorker> workersOf(const Trace& trace, const analysis::RunSummary& run, const RunSteps& steps) {
    std::vector<FoundWorker> found;
    for (const WorkerSteps& each : steps.workers) {
        const uint32_t number = workerOf(run, trace, each.process, each.gpu);
        // Both were found in the same way; steps missing from a summary are also missing here.
        if (number != noIndex && run.workers[number].steps.size() == each.steps.size())
            found.push_back({number, &each});
    }
    std::ranges::sort(found, {}, [](const auto& each) { return each.number; });
    return found;
}

RankPlace placeOf(const Trace& trace, const FoundWorker& worker) {
    const Process& process = trace.processes[worker.steps->process];
    return RankPlace{.worker = worker.number,
                     .host = process.facts->host.empty() ? trace.facts.host : process.facts->host,
                     .bootId = process.facts->bootId,
                     .localRank = process.localRank,
                     .worldSize = process.worldSize,
                     .gpuUuid = trace.gpus[worker.steps->gpu].uuid,
                     .range = process.range};
}

/// Adds NCCL's calls of all workers. A call without a kernel goes to the first of several workers of its process.
void addCollectives(const Trace& trace, const std::vector<FoundWorker>& workers, RankDetails& details) {
    std::vector<FoundWorker> workerOfProcess(trace.processes.size());
    for (const FoundWorker& each : workers) {
        FoundWorker& first = workerOfProcess[each.steps->process];
        if (first.steps == nullptr) first = each;
    }
    const NcclTable& nccl = trace.nccl;
    std::map<std::pair<uint32_t, uint64_t>, size_t> communicators;  // indices into `RankDetails::communicators`
    std::map<std::pair<size_t, StringIndex>, int64_t> counts;
    for (uint32_t row = 0; row < nccl.size(); ++row) {
        const uint32_t nvtx = nccl.nvtx[row];
        const FoundWorker& worker = workerOfProcess[trace.threads[trace.nvtx.thread[nvtx]].process];
        const NcclFacts facts = nccl.facts[row];
        const uint64_t id = nccl.communicator[row];
        // A call captured into a graph runs later, as often as the graph.
        if (worker.steps == nullptr || id == 0 || facts.isCaptured || !isTimedCall(trace, row)) continue;
        const auto [known, isNew] = communicators.try_emplace({worker.number, id}, details.communicators.size());
        if (isNew) details.communicators.push_back({worker.number, id, {}, -1, -1, 0});
        RankCommunicator& communicator = details.communicators[known->second];
        if (facts.communicatorName != 0) communicator.name = trace.strings.at(facts.communicatorName);
        if (facts.rank >= 0) communicator.rank = facts.rank;
        if (facts.rankCount >= 0) communicator.rankCount = facts.rankCount;
        RankCollective call{.worker = worker.number, .communicator = id, .operation = nccl.operation[row]};
        const int64_t ofOperation = counts[{known->second, call.operation}]++;
        call.place = communicator.calls++;
        call.isNumbered = facts.sequence >= 0;
        call.number = call.isNumbered ? facts.sequence : ofOperation;
        call.bytes = nccl.bytes[row];
        call.call = {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
        if (facts.operationCount > 0) call.gpu = facts.gpu;
        call.sharedBy = facts.sharedBy;
        call.step = worker.steps->stepOf(call.gpu ? call.gpu->startNs : call.call.startNs, call.call.startNs);
        if (details.collectives.size() < maxCollectives) details.collectives.push_back(call);
    }
}

uint64_t asFlags(double value) { return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) : 0; }

/// Returns nullopt if no value is known in the range.
std::optional<CounterSummary> sumUp(const CounterSeries& counter, TimeRange range) {
    static const uint64_t slowing = slowingReasons();
    const bool areFlags = counter.unit == CounterUnit::Flags;
    double weighted = 0, timeNs = 0;
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    uint64_t flags = 0;
    for (uint32_t sample = 0; sample < counter.size(); ++sample) {
        const TimeRange held = counter.rangeOf(sample);
        const double value = counter.value(sample);
        const auto ns = static_cast<double>(std::min(held.endNs, range.endNs) - std::max(held.startNs, range.startNs));
        if (!(ns > 0) || !std::isfinite(value)) continue;
        flags |= asFlags(value);
        weighted += ns * (areFlags ? double((asFlags(value) & slowing) != 0) : value);
        timeNs += ns;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
    }
    if (timeNs == 0) return std::nullopt;
    CounterSummary made{.key = counter.key};
    if (counter.link >= 0) made.link = counter.link;
    made.device = counter.device;
    made.mean = weighted / timeNs;
    made.least = least;
    made.greatest = areFlags ? static_cast<double>(flags) : greatest;
    return made;
}

void addCounters(const Trace& trace, const std::vector<FoundWorker>& workers, RankDetails& details) {
    TimeRange range;
    for (const FoundWorker& each : workers) {
        if (each.steps->steps.empty()) continue;
        const TimeRange own{each.steps->steps.front().range.startNs, each.steps->steps.back().range.endNs};
        range = range.isEmpty() ? own : range.united(own);
    }
    for (const CounterSeries& counter : trace.counters) {
        if (counter.key.empty() || counter.core >= 0 || counter.process != noIndex) continue;
        std::optional<CounterSummary> made = sumUp(counter, range);
        if (!made) continue;
        if (counter.gpu != noIndex) {
            made->gpuId = trace.gpus[counter.gpu].id;
            made->gpuUuid = trace.gpus[counter.gpu].uuid;
        }
        details.counters.push_back(std::move(*made));
    }
}

struct Sum {
    int64_t count = 0, totalNs = 0, maxNs = 0;

    void add(int64_t durationNs) {
        ++count;
        totalNs += durationNs;
        maxNs = std::max(maxNs, durationNs);
    }
};

/// Assigns a column to each name that takes long, the last one to all others.
struct NameColumns {
    std::vector<uint32_t> columnOf;  ///< By name.
    std::vector<StringIndex> names;  ///< By column, without the last.
};

NameColumns columnsFor(const std::vector<int64_t>& totalNs) {
    NameColumns made;
    std::vector<StringIndex> order;
    for (StringIndex name = 0; name < totalNs.size(); ++name)
        if (totalNs[name] > 0) order.push_back(name);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](auto each) { return totalNs[each]; });
    if (order.size() > maxKernelNames) order.resize(maxKernelNames);
    made.columnOf.assign(totalNs.size(), static_cast<uint32_t>(order.size()));
    for (uint32_t column = 0; column < order.size(); ++column) made.columnOf[order[column]] = column;
    made.names = std::move(order);
    return made;
}

/// Calls `visit(row, name)` for each kernel of the worker.
void forEachKernel(const Trace& trace, const WorkerSteps& worker, auto visit) {
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        const Stream& stream = trace.streams[trace.kernels.stream[row]];
        if (stream.process == worker.process && stream.gpu == worker.gpu)
            visit(row, trace.launchConfigs.shortName(trace.kernels.config[row]));
    }
}

int64_t durationOf(const Trace& trace, uint32_t row) {
    return TimeRange{trace.kernels.startNs[row], trace.kernels.endNs[row]}.durationNs();
}

std::optional<std::string_view> orNull(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

std::optional<int64_t> orNull(int64_t number) { return number < 0 ? std::nullopt : std::optional(number); }

void writePlaces(const Database& database, const RankDetails& details, bool isHere, FirstError& error) {
    constexpr const auto& t = tables::storedPlaces;
    const system::ClockError clock = isHere ? system::clockError() : system::ClockError{};
    Inserter rows(database, t, error);
    for (const RankPlace& each : details.places)
        rows.insert(t.worker = each.worker, t.host = orNull(each.host), t.bootId = orNull(each.bootId),
                    t.localRank = each.localRank, t.worldSize = each.worldSize, t.gpuUuid = orNull(each.gpuUuid),
                    t.startNs = each.range.startNs, t.endNs = each.range.endNs, t.clockErrorNs = clock.estimatedNs,
                    t.clockMostErrorNs = clock.maxNs);
}

void writeClocks(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedClocks;
    Inserter rows(database, t, error);
    for (const ClockPair& each : details.clocks)
        rows.insert(t.worker = each.worker, t.realtimeNs = each.realtimeNs, t.monotonicNs = each.monotonicNs);
}

void writeCommunicators(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedCommunicators;
    Inserter rows(database, t, error);
    for (const RankCommunicator& each : details.communicators)
        rows.insert(t.worker = each.worker, t.communicator = static_cast<int64_t>(each.id), t.name = orNull(each.name),
                    t.rank = orNull(each.rank), t.ranks = orNull(each.rankCount), t.calls = each.calls);
}

void writeCollectives(const Database& database, const Trace& trace, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedCollectives;
    Inserter rows(database, t, error);
    for (const RankCollective& each : details.collectives) {
        // Emptied explicitly: g++ would warn about an uninitialised value.
        const TimeRange gpu = each.gpu.value_or(TimeRange{});
        std::optional<int64_t> gpuNs(gpu.startNs), gpuEndNs(gpu.endNs);
        if (!each.gpu) gpuNs = gpuEndNs = std::nullopt;
        rows.insert(t.worker = each.worker, t.communicator = static_cast<int64_t>(each.communicator),
                    t.operation = trace.strings.at(each.operation), t.place = each.place, t.number = each.number,
                    t.isNumbered = each.isNumbered, t.bytes = orNull(each.bytes),
                    t.step = each.step == noIndex ? std::nullopt : std::optional(each.step),
                    t.callNs = each.call.startNs, t.callEndNs = each.call.endNs, t.gpuNs = gpuNs, t.gpuEndNs = gpuEndNs,
                    t.sharedBy = each.sharedBy);
    }
}

void writeKernels(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedKernels;
    Inserter rows(database, t, error);
    for (const StepKernels& each : details.kernels)
        rows.insert(t.worker = each.worker, t.name = each.name, t.step = each.step, t.steps = each.steps,
                    t.count = each.count, t.totalNs = each.totalNs, t.maxNs = each.maxNs);
}

void writeCounters(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedCounters;
    Inserter rows(database, t, error);
    for (const CounterSummary& each : details.counters)
        rows.insert(t.key = each.key, t.gpuId = each.gpuId, t.gpuUuid = orNull(each.gpuUuid), t.link = each.link,
                    t.device = orNull(each.device), t.mean = each.mean, t.least = each.least,
                    t.greatest = each.greatest);
}

Result<void> fill(Database database, const Trace& trace, const analysis::RunSummary& run, const RankDetails& details,
                  bool isHere) {
    // "LNSR": a reader of traces does not take it for one.
    if (auto named = database.execute("PRAGMA application_id = 0x4c4e5352"); !named) return named;
    if (auto written = analysis::writeRunSummary(database, run); !written) return written;
    return writeRankDetails(database, trace, details, isHere);
}

}  // namespace

uint32_t workerOf(const analysis::RunSummary& run, const Trace& trace, uint32_t process, uint32_t gpu) {
    const Process& of = trace.processes[process];
    for (uint32_t number = 0; number < run.workers.size(); ++number) {
        const analysis::WorkerSummary& worker = run.workers[number];
        if (worker.pid == of.pid && worker.rank == of.rank && worker.gpuId == trace.gpus[gpu].id) return number;
    }
    return noIndex;
}

Result<RankDetails> rankDetails(const Trace& trace, const analysis::RunSummary& run) {
    RankDetails details;
    if (run.workers.empty()) return details;
    const Result<RunSteps> steps = findSteps(trace);
    if (!steps) return fail(steps.error());
    const std::vector<FoundWorker> workers = workersOf(trace, run, *steps);
    const LaunchRows launches(trace);
    for (const FoundWorker& each : workers) {
        details.places.push_back(placeOf(trace, each));
        addKernels(trace, launches, *each.steps, each.number, details.kernels);
    }
    addCollectives(trace, workers, details);
    addCounters(trace, workers, details);
    return details;
}

std::vector<ClockPair> readClocks(const Database& database, const Trace& trace, const analysis::RunSummary& run) {
    constexpr const auto& t = tables::clocks;
    std::map<int64_t, uint32_t> workers;
    for (const Process& process : trace.processes)
        for (uint32_t number = 0; number < run.workers.size(); ++number)
            if (run.workers[number].pid == process.pid && run.workers[number].rank == process.rank)
                workers.try_emplace(process.globalPid, number);
    std::vector<ClockPair> pairs;
    if (!database.hasTable(t.tableName())) return pairs;
    auto rows = database.prepare(selectSql(t));
    if (!rows) return pairs;
    const auto at = [&](auto column) { return static_cast<int>(column.number()); };
    const auto number = [&](auto column) {
        return rows->isInteger(at(column)) ? std::optional(rows->integer(at(column))) : std::nullopt;
    };
    for (auto row = rows->step(); row && *row && pairs.size() < maxClocks; row = rows->step()) {
        const auto worker = workers.find(number(t.globalPid).value_or(-1));
        if (worker != workers.end()) pairs.push_back({worker->second, number(t.realtimeNs), number(t.monotonicNs)});
    }
    return pairs;
}

void addKernels(const Trace& trace, const LaunchRows& launches, const WorkerSteps& steps, uint32_t worker,
                std::vector<StepKernels>& out) {
    std::vector<int64_t> totalNs(trace.strings.size(), 0);
    forEachKernel(trace, steps, [&](uint32_t row, StringIndex name) { totalNs[name] += durationOf(trace, row); });
    const NameColumns columns = columnsFor(totalNs);
    const size_t width = columns.names.size() + 1;
    const size_t stepCount = steps.steps.size();
    const size_t most = std::max<size_t>(maxKernelRows / width, 1);
    const size_t stretch = std::max<size_t>((stepCount + most - 1) / most, 1);
    std::vector<Sum> sums((stepCount + stretch - 1) / stretch * width);
    forEachKernel(trace, steps, [&](uint32_t row, StringIndex name) {
        const uint32_t call = launches.ofKernel[row];
        const uint32_t step =
            steps.stepOf(trace.kernels.startNs[row],
                         call == noIndex ? std::nullopt : std::optional<int64_t>(trace.apiCalls.startNs[call]));
        if (step != noIndex) sums[step / stretch * width + columns.columnOf[name]].add(durationOf(trace, row));
    });
    for (size_t cell = 0; cell < sums.size(); ++cell) {
        const Sum& sum = sums[cell];
        if (sum.count == 0) continue;
        const size_t first = cell / width * stretch;
        const size_t column = cell % width;
        out.push_back(
            {worker,
             column < columns.names.size() ? std::string(trace.strings.at(columns.names[column])) : std::string(),
             static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(stretch, stepCount - first)), sum.count,
             sum.totalNs, sum.maxNs});
    }
}

Result<void> writeRankDetails(Database& database, const Trace& trace, const RankDetails& details, bool isHere) {
    if (auto begun = database.execute("BEGIN"); !begun) return begun;
    FirstError error;
    writePlaces(database, details, isHere, error);
    writeClocks(database, details, error);
    writeCommunicators(database, details, error);
    writeCollectives(database, trace, details, error);
    writeKernels(database, details, error);
    writeCounters(database, details, error);
    if (error) {
        // The reason of the failed write is the better error.
        static_cast<void>(database.execute("ROLLBACK"));
        return fail(*error);
    }
    return database.execute("COMMIT");
}

std::filesystem::path summaryName(const std::filesystem::path& trace) {
    std::filesystem::path name = trace.filename();
    if (name.extension() == ".gz") name.replace_extension();
    return name.replace_extension(summaryExtension);
}

Result<void> writeSummaryFile(const std::filesystem::path& path, const Trace& trace, const analysis::RunSummary& run,
                              const RankDetails& details, bool isHere) {
    // SQLite does not work next to the summary: many ranks may write to that file system at once.
    const Result<ScratchFolder> temporary = ScratchFolder::create();
    if (!temporary) return fail(temporary.error());
    const std::string name = "summary.sqlite";
    const std::filesystem::path place = temporary->path() / name;
    Result<Database> database = Database::create(place);
    if (!database) return fail(database.error());
    if (auto filled = fill(std::move(*database), trace, run, details, isHere); !filled) return filled;
    const UniqueFd file = temporary->openFile(name);
    std::string bytes;
    if (file < 0 || !readToEnd(file, bytes) || bytes.empty()) return fail("Cannot read {}.", place.string());
    Result<AtomicFile> out = AtomicFile::create(path);
    if (!out) return fail(out.error());
    out->write(bytes);
    return out->commit();
}

}  // namespace lanescope::fleet
