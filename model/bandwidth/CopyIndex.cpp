// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyIndex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>

#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr int64_t manyCopies = 1000;
/// Minimum gains that are reported, as shares of the examined time.
constexpr double minPinningGain = 0.002, minBatchingGain = 0.005, minOverlappingGain = 0.02, minNotWaitingGain = 0.01,
                 minOtherLinkGain = 0.002;
constexpr double wellOverlappedPercent = 50;

/// A sum over GPUs.
struct Sum {
    int64_t bytes = 0, ratedBytes = 0, ratedNs = 0, gpuBusyNs = 0, overlappedNs = 0;

    void add(const CopyStatistics& row) {
        bytes = saturatingSum(bytes, row.bytes);
        ratedBytes = saturatingSum(ratedBytes, row.ratedBytes);
        ratedNs = saturatingSum(ratedNs, row.ratedNs);
        gpuBusyNs = saturatingSum(gpuBusyNs, row.gpuBusyNs);
        overlappedNs = saturatingSum(overlappedNs, row.overlappedNs);
    }
    double gigabytesPerSecond() const {
        return ratedNs > 0 ? static_cast<double>(ratedBytes) / static_cast<double>(ratedNs) : 0;
    }
};

size_t slotOf(MemcpyKind kind) { return static_cast<size_t>(kind); }

/// "9.6", "55", "0.42".
std::string rate(double gigabytesPerSecond) { return fmt::format("{:.3g}", gigabytesPerSecond); }

constexpr uint32_t runLength = 256;
constexpr uint32_t talliedTogether = 1024;
constexpr size_t maxClasses = std::numeric_limits<uint16_t>::max();

bool isBetweenGpus(MemcpyKind kind) { return kind == MemcpyKind::PtoP || kind == MemcpyKind::UvmDtoD; }

uint32_t gpuOr(int16_t gpu, uint32_t fallback, size_t gpuCount) {
    return gpu >= 0 && static_cast<size_t>(gpu) < gpuCount ? static_cast<uint32_t>(gpu) : fallback;
}

/// Returns the part of a group that a grouping distinguishes.
CopyGroup reduced(CopyGroup group, CopyGrouping grouping) {
    const bool isPair = group.peer != group.gpu;
    if (grouping == CopyGrouping::Kind) group.source = group.destination = MemoryKind::Unknown;
    if (grouping != CopyGrouping::Device && !isPair) group.gpu = group.peer = noIndex;
    return group;
}

constexpr double logarithmicFrom = 30;
constexpr int maxPlaces = 1 << 11;

/// Range of a chart's copies, found in a first pass: keeping ten million copies would take more memory than the trace.
struct Extent {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int64_t minBytes = 0, maxBytes = 0, count = 0;
};

Extent extentOf(const CopyIndex& index, const CopyIndex::Query& query) {
    Extent all;
    index.visitRated(query, all.groups, [&all](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            const bool isFirst = all.count++ == 0;
            const double rate = point.gigabytesPerSecond;
            all.rates.minGBps = isFirst ? rate : std::min(all.rates.minGBps, rate);
            all.rates.maxGBps = std::max(all.rates.maxGBps, rate);
            all.minBytes = isFirst ? point.bytes : std::min(all.minBytes, point.bytes);
            all.maxBytes = std::max(all.maxBytes, point.bytes);
        }
    });
    return all;
}

/// Returns the position of `share` in [0, 1] among `count`.
int placeOf(double share, int count) { return std::clamp(static_cast<int>(share * count), 0, count - 1); }

/// Maps values to the interval from the minimum (0) to the maximum (1).
class Scale {
  public:
    Scale(double least, double most, bool isLogarithmic)
        : min_(least), whole_(isLogarithmic ? std::log(most / least) : most), isLogarithmic_(isLogarithmic) {}
    double shareOf(double value) const {
        if (!(whole_ > 0)) return 0;
        return isLogarithmic_ ? std::log(value / min_) / whole_ : value / whole_;
    }

  private:
    double min_, whole_;
    bool isLogarithmic_;
};

Scale scaleOf(const RateExtent& rates) { return {rates.minGBps, rates.maxGBps, rates.isLogarithmic()}; }

