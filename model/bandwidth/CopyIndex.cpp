#include "model/bandwidth/CopyIndex.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

#include "model/bandwidth/CopySweep.h"
#include "model/bandwidth/adviceOnCopies.h"

namespace lanescope {

namespace {

constexpr uint32_t runLength = 256;
constexpr size_t mostClasses = std::numeric_limits<uint16_t>::max();

bool isBetweenGpus(MemcpyKind kind) {
    return kind == MemcpyKind::PtoP || kind == MemcpyKind::UvmDtoD;
}

uint32_t gpuOr(int16_t gpu, uint32_t fallback, size_t gpuCount) {
    return gpu >= 0 && static_cast<size_t>(gpu) < gpuCount ? static_cast<uint32_t>(gpu) : fallback;
}

/// The part of a group that a grouping tells.
CopyGroup reduced(CopyGroup group, CopyGrouping grouping) {
    const bool isPair = group.peer != group.gpu;
    if (grouping == CopyGrouping::Kind) group.source = group.destination = MemoryKind::Unknown;
    if (grouping != CopyGrouping::Device && !isPair) group.gpu = group.peer = noIndex;
    return group;
}

}  // namespace

int64_t CopyIndex::KernelTime::before(int64_t timeNs) const {
    const auto after = std::upper_bound(startNs.begin(), startNs.end(), timeNs);
    if (after == startNs.begin()) return 0;
    const auto last = static_cast<size_t>(after - startNs.begin()) - 1;
    return coveredNs[last] + std::min(timeNs, endNs[last]) - startNs[last];
}

CopyIndex::CopyIndex(TracePtr trace) : trace_(std::move(trace)), kernels_(trace_->gpus.size()) {
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
}

void CopyIndex::addKernels() {
    const auto add = [this](const auto& table) {
        for (uint32_t row = 0; row < table.size(); ++row) {
            KernelTime& time = kernels_[trace_->streams[table.stream[row]].gpu];
            const int64_t startNs = table.startNs[row], endNs = table.endNs[row];
            if (endNs <= startNs) continue;
            if (!time.endNs.empty() && startNs <= time.endNs.back()) {
                time.endNs.back() = std::max(time.endNs.back(), endNs);
                continue;
            }
            time.startNs.push_back(startNs);
            time.endNs.push_back(endNs);
        }
    };
    add(trace_->kernels);
    if (trace_->graphs.size() > 0) {
        // Sorted on their own, but not with the kernels.
        std::vector<KernelTime> kernels = std::move(kernels_);
        kernels_.assign(trace_->gpus.size(), {});
        add(trace_->graphs);
        for (size_t gpu = 0; gpu < kernels_.size(); ++gpu) {
            std::vector<std::pair<int64_t, int64_t>> all;
            for (const KernelTime* each : {&kernels[gpu], &kernels_[gpu]})
                for (size_t i = 0; i < each->startNs.size(); ++i)
                    all.emplace_back(each->startNs[i], each->endNs[i]);
            std::sort(all.begin(), all.end());
            KernelTime merged;
            for (const auto& [startNs, endNs] : all) {
                if (!merged.endNs.empty() && startNs <= merged.endNs.back()) {
                    merged.endNs.back() = std::max(merged.endNs.back(), endNs);
                    continue;
                }
                merged.startNs.push_back(startNs);
                merged.endNs.push_back(endNs);
            }
            kernels_[gpu] = std::move(merged);
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

template <class Table>
void CopyIndex::addTable(const Table& table, EventKind kind) {
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
            if (isNew && classes_.size() < mostClasses) classes_.push_back(found);
            last = found;
            lastClass =
                std::min<uint16_t>(place->second, static_cast<uint16_t>(classes_.size() - 1));
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
        callNs_.push_back(static_cast<uint32_t>(
            std::clamp<int64_t>(callNs, 0, std::numeric_limits<uint32_t>::max())));
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
    return copy < memcpyCount_ ? EventRef(EventKind::Memcpy, copy)
                               : EventRef(EventKind::Memset, copy - memcpyCount_);
}

std::vector<CopyGroup> CopyIndex::groupsOf(const Query& query,
                                           std::vector<uint32_t>& groupOfClass) const {
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

template <class Visit>
void CopyIndex::forEachIn(const Query& query, Visit visit) const {
    const auto overTable = [&](const auto& table, uint32_t offset, int64_t longestNs) {
        uint32_t first = 0;
        uint32_t last = table.size();
        if (query.range) {
            const auto firstFrom = [&](int64_t timeNs) {
                uint32_t low = 0, high = table.size();
                while (low < high) {
                    const uint32_t middle = low + (high - low) / 2;
                    if (table.startNs[middle] < timeNs)
                        low = middle + 1;
                    else
                        high = middle;
                }
                return low;
            };
            // Nothing is longer than the longest, so nothing before that reaches into the range.
            const int64_t beforeNs =
                query.range->startNs < std::numeric_limits<int64_t>::min() + longestNs
                    ? std::numeric_limits<int64_t>::min()
                    : query.range->startNs - longestNs;
            first = firstFrom(beforeNs);
            last = firstFrom(query.range->endNs);
        }
        // In runs: reading packed columns value by value costs more.
        std::array<int64_t, runLength> startNs, endNs, bytes;
        for (uint32_t from = first; from < last; from += runLength) {
            const size_t count = std::min<size_t>(runLength, last - from);
            table.startNs.copyTo(std::span(startNs).first(count), from);
            table.endNs.copyTo(std::span(endNs).first(count), from);
            table.bytes.copyTo(std::span(bytes).first(count), from);
            for (uint32_t i = 0; i < count; ++i) {
                const Row copy{startNs[i], endNs[i], bytes[i]};
                if (query.range) {
                    const bool isInside =
                        copy.endNs > query.range->startNs ||
                        (copy.startNs == copy.endNs && copy.startNs == query.range->startNs);
                    if (!isInside) continue;
                }
                visit(offset + from + i, copy);
            }
        }
    };
    overTable(trace_->memcpys, 0, longestNs_[0]);
    overTable(trace_->memsets, memcpyCount_, longestNs_[1]);
}

std::vector<CopyStatistics> CopyIndex::statistics(const Query& query) const {
    std::vector<uint32_t> groupOfClass;
    const std::vector<CopyGroup> groups = groupsOf(query, groupOfClass);
    const bool bySize = query.grouping == CopyGrouping::Size;
    CopySweep sweep(groups.size(), kernels_.size(), bySize);
    forEachIn(query, [&](uint32_t copy, const Row& row) {
        const uint32_t group = groupOfClass[classOf_[copy]];
        if (group == noIndex) return;
        const uint32_t gpu = classes_[classOf_[copy]].streamGpu;
        CopySweep::Piece piece{row.startNs,           row.endNs,           row.bytes, gpu,
                               coveredAtStart_[copy], coveredAtEnd_[copy], false};
        const int bucket = bySize ? sizeBucketOf(row.bytes) : 0;
        if (query.range && (row.startNs < query.range->startNs || row.endNs > query.range->endNs)) {
            piece.startNs = std::max(row.startNs, query.range->startNs);
            piece.endNs = std::min(row.endNs, query.range->endNs);
            piece.coveredAtStart = kernels_[gpu].before(piece.startNs);
            piece.coveredAtEnd = kernels_[gpu].before(piece.endNs);
            piece.bytes =
                partOfBytes(row.bytes, piece.endNs - piece.startNs, row.endNs - row.startNs);
            piece.isCut = true;
        }
        sweep.add(group, bucket, piece);
    });
    std::vector<CopyStatistics> rows = sweep.finish(groups);
    for (CopyStatistics& row : rows) row.peak = peakOfGroup(*trace_, row.group);
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        if (a.bytes != b.bytes) return a.bytes > b.bytes;
        return a.group < b.group;
    });
    return rows;
}

std::vector<BandwidthAdvice> CopyIndex::advice(std::optional<TimeRange> range) const {
    CopyAdviser adviser(*trace_, range.value_or(trace_->range));
    const Query query{CopyGrouping::Device, range, noIndex};
    forEachIn(query, [&](uint32_t copy, const Row& row) {
        if (copy >= memcpyCount_) return;
        adviser.add(classes_[classOf_[copy]].group, eventAt(copy), {row.startNs, row.endNs},
                    row.bytes, callNs_[copy], holdsCaller_[copy]);
    });
    return adviser.finish(statistics(query));
}

std::vector<CopyPoint> CopyIndex::points(const Query& query, size_t most,
                                         std::vector<CopyGroup>& groups) const {
    std::vector<uint32_t> groupOfClass;
    groups = groupsOf(query, groupOfClass);
    std::vector<size_t> countOf(groups.size(), 0);
    const auto visitRated = [&](auto visit) {
        forEachIn(query, [&](uint32_t copy, const Row& row) {
            const uint32_t group = groupOfClass[classOf_[copy]];
            if (group != noIndex && row.bytes > 0 && row.endNs > row.startNs)
                visit(copy, row, group);
        });
    };
    visitRated([&](uint32_t, const Row&, uint32_t group) { ++countOf[group]; });
    // Each group gets its part of the points, so that the few large copies show beside the many.
    const size_t share = std::max<size_t>(1, most / std::max<size_t>(1, groups.size()));
    std::vector<size_t> seen(groups.size(), 0);
    std::vector<CopyPoint> points;
    visitRated([&](uint32_t copy, const Row& row, uint32_t group) {
        const size_t every = (countOf[group] + share - 1) / share;
        if (seen[group]++ % every != 0) return;
        points.push_back(
            {eventAt(copy), row.startNs, row.endNs, row.bytes, group,
             static_cast<double>(row.bytes) / static_cast<double>(row.endNs - row.startNs)});
    });
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
    return points;
}

void CopyIndex::visitRated(const Query& query, std::vector<CopyGroup>& groups,
                           const std::function<void(const CopyPoint&)>& visit) const {
    std::vector<uint32_t> groupOfClass;
    groups = groupsOf(query, groupOfClass);
    forEachIn(query, [&](uint32_t copy, const Row& row) {
        const uint32_t group = groupOfClass[classOf_[copy]];
        if (group == noIndex || row.bytes <= 0 || row.endNs <= row.startNs) return;
        visit({eventAt(copy), row.startNs, row.endNs, row.bytes, group,
               static_cast<double>(row.bytes) / static_cast<double>(row.endNs - row.startNs)});
    });
}

}  // namespace lanescope
