// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Completions for a shell's tab key. The shell scripts (`resources/completions`) contain no options of the programs:
// they start a program with `completionRequest` and the words so far, so that all its options are offered.

namespace lanescope::completion {

/// The first word of a command line that requests completions. The following words are those after
/// the program's name, up to the one under the cursor, which may be empty.
constexpr std::string_view completionRequest = "--complete";

struct Candidate {
    std::string word;
    std::string description;  ///< One line; may be empty.
};

/// Returns the words that an option of this type name (`REPORT`) accepts; empty if there is no such list.
using ValueLists = std::function<std::vector<Candidate>(std::string_view typeName)>;

/// Returns lines: "WORD<tab>DESCRIPTION" for each word possible in place of the last of `words`, regardless of its
/// typed part, or one of
///
///     :traces *.A *.B     the names of files that match
///     :files              the names of files
///     :folders            the names of folders
///     :program N          the shell's own completion for a command that begins with the
///                         N-th word, counted from 0
///
/// Offers the values of options with a list of values. Other values are selected by the type name (`FILE`, `TRACE`),
/// positionals by their own name (`FILE` of a trace, `BASELINE`, `CANDIDATE`, `DIR`, `PROGRAM`). Any thread.
std::string completions(const CLI::App& app, std::span<const std::string> words, std::string_view tracePatterns,
                        const ValueLists& valueLists);

}  // namespace lanescope::completion