double shareOfTime(int64_t timeNs, const TimeRange& range) {
    if (range.endNs <= range.startNs || timeNs <= range.startNs) return 0;
    const auto distance = [&](int64_t to) {
        return static_cast<double>(static_cast<uint64_t>(to) - static_cast<uint64_t>(range.startNs));
    };
    return distance(timeNs) / distance(range.endNs);
}

bool isLarger(const CopyPoint& a, const CopyPoint& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.startNs < b.startNs;
}

}  // namespace

bool CopyAdviser::isWorthIt(int64_t gainNs, double share) const {
    return gainNs > 0 && static_cast<double>(gainNs) >= share * static_cast<double>(range_.durationNs());
}

void CopyAdviser::advisePinning(MemcpyKind kind, const std::vector<CopyStatistics>& rows) {
    Sum all, pageable;
    std::optional<CopyPeak> peak;
    for (const CopyStatistics& row : rows) {
        if (row.group.isMemset || row.group.kind != kind) continue;
        all.add(row);
        if (hostSideOf(row.group) != MemoryKind::Pageable) continue;
        pageable.add(row);
        if (!peak) peak = peakOfCopy(trace_, kind, MemoryKind::Pinned, trace_.gpus[row.group.gpu].id);
    }
    if (pageable.ratedNs == 0 || all.bytes <= 0) return;
    const CopyTally& tally = tallies_[slotOf(kind)];
    double reachable = 0;
    std::string reaches;
    if (peak && peak->link == LinkKind::HostCopy) {
        reachable = peak->gigabytesPerSecond;
        reaches = fmt::format("pinned copies reach {} GB/s (measured)", rate(reachable));
    } else if (tally.pinnedNs > 0) {
        reachable = static_cast<double>(tally.pinnedBytes) / static_cast<double>(tally.pinnedNs);
        reaches = fmt::format("pinned copies of this run reach {} GB/s", rate(reachable));
    } else if (peak) {
        reachable = peak->gigabytesPerSecond;
        reaches = fmt::format("pinned copies can reach {} GB/s (nominal)", rate(reachable));
    }
    const double actual = pageable.gigabytesPerSecond();
    if (reachable <= actual) return;
    const auto gainNs = static_cast<int64_t>(static_cast<double>(pageable.gpuBusyNs) * (1 - actual / reachable));
    if (!isWorthIt(gainNs, minPinningGain)) return;
    const double share = 100 * static_cast<double>(pageable.bytes) / static_cast<double>(all.bytes);
    advice_.push_back(
        {AdviceKind::PageableMemory,
         fmt::format("{:.0f} % of {} bytes were pageable at {} GB/s; {}. Pinning could save about {} of {} of the run.",
                     share, name(kind), rate(actual), reaches, formatDuration(gainNs),
                     formatDuration(range_.durationNs())),
         gainNs, tally.slowestPageable});
}

void CopyAdviser::adviseBatching(MemcpyKind kind) {
    const CopyTally& tally = tallies_[slotOf(kind)];
    const int64_t gainNs = std::max(tally.tinyCallNs, tally.tinyGpuNs);
    if (tally.tinyCount < manyCopies || !isWorthIt(gainNs, minBatchingGain)) return;
    const std::string where = tally.tinyCallNs > tally.tinyGpuNs
                                  ? fmt::format("{} in the calls, {} on the GPU", formatDuration(tally.tinyCallNs),
                                                formatDuration(tally.tinyGpuNs))
                                  : fmt::format("{} on the GPU", formatDuration(tally.tinyGpuNs));
    advice_.push_back({AdviceKind::TinyCopies,
                       fmt::format("{} {} copies under 4 KiB: {}. Their cost is latency. Batch them.",
                                   formatCount(tally.tinyCount), name(kind), where),
                       gainNs, tally.tinyExample});
}

