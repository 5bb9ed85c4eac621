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
#include "model/importers/events/ForeignChunk.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// A list that grows without ever holding its items twice, and gives them back piece by piece. Lies
/// in `memory`, if there is one, which must outlive it.
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
    const T& operator[](size_t index) const {
        return blocks_[index / blockItems][index % blockItems];
    }
    T& operator[](size_t index) { return blocks_[index / blockItems][index % blockItems]; }
    /// `visit(item)` for each, in order; each block is given back when all of it was visited.
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

/// The events of a whole file, before it is known when its clock began and whose they are: both may
/// stand behind them. Texts are those of the trace. Takes 32 bytes a range or call, 48 a piece of
/// GPU work, 24 an end of an arrow and 16 a sequence number, which lie where the trace does.
class JsonEvents {
  public:
    explicit JsonEvents(TraceBuilder& builder);

    /// Takes what a piece that begins at byte `offset` of the file holds, in the order of the file.
    void take(const ScannedChunk& chunk, uint64_t offset);
    void takeDamage(uint64_t begin, uint64_t end) { damage_.add(begin, end); }

    using Slices = BlockList<JsonSlice>;
    Slices& slices(JsonEventKind kind) { return slices_[static_cast<size_t>(kind)]; }
    const Slices& slices(JsonEventKind kind) const { return slices_[static_cast<size_t>(kind)]; }

    struct Thread {
        std::string process, thread;
        auto operator<=>(const Thread&) const = default;
    };
    struct Counter {
        JsonCounter::Meaning meaning = JsonCounter::Meaning::Value;
        std::string process;
        StringIndex name = 0, part = 0;
        int64_t deviceType = 0, device = -1;
        auto operator<=>(const Counter&) const = default;
    };
    struct Sample {
        int64_t timeNs;
        double value;
    };

    BlockList<JsonEdge> edges;
    BlockList<JsonGpuWork> gpuWork;
    std::vector<JsonCollective> collectives;
    BlockList<JsonArrowEnd> arrowEnds;
    BlockList<JsonSequence> sequences;  ///< In the order of the slices.
    std::vector<Thread> threads;
    std::vector<JsonPlace> places;
    std::vector<JsonLaunch> launches;
    /// What the file calls processes and threads; of a process without a thread.
    std::map<Thread, std::string> threadNames;
    std::map<std::string, std::string> processNames;
    std::vector<Counter> counters;
    std::vector<BlockList<Sample>> samples;  ///< Of each counter.
    JsonTally tally;

    const JsonDamage& damage() const { return damage_; }
    /// When the first event begins, and the last ends; on the clock of the file.
    TimeRange range() const { return range_; }
    bool isEmpty() const { return range_.startNs > range_.endNs; }
    /// Events that were too many for the trace.
    int64_t leftOut() const { return leftOut_; }

  private:
    using Numbers = std::vector<uint32_t>;
    template <class Item, class Take>
    void takeEach(const std::vector<Item>& items, BlockList<Item>& into, Take take);
    void takeSlices(const ScannedChunk& chunk, const Numbers& texts, const Numbers& ofThreads,
                    const Numbers& ofPlaces);
    void takeNames(const ScannedChunk& chunk);
    void takeSamples(const ScannedChunk& chunk, const Numbers& texts);
    void see(int64_t startNs, int64_t endNs);

    TraceBuilder& builder_;
    std::array<Slices, static_cast<size_t>(JsonEventKind::Other) + 1> slices_;
    std::map<Thread, uint32_t> threadNumbers_;
    std::map<JsonPlace, uint32_t> placeNumbers_;
    std::map<JsonLaunch, uint32_t> launchNumbers_;
    std::map<Counter, uint32_t> counterNumbers_;
    JsonDamage damage_;
    TimeRange range_;
    int64_t leftOut_ = 0;
};

}  // namespace lanescope
