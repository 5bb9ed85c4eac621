// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "model/search/NamePattern.h"
#include "model/trace/kinds/StackFilter.h"

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

}  // namespace lanescope