void CopyAdviser::adviseOverlap(MemcpyKind kind, const std::vector<CopyStatistics>& rows) {
    Sum sum;
    bool isPageable = false;
    std::map<uint32_t, Sum> byGpu;
    for (const CopyStatistics& row : rows) {
        if (row.group.isMemset || row.group.kind != kind) continue;
        sum.add(row);
        isPageable = isPageable || hostSideOf(row.group) == MemoryKind::Pageable;
        byGpu[row.group.gpu].add(row);
    }
    // Copies overlap only with kernels of their GPU, and with none twice.
    int64_t gainNs = 0;
    for (const auto& [gpu, of] : byGpu) {
        const int64_t kernelNs = gpu < kernelNs_.size() ? kernelNs_[gpu] : 0;
        gainNs +=
            std::clamp<int64_t>(of.gpuBusyNs - of.overlappedNs, 0, std::max<int64_t>(0, kernelNs - of.overlappedNs));
    }
    if (sum.gpuBusyNs <= 0 || !isWorthIt(gainNs, minOverlappingGain)) return;
    const double percent = 100 * static_cast<double>(sum.overlappedNs) / static_cast<double>(sum.gpuBusyNs);
    if (percent >= wellOverlappedPercent) return;
    const std::string overlapText = percent < 0.5 ? "none" : fmt::format("only {:.0f} %", percent);
    advice_.push_back({AdviceKind::NotOverlapped,
                       fmt::format("{} copies took {}, {} of it overlapped with kernels of the same GPU: on a separate "
                                   "stream{}, up to {} could be overlapped.",
                                   name(kind), formatDuration(sum.gpuBusyNs), overlapText,
                                   isPageable ? ", and with pinned memory" : "", formatDuration(gainNs)),
                       gainNs, tallies_[slotOf(kind)].longest});
}

void CopyAdviser::adviseNotWaiting() {
    const CopyTally& tally = tallies_[slotOf(MemcpyKind::DtoH)];
    if (!isWorthIt(tally.holdingCallNs, minNotWaitingGain)) return;
    advice_.push_back(
        {AdviceKind::BlockingCopies,
         fmt::format(
             "{} DtoH copies blocked their threads for {}, waiting for earlier work: read results later or less often.",
             formatCount(tally.holdingCount), formatDuration(tally.holdingCallNs)),
         tally.holdingCallNs, tally.holdingExample});
}

void CopyAdviser::adviseOnPeers(const std::vector<CopyStatistics>& rows) {
    for (const CopyStatistics& row : rows) {
        if (row.group.kind != MemcpyKind::PtoP || row.group.gpu == row.group.peer) continue;
        const int64_t gpu = trace_.gpus[row.group.gpu].id;
        const int64_t peer = trace_.gpus[row.group.peer].id;
        const GpuConnection* const connection = connectionOf(trace_, gpu, peer);
        const std::optional<double> mean = row.meanGBps();
        if (!connection || connection->nvlinks > 0 || !mean || !isWorthIt(row.gpuBusyNs, minOtherLinkGain)) continue;
        const std::string word = connection->abbreviation.empty() ? connection->name : connection->abbreviation;
        advice_.push_back(
            {AdviceKind::PeerOverPcie,
             fmt::format("{} were copied from GPU {} to GPU {} at {} GB/s in {}: no NVLink connects them ({}).",
                         formatBytes(row.bytes), gpu, peer, rate(*mean), formatDuration(row.gpuBusyNs),
                         word.empty() ? "PCIe" : word),
             row.gpuBusyNs, tallies_[slotOf(MemcpyKind::PtoP)].longest});
    }
}

std::vector<BandwidthAdvice> CopyAdviser::advise(const CopyTallies& tallies, const std::vector<CopyStatistics>& rows) {
    tallies_ = tallies;
    advisePinning(MemcpyKind::HtoD, rows);
    advisePinning(MemcpyKind::DtoH, rows);
    for (const MemcpyKind kind : {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD, MemcpyKind::PtoP})
        adviseBatching(kind);
    for (const MemcpyKind kind : {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::PtoP}) adviseOverlap(kind, rows);
    adviseNotWaiting();
    adviseOnPeers(rows);
    std::ranges::stable_sort(advice_, std::ranges::greater(), [](const auto& each) { return each.gainNs; });
    return std::move(advice_);
}

