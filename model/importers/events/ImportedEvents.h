// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/importers/events/ImportedChunk.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// A list that never copies its items while it grows and frees them block by block. Allocated in
/// `memory`, if set, which must outlive it.
template <class T>
class BlockList {
  public:
    explicit BlockList(LargeMemory* memory = nullptr) : memory_(memory) {}

    size_t size() const { return size_; }
    void push_back(const T& item) {
        if (size_ % blockItems == 0) blocks_.emplace_back(memory_).reserve(blockItems);
        blocks_.back().push_back(item);
        ++size_;
    }
    const T& operator[](size_t index) const { return blocks_[index / blockItems][index % blockItems]; }
    T& operator[](size_t index) { return blocks_[index / blockItems][index % blockItems]; }
    /// Calls `visit(item)` for each item in order. Frees each block after its items were visited.
    template <class Visitor>
    void consume(Visitor visit) {
        for (; !blocks_.empty(); blocks_.pop_front())
            for (const T& item : blocks_.front()) visit(item);
        size_ = 0;
    }
    template <class Visitor>
    void forEach(Visitor visit) const {
        for (const auto& block : blocks_)
            for (const T& item : block) visit(item);
    }

  private:
    static constexpr size_t blockItems = size_t{1} << 13;

    LargeMemory* memory_;
    std::deque<LargeVector<T>> blocks_;
    size_t size_ = 0;
};

/// The events of a whole file, before the origin of its clock and the owners of its events are
/// known. Both may follow the events in the file. Texts are those of the trace.
/// - 32 bytes per range or call
/// - 48 bytes per piece of GPU work
/// - 24 bytes per flow end
/// - 16 bytes per sequence number
///
/// All are allocated in the memory of the trace.
class ImportedEvents {
  public:
    explicit ImportedEvents(TraceBuilder& builder);

    /// Adds the contents of a piece that begins at byte `offset` of the file. Pieces come in the order of the file.
    void take(const ImportedChunk& chunk, uint64_t offset);
    /// Moves the GPU work that starts at `timeNs` to `untimedWork`: the zero of a clock is no time of an event.
    void dropTime(int64_t timeNs);
    void addCorruption(uint64_t begin, uint64_t end) { corruption_.add(begin, end); }

    using Slices = BlockList<ImportedSlice>;
    Slices& slices(ImportedEventKind kind) { return slices_[static_cast<size_t>(kind)]; }
    const Slices& slices(ImportedEventKind kind) const { return slices_[static_cast<size_t>(kind)]; }

    struct Thread {
        std::string process, thread;
        auto operator<=>(const Thread&) const = default;
    };
    struct Counter {
        ImportedCounter::Meaning meaning = ImportedCounter::Meaning::Value;
        std::string process;
        StringIndex name = 0, part = 0;
        int64_t deviceType = 0, device = -1;
        auto operator<=>(const Counter&) const = default;
    };
    struct Sample {
        int64_t timeNs;
        double value;
    };

    BlockList<ImportedEdge> edges;
    BlockList<ImportedGpuWork> gpuWork;
    BlockList<ImportedGpuWork> untimedWork;  ///< GPU work whose time the profiler did not get.
    std::vector<ImportedCollective> collectives;
    BlockList<ImportedFlowEnd> flowEnds;
    BlockList<ImportedSequence> sequences;  ///< In the order of the slices.
    std::vector<Thread> threads;
    std::vector<ImportedPlace> places;
    std::vector<ImportedLaunch> launches;
    /// Names of processes and threads in the file. A process has an empty thread.
    std::map<Thread, std::string> threadNames;
    std::map<std::string, std::string> processNames;
    std::vector<Counter> counters;
    std::vector<BlockList<Sample>> samples;  ///< By counter.
    ImportedTally tally;

    const CorruptionTally& corruption() const { return corruption_; }
    /// Returns the range from the first start to the last end, on the clock of the file.
    TimeRange range() const { return range_; }
    bool isEmpty() const { return range_.startNs > range_.endNs; }
    /// Number of events beyond the maximum of a trace.
    int64_t skippedCount() const { return skippedCount_; }

  private:
    using Numbers = std::vector<uint32_t>;
    template <class Item, class Take>
    void takeEach(const std::vector<Item>& items, BlockList<Item>& into, Take take);
    void takeSlices(const ImportedChunk& chunk, const Numbers& texts, const Numbers& ofThreads,
                    const Numbers& ofPlaces);
    void takeNames(const ImportedChunk& chunk);
    void takeSamples(const ImportedChunk& chunk, const Numbers& texts);
    void findRange();
    void countUntimed(ImportedEventKind kind);
    void see(int64_t startNs, int64_t endNs);

    TraceBuilder& builder_;
    std::array<Slices, static_cast<size_t>(ImportedEventKind::Other) + 1> slices_;
    std::map<Thread, uint32_t> threadNumbers_;
    std::map<ImportedPlace, uint32_t> placeNumbers_;
    std::map<ImportedLaunch, uint32_t> launchNumbers_;
    std::map<Counter, uint32_t> counterNumbers_;
    CorruptionTally corruption_;
    TimeRange range_;
    int64_t skippedCount_ = 0;
};

}  // namespace lanescope
