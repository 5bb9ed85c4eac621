// SPDX-License-Identifier: Apache-2.0
#include "model/search/findEvents.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "model/text/formatValue.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope {

namespace {

/// Memory of the compiled expression: enough for any typed one, and a bound for all.
constexpr int64_t maxExpressionBytes = int64_t{8} << 20;

/// Returns true if a bit of `[first, end)` is set, word by word.
bool anyBit(const std::vector<uint64_t>& words, size_t first, size_t end) {
    constexpr size_t bits = 64;
    while (first < end) {
        const size_t word = first / bits;
        const size_t from = first % bits;
        const size_t count = std::min(bits - from, end - first);
        const uint64_t mask = (count == bits ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
        if ((words[word] & mask) != 0) return true;
        first += count;
    }
    return false;
}

class HitRows {
  public:
    explicit HitRows(const std::vector<EventRef>& events) {
        for (const EventRef event : events) {
            std::vector<bool>& rows = rows_[static_cast<size_t>(event.kind())];
            if (event.row() >= rows.size()) rows.resize(std::max<size_t>(event.row() + size_t{1}, rows.size() * 2));
            rows[event.row()] = true;
        }
    }
    bool contains(EventRef event) const {
        const std::vector<bool>& rows = rows_[static_cast<size_t>(event.kind())];
        return event.row() < rows.size() && rows[event.row()];
    }
    bool has(EventKind kind) const { return !rows_[static_cast<size_t>(kind)].empty(); }

  private:
    std::array<std::vector<bool>, EventRef::kindLimit> rows_;
};

/// Returns true if a track of this kind could contain one of the hits.
bool mayHold(TrackKind track, const HitRows& hits) {
    return std::ranges::any_of(kindsInOrder(),
                               [&](EventKind kind) { return hits.has(kind) && lanescope::mayHold(track, kind); });
}

SliceMarks marksOf(const Lane& lane, const HitRows& hits) {
    constexpr uint32_t blockSize = 4096;
    SliceMarks marks;
    std::vector<EventRef> events(std::min(blockSize, lane.size()));
    for (uint32_t first = 0; first < lane.size(); first += blockSize) {
        const uint32_t count = std::min(blockSize, lane.size() - first);
        lane.event.copyTo(std::span(events).first(count), first);
        for (uint32_t index = 0; index < count; ++index) {
            if (!hits.contains(events[index])) continue;
            if (marks.isEmpty()) marks = SliceMarks(lane.size());
            marks.set(first + index);
        }
    }
    return marks;
}

std::vector<int64_t> placesOf(const Trace& trace, const std::vector<EventRef>& events) {
    std::vector<int64_t> places;
    const int64_t stepNs = std::max<int64_t>(1, trace.range.durationNs() / SearchHits::placeCount);
    const bool isThinned = events.size() > size_t{SearchHits::placeCount};
    for (const EventRef event : events) {
        const int64_t startNs = trace.rangeOf(event).startNs;
        if (!isThinned || places.empty() || startNs - places.back() >= stepNs) places.push_back(startNs);
    }
    return places;
}

constexpr uint32_t blockRows = 4096;
/// Hits per call of the sink.
constexpr size_t batchSize = size_t{1} << 16;
/// Rows scanned between two calls of the sink.
constexpr uint32_t maxRowsPerBatch = uint32_t{1} << 20;

/// Appends the hits among the rows `[first, first + count)` to `rows`.
using RowScan = std::function<void(uint32_t first, uint32_t count, std::vector<uint32_t>& rows)>;

/// Returns a scan of one column: `isHit(value)`.
template <class Value, class Test>
RowScan scanOf(const Column<Value>& column, Test isHit) {
    return [&column, isHit, values = std::vector<Value>(blockRows)](uint32_t first, uint32_t count,
                                                                    std::vector<uint32_t>& rows) mutable {
        column.copyTo(std::span(values).first(count), first);
        for (uint32_t index = 0; index < count; ++index)
            if (isHit(values[index])) rows.push_back(first + index);
    };
}

class HitSource {
  public:
    HitSource(EventKind kind, const Column<int64_t>& startNs, TimeRange range, RowScan scan)
        : kind_(kind), startNs_(startNs), scan_(std::move(scan)) {
        const auto rowAt = [&](int64_t timeNs) {
            return static_cast<uint32_t>(std::lower_bound(startNs.begin(), startNs.end(), timeNs) - startNs.begin());
        };
        row_ = rowAt(range.startNs);
        endRow_ = rowAt(range.endNs);
    }

    /// Scans rows until a hit is available, but not many more than `rowsLeft`, and subtracts the
    /// scanned ones from it. Returns true if a hit is available.
    bool load(int64_t& rowsLeft) {
        while (next_ == rows_.size() && row_ < endRow_ && rowsLeft > 0) {
            const uint32_t count = std::min(blockRows, endRow_ - row_);
            rows_.clear();
            next_ = 0;
            scan_(row_, count, rows_);
            readStarts(row_, count);
            row_ += count;
            rowsLeft -= count;
        }
        return next_ < rows_.size();
    }
    bool isAtEnd() const { return next_ == rows_.size() && row_ >= endRow_; }
    int64_t startNs() const { return starts_[next_]; }
    /// Moves the available hits that start by `timeNs`, at least one.
    void takeUntil(int64_t timeNs, std::vector<EventRef>& events) {
        do events.emplace_back(kind_, rows_[next_++]);
        while (next_ < rows_.size() && starts_[next_] <= timeNs);
    }

  private:
    /// Reads the starts of the hits, or those of the whole block if hits are many.
    void readStarts(uint32_t first, uint32_t count) {
        starts_.resize(count);
        if (rows_.size() > count / 8) {
            startNs_.copyTo(starts_, first);
            for (size_t index = 0; index < rows_.size(); ++index) starts_[index] = starts_[rows_[index] - first];
        } else {
            for (size_t index = 0; index < rows_.size(); ++index) starts_[index] = startNs_[rows_[index]];
        }
    }

    EventKind kind_;
    const Column<int64_t>& startNs_;
    RowScan scan_;
    uint32_t row_ = 0, endRow_ = 0;  ///< Rows not yet scanned.
    std::vector<uint32_t> rows_;     ///< Hits not yet returned, from `next_`.
    std::vector<int64_t> starts_;
    size_t next_ = 0;
};

class Search {
  public:
    Search(const Trace& trace, const SearchQuery& query, TimeRange range)
        : trace_(trace), range_(range), tests_(trace, query.name), stacks_(trace, query.stack) {
        markNcclCalls();
        forEachKind([this](auto each) {
            // Events that are drawn nowhere could not be shown, and curves have no names.
            if constexpr (!each.tracks.empty() && each.origin != kinds::Origin::Sampled)
                if (stacks_.isAny() || each.isGpuWork || each.kind == EventKind::Api)
                    sources_.emplace_back(each.kind, each.table(trace_).startNs, range_, withStack(each, scan(each)));
        });
    }
    Search& operator=(Search&&) = delete;

    bool run(const HitSink& sink) {
        std::vector<EventRef> batch;
        for (;;) {
            const bool isDone = collect(batch);
            if (!sink(batch)) return false;
            if (isDone) return true;
            batch.clear();
        }
    }

  private:
    /// Fills the batch with the next hits. Returns true if they are the last.
    bool collect(std::vector<EventRef>& batch) {
        int64_t rowsLeft = maxRowsPerBatch;
        while (batch.size() < batchSize) {
            HitSource* earliest = nullptr;
            int64_t othersNs = std::numeric_limits<int64_t>::max();  // next start of other sources
            for (HitSource& source : sources_) {
                if (!source.load(rowsLeft)) {
                    if (!source.isAtEnd()) return false;  // the limit of rows is reached
                    continue;
                }
                if (earliest != nullptr && source.startNs() >= earliest->startNs()) {
                    othersNs = std::min(othersNs, source.startNs());
                    continue;
                }
                if (earliest != nullptr) othersNs = earliest->startNs();
                earliest = &source;
            }
            if (earliest == nullptr) return true;
            earliest->takeUntil(othersNs, batch);
        }
        return false;
    }

    RowScan scan(kinds::Kernel) {
        return scanOf(trace_.kernels.config, [this](uint32_t config) { return tests_.isConfigHit(config); });
    }
    RowScan scan(kinds::Memcpy) {
        return scanOf(trace_.memcpys.kind, [this](MemcpyKind kind) { return tests_.isHit(kind); });
    }
    RowScan scan(kinds::Memset) {
        return [isHit = tests_.isMemsetHit()](uint32_t first, uint32_t count, std::vector<uint32_t>& rows) {
            for (uint32_t row = first; isHit && row < first + count; ++row) rows.push_back(row);
        };
    }
    RowScan scan(kinds::Api) {
        return scanOf(trace_.apiCalls.name, [this](StringIndex name) { return tests_.isHit(name); });
    }
    RowScan scan(kinds::Nvtx) {
        return [this, byText = scanOf(trace_.nvtx.text, [this](StringIndex text) { return tests_.isHit(text); })](
                   uint32_t first, uint32_t count, std::vector<uint32_t>& rows) {
            byText(first, count, rows);
            addNcclCalls(first, first + count, rows);
        };
    }
    RowScan scan(kinds::Projection) {
        return scanOf(trace_.projections.nvtx, [this](uint32_t row) {
            return row < trace_.nvtx.size() && (tests_.isHit(trace_.nvtx.text[row]) ||
                                                std::binary_search(ncclCalls_.begin(), ncclCalls_.end(), row));
        });
    }
    /// Other kinds have few names for many events, which are tested at first use.
    template <class Kind>
    RowScan scan(Kind) {
        return [this, known = std::unordered_map<uint64_t, bool>()](uint32_t first, uint32_t count,
                                                                    std::vector<uint32_t>& rows) mutable {
            for (uint32_t row = first; row < first + count; ++row) {
                const auto [found, isNew] = known.try_emplace(Kind::nameKey(trace_, row), false);
                if (isNew) found->second = tests_.isHit(Kind::nameOf(trace_, row));
                if (found->second) rows.push_back(row);
            }
        };
    }

    /// Returns a scan that keeps the hits with matching stacks.
    template <class Kind>
    RowScan withStack(Kind, RowScan scan) {
        if (stacks_.isAny()) return scan;
        return [this, scan = std::move(scan)](uint32_t first, uint32_t count, std::vector<uint32_t>& rows) {
            scan(first, count, rows);
            std::erase_if(rows, [&](uint32_t row) { return !stacks_.holds(EventRef(Kind::kind, row)); });
        };
    }

    void markNcclCalls() {
        const NcclTable& nccl = trace_.nccl;
        for (uint32_t row = 0; row < nccl.size(); ++row) {
            const NcclFacts facts = nccl.facts[row];
            for (const StringIndex text : {facts.datatype, facts.algorithm, facts.protocol, facts.communicatorName})
                if (text != 0 && tests_.isHit(text)) {
                    ncclCalls_.push_back(nccl.nvtx[row]);
                    break;
                }
        }
    }

    /// Adds the rows of NCCL calls in `[first, end)` to the ascending `rows`, each row once.
    void addNcclCalls(uint32_t first, uint32_t end, std::vector<uint32_t>& rows) const {
        const auto from = std::lower_bound(ncclCalls_.begin(), ncclCalls_.end(), first);
        const auto to = std::lower_bound(from, ncclCalls_.end(), end);
        if (from == to) return;
        std::vector<uint32_t> both;
        std::set_union(rows.begin(), rows.end(), from, to, std::back_inserter(both));
        rows = std::move(both);
    }

    const Trace& trace_;
    const TimeRange range_;
    NameTests tests_;
    StackFilter stacks_;
    std::vector<uint32_t> ncclCalls_;  ///< Rows of ranges that match by their NCCL facts.
    std::vector<HitSource> sources_;
};

}  // namespace

Result<NamePattern> NamePattern::compile(std::string_view text, PatternKind kind) {
    NamePattern pattern;
    if (kind == PatternKind::Substring) {
        pattern.lowered_ = lowerCase(std::string(text));
        return pattern;
    }
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // names may contain any bytes
    options.set_max_mem(maxExpressionBytes);
    auto expression = std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!expression->ok()) return fail("Not a regular expression: {}.", expression->error());
    pattern.expression_ = std::move(expression);
    return pattern;
}