int64_t CopyIndex::KernelTime::before(int64_t timeNs) const {
    const auto after = std::ranges::upper_bound(startNs, timeNs);
    if (after == startNs.begin()) return 0;
    const auto last = static_cast<size_t>(after - startNs.begin()) - 1;
    return coveredNs[last] + std::min(timeNs, endNs[last]) - startNs[last];
}

CopyIndex::CopyIndex(TracePtr trace, uint32_t minCopies)
    : trace_(std::move(trace)), kernels_(trace_->gpus.size()), minCopiesForSums_(minCopies) {
    addKernels();
    memcpyCount_ = trace_->memcpys.size();
    const size_t count = size_t{memcpyCount_} + trace_->memsets.size();
    classOf_.reserve(count);
    coveredAtStart_.reserve(count);
    coveredAtEnd_.reserve(count);
    callNs_.reserve(count);
    holdsCaller_.reserve(count);
    addTable(trace_->memcpys, EventKind::Memcpy);
    addTable(trace_->memsets, EventKind::Memset);
    addTallies();
}

void CopyIndex::addKernels() {
    const auto append = [](KernelTime& time, int64_t startNs, int64_t endNs) {
        if (!time.endNs.empty() && startNs <= time.endNs.back()) {
            time.endNs.back() = std::max(time.endNs.back(), endNs);
            return;
        }
        time.startNs.push_back(startNs);
        time.endNs.push_back(endNs);
    };
    const auto add = [&](const auto& table, std::vector<KernelTime>& times) {
        for (uint32_t row = 0; row < table.size(); ++row)
            if (table.endNs[row] > table.startNs[row])
                append(times[trace_->streams[table.stream[row]].gpu], table.startNs[row], table.endNs[row]);
    };
    add(trace_->kernels, kernels_);
    if (trace_->graphs.size() > 0) {
        // Sorted on their own, but not with the kernels.
        std::vector<KernelTime> graphs(kernels_.size());
        add(trace_->graphs, graphs);
        for (size_t gpu = 0; gpu < kernels_.size(); ++gpu) {
            std::vector<std::pair<int64_t, int64_t>> all;
            for (const KernelTime* each : {&kernels_[gpu], &graphs[gpu]})
                for (size_t i = 0; i < each->startNs.size(); ++i) all.emplace_back(each->startNs[i], each->endNs[i]);
            std::ranges::sort(all);
            kernels_[gpu] = {};
            for (const auto& [startNs, endNs] : all) append(kernels_[gpu], startNs, endNs);
        }
    }
    for (KernelTime& time : kernels_) {
        int64_t coveredNs = 0;
        for (size_t i = 0; i < time.startNs.size(); ++i) {
            time.coveredNs.push_back(coveredNs);
            coveredNs += time.endNs[i] - time.startNs[i];
        }
    }
}

CopyIndex::CopyClass CopyIndex::classAt(EventKind kind, uint32_t row) const {
    CopyClass result;
    CopyGroup& group = result.group;
    const bool isMemset = kind == EventKind::Memset;
    const uint32_t stream = isMemset ? trace_->memsets.stream[row] : trace_->memcpys.stream[row];
    result.process = trace_->streams[stream].process;
    result.streamGpu = group.gpu = group.peer = trace_->streams[stream].gpu;
    group.isMemset = isMemset;
    if (isMemset) {
        group.source = group.destination = trace_->memsets.memory[row];
        return result;
    }
    const MemcpyTable& copies = trace_->memcpys;
    group.kind = copies.kind[row];
    group.source = copies.sourceMemory[row];
    group.destination = copies.destinationMemory[row];
    if (isBetweenGpus(group.kind)) {
        const uint32_t own = group.gpu;
        group.gpu = gpuOr(copies.sourceDevice[row], own, trace_->gpus.size());
        group.peer = gpuOr(copies.destinationDevice[row], own, trace_->gpus.size());
    }
    return result;
}

