// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a shell offers at the tab key. The scripts of the shells (`resources/completions`) know
// nothing of the programs: they start them with `completionRequest` and the words so far, so that
// whatever a program has is offered.

namespace lanescope::completion {

/// The first word of a command line that asks for completions. What follows are the words behind
/// the program's name, up to the one under the cursor, which may be empty.
constexpr std::string_view completionRequest = "--complete";

struct Candidate {
    std::string word;
    std::string description;  ///< One line; may be empty.
};

/// The words that an option of this type name (`REPORT`) takes; empty if there is no such list.
using ValueLists = std::function<std::vector<Candidate>(std::string_view typeName)>;

/// Answers by lines: "WORD<tab>DESCRIPTION" of each word that may stand where the last of `words`
/// does, whatever of it is written already, or one of
///
///     :traces *.A *.B     the names of files that match
///     :files              the names of files
///     :folders            the names of folders
///     :program N          what the shell offers for a command that begins with the N-th word,
///     counted from 0
///
/// Of options with a list of values it knows the values. What else a value is, its type name says
/// (`FILE`, `TRACE`), of a positional its own name (`FILE` of a trace, `BASELINE`, `CANDIDATE`,
/// `DIR`, `PROGRAM`). Any thread.
std::string completions(const CLI::App& app, std::span<const std::string> words,
                        std::string_view tracePatterns, const ValueLists& valueLists);

}  // namespace lanescope::completion
