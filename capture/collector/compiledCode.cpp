// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/compiledCode.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "model/format/factNames.h"
#include "model/format/files.h"
#include "model/format/tables/Threads.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

constexpr size_t none = std::string_view::npos;
/// Limits for crafted files.
constexpr uint64_t maxFileBytes = uint64_t{1} << 20;
constexpr size_t maxFiles = 1'024, maxLines = 1'000, maxTextBytes = 512, maxSources = 16;
constexpr size_t maxCodeBytes = 160, maxCodeLines = 500'000;

/// Returns the names in the brackets after `heading`; empty for another text.
std::string_view listAfter(std::string_view comment, std::string_view heading) {
    const size_t found = comment.find(heading);
    if (found == none) return {};
    const std::string_view list = comment.substr(found + heading.size());
    const std::string_view names = list.substr(0, list.find(']'));
    const bool areNames = std::ranges::all_of(names, [](char letter) {
        return isDigit(letter) || isLetter(letter) || std::string_view("_.:, ").find(letter) != none;
    });
    return areNames && list.find(']') != none ? names : std::string_view();
}

/// Comments in front of a statement.
struct Comments {
    std::string operators, nodes;
    std::vector<std::string> sources;

    /// Reads "Topologically Sorted Source Nodes: [y, linear], Original ATen: [aten.relu, aten.addmm]", of which older
    /// versions write less, and "File: /home/ada/model.py:12 in forward, code: y = x".
    void read(std::string_view comment) {
        constexpr std::string_view file = "# File: ";
        if (comment.find("Source Nodes: [") != none) {
            nodes = listAfter(comment, "Source Nodes: [");
            operators = listAfter(comment, "Original ATen: [");
        } else if (comment.starts_with(file) && sources.size() < maxSources) {
            const std::string_view place = comment.substr(file.size(), comment.find(" in ") - file.size());
            const std::string name(place.substr(place.rfind('/') + 1).substr(0, maxTextBytes));
            if (std::ranges::find(sources, name) == sources.end()) sources.push_back(name);
        }
    }
    std::string text() const {
        if (operators.empty() && nodes.empty() && sources.empty()) return {};
        std::string made = operators;
        if (!nodes.empty()) made += fmt::format("{}of {}", made.empty() ? "" : " ", nodes);
        for (const std::string& each : sources)
            made += fmt::format("{}{}", &each == &sources.front() ? " at " : ", ", each);
        return made.size() <= maxTextBytes ? made : made.substr(0, maxTextBytes);
    }
};

}  // namespace

bool isCompiledFile(std::string_view path) {
    constexpr std::string_view ending = ".py";
    constexpr size_t hashBytes = 52;
    const size_t folder = path.rfind('/');
    if (!path.starts_with('/') || folder < 3 || !path.ends_with(ending)) return false;
    std::string_view name = path.substr(folder + 1);
    name.remove_suffix(ending.size());
    return name.size() == hashBytes && name.starts_with('c') &&
           path.substr(folder - 3, 3) == fmt::format("/{}", name.substr(1, 2)) &&
           std::ranges::all_of(
               name, [](char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= '2' && letter <= '7'); });
}