void CopyIndex::addTable(const auto& table, EventKind kind) {
    std::map<CopyClass, uint16_t> known;
    const ApiTable& calls = trace_->apiCalls;
    int64_t& longestNs = longestNs_[kind == EventKind::Memset ? 1 : 0];
    CopyClass last;
    uint16_t lastClass = 0;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const CopyClass found = classAt(kind, row);
        if (row == 0 || found != last) {
            const auto next = static_cast<uint16_t>(classes_.size());
            const auto [place, isNew] = known.try_emplace(found, next);
            if (isNew && classes_.size() < maxClasses) classes_.push_back(found);
            last = found;
            lastClass = std::min<uint16_t>(place->second, static_cast<uint16_t>(classes_.size() - 1));
        }
        classOf_.push_back(lastClass);
        const int64_t startNs = table.startNs[row], endNs = table.endNs[row];
        longestNs = std::max(longestNs, endNs - startNs);
        const KernelTime& kernels = kernels_[trace_->streams[table.stream[row]].gpu];
        coveredAtStart_.push_back(kernels.before(startNs));
        coveredAtEnd_.push_back(kernels.before(endNs));
        const EventRef call = trace_->launchingCall(EventRef(kind, row));
        int64_t callNs = 0;
        bool holds = false;
        if (call.isValid() && call.kind() == EventKind::Api) {
            callNs = calls.endNs[call.row()] - calls.startNs[call.row()];
            holds = calls.endNs[call.row()] >= endNs;
        }
        callNs_.push_back(static_cast<uint32_t>(std::clamp<int64_t>(callNs, 0, std::numeric_limits<uint32_t>::max())));
        holdsCaller_.push_back(holds);
    }
}

CopyIndex::Row CopyIndex::rowAt(uint32_t copy) const {
    if (copy < memcpyCount_) {
        const MemcpyTable& table = trace_->memcpys;
        return {table.startNs[copy], table.endNs[copy], table.bytes[copy]};
    }
    const MemsetTable& table = trace_->memsets;
    const uint32_t row = copy - memcpyCount_;
    return {table.startNs[row], table.endNs[row], table.bytes[row]};
}

EventRef CopyIndex::eventAt(uint32_t copy) const {
    return copy < memcpyCount_ ? EventRef(EventKind::Memcpy, copy) : EventRef(EventKind::Memset, copy - memcpyCount_);
}

std::vector<CopyGroup> CopyIndex::groupsOf(const Query& query, std::vector<uint32_t>& groupOfClass) const {
    std::vector<CopyGroup> groups;
    std::map<CopyGroup, uint32_t> known;
    groupOfClass.assign(classes_.size(), noIndex);
    for (size_t index = 0; index < classes_.size(); ++index) {
        if (query.process != noIndex && classes_[index].process != query.process) continue;
        const CopyGroup group = reduced(classes_[index].group, query.grouping);
        const auto [found, isNew] = known.try_emplace(group, static_cast<uint32_t>(groups.size()));
        if (isNew) groups.push_back(group);
        groupOfClass[index] = found->second;
    }
    return groups;
}

std::pair<uint32_t, uint32_t> CopyIndex::rowsIn(const auto& table, std::optional<TimeRange> range,
                                                int64_t longestNs) const {
    if (!range) return {0, table.size()};
    const auto firstFrom = [&](int64_t timeNs) {
        return *std::ranges::partition_point(std::views::iota(0U, table.size()),
                                             [&](uint32_t row) { return table.startNs[row] < timeNs; });
    };
    // Nothing is longer than the longest, so nothing before that reaches into the range.
    const int64_t beforeNs = range->startNs < std::numeric_limits<int64_t>::min() + longestNs
                                 ? std::numeric_limits<int64_t>::min()
                                 : range->startNs - longestNs;
    return {firstFrom(beforeNs), firstFrom(range->endNs)};
}

void CopyIndex::forEachRow(const auto& table, std::pair<uint32_t, uint32_t> rows, std::optional<TimeRange> range,
                           auto visit) const {
    // In runs: reading packed columns value by value costs more.
    std::array<int64_t, runLength> startNs, endNs, bytes;
    for (uint32_t from = rows.first; from < rows.second; from += runLength) {
        const size_t count = std::min<size_t>(runLength, rows.second - from);
        table.startNs.copyTo(std::span(startNs).first(count), from);
        table.endNs.copyTo(std::span(endNs).first(count), from);
        table.bytes.copyTo(std::span(bytes).first(count), from);
        for (uint32_t i = 0; i < count; ++i) {
            const Row copy{startNs[i], endNs[i], bytes[i]};
            if (range) {
                const bool isInside =
                    copy.endNs > range->startNs || (copy.startNs == copy.endNs && copy.startNs == range->startNs);
                if (!isInside) continue;
            }
            visit(from + i, copy);
        }
    }
}