bool NamePattern::matches(std::string_view name) const {
    if (expression_) return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
    return std::search(name.begin(), name.end(), lowered_.begin(), lowered_.end(),
                       [](char a, char b) { return lowerCase(a) == b; }) != name.end();
}

NameTests::NameTests(const Trace& trace, const NamePattern& pattern)
    : trace_(trace),
      pattern_(pattern),
      names_(trace.strings.size(), unknown),
      configs_(trace.launchConfigs.size(), unknown) {
    for (int number = 0; number < memcpyKindCount; ++number) {
        const auto kind = static_cast<MemcpyKind>(number);
        memcpys_[number] = pattern.matches(name(kind)) || pattern.matches(searchName(kind));
    }
    isMemsetHit_ = pattern.matches("memset");
}

bool NameTests::isConfigHit(uint32_t config) {
    if (config >= configs_.size()) return false;
    uint8_t& state = configs_[config];
    if (state == unknown) {
        const LaunchConfigColumn& configs = trace_.launchConfigs;
        state = isHit(configs.shortName(config)) || isHit(configs.demangledName(config)) ? hit : miss;
    }
    return state == hit;
}

SliceMarks::SliceMarks(uint32_t sliceCount)
    : words_((size_t{sliceCount} + wordBits - 1) / wordBits), summary_((words_.size() + wordBits - 1) / wordBits) {}

