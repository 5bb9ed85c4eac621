// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format/Result.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/workModules.h"

namespace re2 {
class RE2;
}

namespace lanescope {

enum class PatternKind {
    Substring,   ///< Anywhere in the name.
    Expression,  ///< A regular expression of RE2, which matches anywhere in the name.
};

/// A search pattern for names that ignores case. Matching is O(length of the name) for any
/// expression. Any thread may match.
class NamePattern {
  public:
    /// The error is a sentence about the expression.
    static Result<NamePattern> compile(std::string_view text, PatternKind kind);

    bool matches(std::string_view name) const;

  private:
    std::string lowered_;  // lower-case substring
    std::shared_ptr<const re2::RE2> expression_;
};

/// Match results for the names of a trace. Each name is tested at most once, on demand.
class NameTests {
  public:
    NameTests(const Trace& trace, const NamePattern& pattern);

    bool isHit(StringIndex name) {
        if (name >= names_.size()) [[unlikely]]
            return false;
        uint8_t& state = names_[name];
        if (state == unknown) state = pattern_.matches(trace_.strings.at(name)) ? hit : miss;
        return state == hit;
    }
    /// Returns true if the short or demangled name of the kernel matches.
    bool isConfigHit(uint32_t config);
    /// Matches "HtoD" and "memcpy HtoD".
    bool isHit(MemcpyKind kind) const { return memcpys_[static_cast<size_t>(kind)]; }
    bool isMemsetHit() const { return isMemsetHit_; }
    bool isHit(std::string_view text) const { return pattern_.matches(text); }

  private:
    static constexpr uint8_t unknown = 0, miss = 1, hit = 2;

    const Trace& trace_;
    const NamePattern& pattern_;
    std::vector<uint8_t> names_, configs_;
    bool memcpys_[memcpyKindCount] = {};
    bool isMemsetHit_ = false;
};

/// One bit for each slice of a lane, with fast tests of ranges.
class SliceMarks {
  public:
    SliceMarks() = default;
    explicit SliceMarks(uint32_t sliceCount);

    void set(uint32_t slice);
    /// Returns true if a slice of `[first, end)` is set. Reads about a word per 4,096 slices.
    bool any(uint32_t first, uint32_t end) const;
    bool isEmpty() const { return words_.empty(); }

  private:
    static constexpr uint32_t wordBits = 64;

    std::vector<uint64_t> words_;    ///< A bit per slice.
    std::vector<uint64_t> summary_;  ///< A bit per nonzero word.
};

class SearchHits;
using SearchHitsPtr = std::shared_ptr<const SearchHits>;

/// The events found by a search, prepared for fast painting and navigation. Needs four bytes per
/// hit and one bit per slice of the lanes that could contain one. Immutable. Any thread.
class SearchHits {
  public:
    /// Number of positions in the strip for the whole trace.
    static constexpr uint32_t placeCount = 8192;

    /// `events` must be sorted by start. O(hits + slices of lanes that contain events of their kinds).
    static SearchHitsPtr of(const Trace& trace, std::vector<EventRef> events);

    const std::vector<EventRef>& events() const { return events_; }
    bool isEmpty() const { return events_.empty(); }
    /// Returns true if one of `count` slices of a lane is a hit.
    bool touches(uint32_t track, uint32_t lane, uint32_t firstSlice, uint32_t count) const;
    /// Returns the starts of hits, ascending: all of them, or at most one for each of `placeCount`
    /// equal parts of the trace.
    const std::vector<int64_t>& places() const { return places_; }

  private:
    SearchHits() = default;

    std::vector<EventRef> events_;
    std::vector<std::vector<SliceMarks>> marks_;  ///< By track and lane. Empty without hits.
    std::vector<int64_t> places_;
};

/// The criteria of a search: a name, the Python stack that led to the events, or both.
struct SearchQuery {
    /// By name alone.
    SearchQuery(NamePattern searched) : name(std::move(searched)) {}

    /// Parses "gemm", "function:forward", "file:data.py memcpy": terms (`splitTerms`) and a name as
    /// in `NamePattern`. Terms alone match any name. The error is a sentence about an expression.
    static Result<SearchQuery> parse(std::string_view text, PatternKind kind) {
        TypedTerms parted = splitTerms(text);
        Result<NamePattern> pattern = NamePattern::compile(parted.rest, kind);
        if (!pattern) return fail(pattern.error());
        SearchQuery query(std::move(*pattern));
        query.stack = std::move(parted.stack);
        return query;
    }

    NamePattern name;
    std::vector<StackTerm> stack;  ///< All of them must match.
};

/// Receives the next hits, sometimes none. Returns false to end the search.
using HitSink = std::function<bool(std::span<const EventRef> hits)>;

/// Finds the events with a matching name that start in `range`, in order of start. Searches all events that are slices
/// of a track. Kernels match by short or full name, memcpys by direction ("memcpy HtoD"), NCCL calls also by data type,
/// algorithm, protocol and communicator. Each distinct name is tested once, so the time depends on the events: about 1
/// ns for one that is not a hit. With stack terms, finds only calls and GPU work whose stacks match all terms, which
/// takes a pass over all launches. Returns false if `sink` ended it. Any thread.
bool findEvents(const Trace& trace, const SearchQuery& query, TimeRange range, const HitSink& sink);

}  // namespace lanescope