void CopyIndex::forEachIn(const Query& query, auto visit) const {
    const MemcpyTable& memcpys = trace_->memcpys;
    forEachRow(memcpys, rowsIn(memcpys, query.range, longestNs_[0]), query.range, visit);
    const MemsetTable& memsets = trace_->memsets;
    forEachRow(memsets, rowsIn(memsets, query.range, longestNs_[1]), query.range,
               [&](uint32_t row, const Row& copy) { visit(memcpyCount_ + row, copy); });
}

CopySweep::Piece CopyIndex::pieceOf(uint32_t copy, const Row& row) const {
    return {row.startNs,           row.endNs,           row.bytes, classes_[classOf_[copy]].streamGpu,
            coveredAtStart_[copy], coveredAtEnd_[copy], false};
}

CopyLookup CopyIndex::lookup() const {
    return {[this](uint32_t copy) { return pieceOf(copy, rowAt(copy)); },
            [this](uint32_t gpu, int64_t timeNs) { return kernels_[gpu].before(timeNs); }};
}

std::vector<CopyStatistics> CopyIndex::sweep(const Query& query) const {
    std::vector<uint32_t> groupOfClass;
    const std::vector<CopyGroup> groups = groupsOf(query, groupOfClass);
    const bool bySize = query.grouping == CopyGrouping::Size;
    CopySweep sweep(groups.size(), kernels_.size(), bySize);
    forEachIn(query, [&](uint32_t copy, const Row& row) {
        const uint32_t group = groupOfClass[classOf_[copy]];
        if (group == noIndex) return;
        CopySweep::Piece piece = pieceOf(copy, row);
        if (query.range) piece = clippedTo(*query.range, piece);
        if (piece.isClipped) {
            piece.coveredAtStart = kernels_[piece.gpu].before(piece.startNs);
            piece.coveredAtEnd = kernels_[piece.gpu].before(piece.endNs);
        }
        sweep.add(group, bySize ? sizeBucketOf(row.bytes) : 0, piece);
    });
    return sweep.finish(groups);
}

std::vector<CopyGroupSums> CopyIndex::makeSums(CopyGrouping grouping) const {
    std::vector<uint32_t> groupOfClass;
    const std::vector<CopyGroup> groups = groupsOf({grouping, std::nullopt, noIndex}, groupOfClass);
    const bool bySize = grouping == CopyGrouping::Size;
    std::map<CopyGroup, std::vector<uint32_t>> copies;
    forEachIn({grouping, std::nullopt, noIndex}, [&](uint32_t copy, const Row& row) {
        CopyGroup group = groups[groupOfClass[classOf_[copy]]];
        if (bySize) group.sizeBucket = sizeBucketOf(row.bytes);
        copies[group].push_back(copy);
    });
    std::vector<CopyGroupSums> sums;
    for (auto& [group, members] : copies) sums.emplace_back(group, std::move(members), kernels_.size(), lookup());
    const bool areUsable = std::ranges::all_of(sums, [](const CopyGroupSums& each) { return each.isUsable(); });
    return areUsable ? std::move(sums) : std::vector<CopyGroupSums>();
}

const std::vector<CopyGroupSums>* CopyIndex::sumsFor(const Query& query) const {
    if (size() < minCopiesForSums_ || query.process != noIndex) return nullptr;
    Sums& sums = sums_[static_cast<size_t>(query.grouping)];
    // A query for all is hardly repeated; a query for a range is one of many while dragging.
    if (!query.range && !sums.isMade) return nullptr;
    std::call_once(sums.once, [&] {
        sums.groups = makeSums(query.grouping);
        sums.isMade = true;
    });
    return sums.groups.empty() ? nullptr : &sums.groups;
}