void SliceMarks::set(uint32_t slice) {
    const size_t word = slice / wordBits;
    words_[word] |= uint64_t{1} << slice % wordBits;
    summary_[word / wordBits] |= uint64_t{1} << word % wordBits;
}

bool SliceMarks::any(uint32_t first, uint32_t end) const {
    end = static_cast<uint32_t>(std::min<size_t>(end, words_.size() * wordBits));
    if (first >= end) return false;
    // Whole words are tested by their summary, the slices around them one by one.
    const size_t firstWord = (size_t{first} + wordBits - 1) / wordBits;
    const size_t endWord = end / wordBits;
    if (firstWord >= endWord) return anyBit(words_, first, end);
    return anyBit(words_, first, firstWord * wordBits) || anyBit(summary_, firstWord, endWord) ||
           anyBit(words_, endWord * wordBits, end);
}

SearchHitsPtr SearchHits::of(const Trace& trace, std::vector<EventRef> events) {
    std::shared_ptr<SearchHits> result(new SearchHits);
    std::erase_if(events, [](EventRef event) { return !event.isValid(); });
    result->places_ = placesOf(trace, events);
    const HitRows hits(events);
    for (const Track& track : trace.tracks) {
        std::vector<SliceMarks>& marks = result->marks_.emplace_back();
        if (!mayHold(track.kind, hits)) continue;
        for (const Lane& lane : track.lanes) marks.push_back(marksOf(lane, hits));
    }
    result->events_ = std::move(events);
    return result;
}

bool SearchHits::touches(uint32_t track, uint32_t lane, uint32_t firstSlice, uint32_t count) const {
    if (track >= marks_.size() || lane >= marks_[track].size()) return false;
    return marks_[track][lane].any(firstSlice, firstSlice + count);
}

bool findEvents(const Trace& trace, const SearchQuery& query, TimeRange range, const HitSink& sink) {
    return Search(trace, query, range).run(sink);
}

}  // namespace lanescope
