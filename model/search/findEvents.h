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

/// What events are searched for: a name, the Python stack that led to them, or both.
struct SearchQuery {
    /// By name alone.
    SearchQuery(NamePattern searched) : name(std::move(searched)) {}

    /// "gemm", "function:forward", "file:data.py memcpy": the terms (`splitTerms`), and in the rest
    /// a name as `NamePattern` takes it. With terms alone any name will do. The error is a sentence
    /// on what is wrong with an expression.
    static Result<SearchQuery> parse(std::string_view text, PatternKind kind) {
        TypedTerms parted = splitTerms(text);
        Result<NamePattern> pattern = NamePattern::compile(parted.rest, kind);
        if (!pattern) return fail(pattern.error());
        SearchQuery query(std::move(*pattern));
        query.stack = std::move(parted.stack);
        return query;
    }

    NamePattern name;
    std::vector<StackTerm> stack;  ///< All of them must hold.
};

/// Takes the next hits, now and then none; false ends the search.
using HitSink = std::function<bool(std::span<const EventRef> hits)>;

/// Finds the events whose name matches and that start in `range`, in order of start: all that stand
/// on a track as slices, kernels by short or full name, memcpys by direction ("memcpy HtoD"), NCCL
/// calls also by data type, algorithm, protocol and communicator. Each distinct name is tested
/// once, so the time goes by the events, about a nanosecond for one that is no hit. With terms on
/// stacks only calls and work on GPUs, of whose stacks all terms hold; that takes a pass over all
/// launches. False if `sink` ended it. Any thread.
bool findEvents(const Trace& trace, const SearchQuery& query, TimeRange range, const HitSink& sink);

}  // namespace lanescope