std::vector<CopyStatistics> CopyIndex::statistics(const Query& query) const {
    std::vector<CopyStatistics> rows;
    if (const std::vector<CopyGroupSums>* const sums = sumsFor(query)) {
        const CopyLookup known = lookup();
        for (const CopyGroupSums& each : *sums)
            if (auto row = each.sumUp(query.range, known)) rows.push_back(std::move(*row));
    } else {
        rows = sweep(query);
    }
    for (CopyStatistics& row : rows) row.peak = peakOfGroup(*trace_, row.group);
    std::ranges::sort(rows, [](const auto& a, const auto& b) {
        if (a.bytes != b.bytes) return a.bytes > b.bytes;
        return a.group < b.group;
    });
    return rows;
}

std::vector<BandwidthAdvice> CopyIndex::advice(std::optional<TimeRange> range) const {
    const TimeRange counted = range.value_or(trace_->range);
    std::vector<int64_t> kernelNs;
    for (const KernelTime& kernels : kernels_)
        kernelNs.push_back(kernels.before(counted.endNs) - kernels.before(counted.startNs));
    return CopyAdviser(*trace_, counted, std::move(kernelNs))
        .advise(talliesIn(counted), statistics({CopyGrouping::Device, range, noIndex}));
}

TalliedCopy CopyIndex::talliedAt(uint32_t memcpy, const Row& row) const {
    const TimeRange when{row.startNs, row.endNs};
    return {eventAt(memcpy), when, when.durationNs(), row.bytes, callNs_[memcpy], holdsCaller_[memcpy]};
}

void CopyIndex::addTallies() {
    for (uint32_t from = 0; from < memcpyCount_; from += talliedTogether) {
        CopyTallies tallies{};
        TallyBlock block{.latestEndNs = std::numeric_limits<int64_t>::min()};
        forEachRow(trace_->memcpys, {from, std::min(memcpyCount_, from + talliedTogether)}, {},
                   [&](uint32_t copy, const Row& row) {
                       const CopyGroup& group = classes_[classOf_[copy]].group;
                       tallies[static_cast<size_t>(group.kind)].add(group, talliedAt(copy, row));
                       block.latestEndNs = std::max(block.latestEndNs, row.endNs);
                   });
        for (size_t kind = 0; kind < tallies.size(); ++kind)
            if (tallies[kind].count > 0) block.tallies.emplace_back(static_cast<MemcpyKind>(kind), tallies[kind]);
        tallyBlocks_.push_back(std::move(block));
    }
}

CopyTallies CopyIndex::talliesIn(TimeRange range) const {
    CopyTallies tallies{};
    const auto [first, last] = rowsIn(trace_->memcpys, range, longestNs_[0]);
    for (uint32_t from = first; from < last;) {
        const uint32_t number = from / talliedTogether;
        const uint32_t end = std::min(last, (number + 1) * talliedTogether);
        const TallyBlock& block = tallyBlocks_[number];
        const bool isWhole = from % talliedTogether == 0 && end == std::min(memcpyCount_, from + talliedTogether) &&
                             trace_->memcpys.startNs[from] >= range.startNs && block.latestEndNs <= range.endNs;
        if (isWhole) {
            for (const auto& [kind, tally] : block.tallies) tallies[static_cast<size_t>(kind)].append(tally);
        } else {
            forEachRow(trace_->memcpys, {from, end}, range, [&](uint32_t copy, const Row& row) {
                TalliedCopy tallied = talliedAt(copy, row);
                tallied.partNs = tallied.when.intersected(range).durationNs();
                const CopyGroup& group = classes_[classOf_[copy]].group;
                tallies[static_cast<size_t>(group.kind)].add(group, tallied);
            });
        }
        from = end;
    }
    return tallies;
}