std::map<uint32_t, std::string> compiledLines(std::string_view code) {
    std::map<uint32_t, std::string> lines;
    if (code.substr(0, 4'096).find("torch._inductor") == none) return lines;
    Comments comments;
    std::string text;
    bool isComment = false;
    for (uint32_t number = 1; !code.empty() && lines.size() < maxLines; ++number) {
        const std::string_view line = trimmed(takeUntil(code, '\n'), " \t\r");
        if (line.starts_with('#')) {
            if (!std::exchange(isComment, true)) comments = {};
            comments.read(line);
            continue;
        }
        if (std::exchange(isComment, false)) text = comments.text();
        // A launch follows, after the choice of a stream, and then the end of its arguments.
        if (line.empty() || line.starts_with("del ") || line.starts_with("return")) text.clear();
        if (!text.empty()) lines.emplace(number, text);
    }
    return lines;
}

namespace {

/// Texts of lines by file and line.
using LineTexts = std::map<std::pair<int64_t, int64_t>, std::string>;

/// Returns a line without its comment and the contents of its strings, which may be secrets: `login(key="…")`.
std::string withoutStrings(std::string_view line) {
    std::string text;
    for (size_t at = 0; at < line.size() && line[at] != '#'; ++at) {
        const char quote = line[at];
        text += quote;
        if (quote != '"' && quote != '\'') continue;
        const size_t begin = ++at;
        for (; at < line.size() && line[at] != quote; ++at)
            if (line[at] == '\\') ++at;
        if (at > begin) text += "…";
        if (at < line.size()) text += quote;
    }
    return text;
}

/// Adds the text of each line that is not blank, at most `maxCodeBytes`.
void addLines(int64_t file, std::string_view code, LineTexts& texts) {
    for (int64_t number = 1; !code.empty(); ++number) {
        const std::string text = withoutStrings(takeUntil(code, '\n'));
        const std::string_view line = trimmed(text, " \t\r").substr(0, maxCodeBytes);
        if (!line.empty()) texts.emplace(std::pair(file, number), line);
    }
}

/// Returns true for a file of the program itself that has not changed since.
bool isSourceOf(const std::string& path, int64_t beforeRealtimeNs) {
    if (!path.starts_with('/') || !path.ends_with(".py") || isLibraryFile(path)) return false;
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path, error);
    if (error) return false;
    const auto since = std::chrono::file_clock::to_sys(written).time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count() < beforeRealtimeNs;
}

}  // namespace

Result<void> writeCodeOfLines(TraceWriter& trace, int64_t beforeRealtimeNs) {
    LineTexts operators, codes;
    size_t files = 0;
    for (const auto& [path, id] : trace.sources()) {
        const bool isCompiled = isCompiledFile(path);
        if ((!isCompiled && !isSourceOf(path, beforeRealtimeNs)) || ++files > maxFiles) continue;
        const Result<std::string> code = readRegularFile(path, maxFileBytes);
        if (!code) continue;
        if (!isCompiled && codes.size() < maxCodeLines) addLines(id, *code, codes);
        if (!isCompiled) continue;
        for (auto& [line, text] : compiledLines(*code))
            operators.emplace(std::pair(id, int64_t{line}), std::move(text));
    }
    if (operators.empty() && codes.empty()) return {};
    if (auto written = trace.commit(); !written) return written;
    constexpr const auto& t = tables::stacks;
    struct Named {
        int64_t stack;
        const std::string *operators, *code;
    };
    std::vector<Named> named;
    const auto textIn = [](const LineTexts& texts, const Statement& row) {
        const auto found = texts.find({row.integer(1), row.integer(2)});
        return found == texts.end() ? nullptr : &found->second;
    };
    const Result<void> read =
        forEachRow(trace.database(),
                   fmt::format("SELECT {}, {}, {} FROM {}", t.id.name, t.fileId.name, t.line.name, t.tableName()),
                   [&](const Statement& row) {
                       const Named found{row.integer(0), textIn(operators, row), textIn(codes, row)};
                       if (found.operators != nullptr || found.code != nullptr) named.push_back(found);
                   });
    if (!read) return read;
    auto update = trace.database().prepare(fmt::format("UPDATE {} SET {} = ?1, {} = ?2 WHERE {} = ?3", t.tableName(),
                                                       t.operatorsId.name, t.codeId.name, t.id.name));
    if (!update) return fail(update.error());
    const auto idOf = [&](const std::string* text) {
        return text == nullptr ? std::nullopt : std::optional<int64_t>(trace.intern(*text));
    };
    for (const Named& each : named) {
        update->bind(1, idOf(each.operators));
        update->bind(2, idOf(each.code));
        update->bind(3, each.stack);
        if (auto done = update->run(); !done) return done;
    }
    return {};
}

}  // namespace lanescope::capture
