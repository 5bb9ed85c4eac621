// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/search/NamePattern.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope {

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