void CopyIndex::visitRated(const Query& query, std::vector<CopyGroup>& groups,
                           const std::function<void(std::span<const CopyPoint>)>& visit) const {
    std::vector<uint32_t> groupOfClass;
    groups = groupsOf(query, groupOfClass);
    std::array<CopyPoint, runLength> points;
    size_t count = 0;
    forEachIn(query, [&](uint32_t copy, const Row& row) {
        const uint32_t group = groupOfClass[classOf_[copy]];
        if (group == noIndex || row.bytes <= 0 || row.endNs <= row.startNs) return;
        points[count++] = {
            eventAt(copy), row.startNs, row.endNs,
            row.bytes,     group,       static_cast<double>(row.bytes) / static_cast<double>(row.endNs - row.startNs)};
        if (count < points.size()) return;
        visit(points);
        count = 0;
    });
    if (count > 0) visit(std::span(points).first(count));
}

bool RateExtent::isLogarithmic() const { return minGBps > 0 && maxGBps / minGBps > logarithmicFrom; }

CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid) {
    Extent all = extentOf(index, query);
    const TimeRange range = query.range.value_or(index.trace().range);
    const int columns = std::clamp(grid.columns, 1, maxPlaces);
    const int rows = std::clamp(grid.rows, 1, maxPlaces);
    const Scale rates = scaleOf(all.rates);
    const Scale sizes(static_cast<double>(all.minBytes), static_cast<double>(all.maxBytes), all.minBytes > 0);
    const auto columnOf = [&](const CopyPoint& point) {
        const double share = grid.across == CopyAxis::Time ? shareOfTime(point.startNs, range)
                                                           : sizes.shareOf(static_cast<double>(point.bytes));
        return placeOf(share, columns);
    };
    // For each group that has any, by column and row: its index in `cells`, from 1.
    std::vector<std::vector<uint32_t>> numbers(all.groups.size());
    std::vector<CopyCell> cells;
    index.visitRated(query, all.groups, [&](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            std::vector<uint32_t>& plane = numbers[point.group];
            if (plane.empty()) plane.resize(static_cast<size_t>(columns) * static_cast<size_t>(rows));
            const auto row = static_cast<size_t>(placeOf(rates.shareOf(point.gigabytesPerSecond), rows));
            uint32_t& number = plane[static_cast<size_t>(columnOf(point)) * static_cast<size_t>(rows) + row];
            if (number == 0) {
                cells.push_back({point, 1});
                number = static_cast<uint32_t>(cells.size());
                continue;
            }
            CopyCell& cell = cells[number - 1];
            if (isLarger(point, cell.largest)) cell.largest = point;
            ++cell.count;
        }
    });
    CopyCells result{.groups = std::move(all.groups),
                     .rates = all.rates,
                     .minBytes = all.minBytes,
                     .maxBytes = all.maxBytes,
                     .copyCount = all.count};
    result.cells.reserve(cells.size());
    for (const std::vector<uint32_t>& plane : numbers)
        for (const uint32_t number : plane)
            if (number > 0) result.cells.push_back(cells[number - 1]);
    return result;
}

double RateHistogram::binStart(int bin) const {
    if (binCount <= 0 || rates.isEmpty()) return 0;
    const double share = static_cast<double>(bin) / binCount;
    if (!rates.isLogarithmic()) return rates.maxGBps * share;
    return rates.minGBps * std::pow(rates.maxGBps / rates.minGBps, share);
}

RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount) {
    Extent all = extentOf(index, query);
    RateHistogram result{.rates = all.rates, .binCount = std::clamp(binCount, 1, maxPlaces)};
    const size_t groupCount = all.groups.size();
    const Scale rates = scaleOf(all.rates);
    std::vector<RateBin> bins(groupCount * static_cast<size_t>(result.binCount));
    index.visitRated(query, result.groups, [&](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            const int place = placeOf(rates.shareOf(point.gigabytesPerSecond), result.binCount);
            RateBin& bin = bins[static_cast<size_t>(place) * groupCount + point.group];
            if (bin.count == 0 || isLarger(point, bin.largest)) bin.largest = point;
            bin.group = point.group;
            bin.bin = place;
            ++bin.count;
            bin.bytes = saturatingSum(bin.bytes, point.bytes);
        }
    });
    for (const RateBin& bin : bins)
        if (bin.count > 0) result.bins.push_back(bin);
    return result;
}

}  // namespace lanescope
