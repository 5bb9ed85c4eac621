// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/InspectorScanner.h"

#include <algorithm>
#include <array>

#include "model/load/json/JsonCursor.h"

namespace lanescope {

namespace {

/// Longer than any record: one with all channels and network steps takes a few hundred kilobytes.
constexpr size_t longestRecord = size_t{4} << 20;
/// As long, so that a record that seems to end nowhere is looked at twice at most.
constexpr size_t blockBytes = longestRecord;

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// What records begin with, so that one is found also where it does not begin a line.
constexpr std::array<std::string_view, 3> beginnings{"{\"header\"", "{\"coll_perf\"",
                                                     "{\"p2p_perf\""};

/// The first object that begins a line, or begins as records do; the end of `text` if there is
/// none.
size_t nextObject(std::string_view text, size_t from) {
    for (size_t at = text.find('{', from); at < text.size(); at = text.find('{', at + 1)) {
        size_t before = at;
        while (before > from && text[before - 1] != '\n' && isSpace(text[before - 1])) --before;
        if (before > 0 && text[before - 1] == '\n') return at;
        for (const std::string_view each : beginnings)
            if (text.substr(at).starts_with(each)) return at;
    }
    return text.size();
}

}  // namespace

void InspectorScanner::countLines(std::string_view text, size_t until) {
    const std::string_view passed = text.substr(counted_, until - counted_);
    line_ += std::count(passed.begin(), passed.end(), '\n');
    counted_ = until;
}

size_t InspectorScanner::behindDamage(std::string_view text, size_t at, bool isCut, bool isLast) {
    size_t next = nextObject(text, at + 1);
    countLines(text, at);
    if (isCut && isLast && next == text.size())
        file_.isCut = true;
    else
        file_.damaged.add(line_);
    // Unless another begins there, the rest of its line is of it, which may not have come yet.
    isInLine_ = next == text.size() && !isLast;
    records_.pass(text.substr(at, next - at));
    return next;
}

size_t InspectorScanner::scan(std::string_view text, bool isLast) {
    size_t at = 0;
    counted_ = 0;
    while (at < text.size()) {
        const char c = text[at];
        // Some put the lines of a file into one list.
        if (isSpace(c) || c == ',' || c == '[' || c == ']') {
            if (c == '\n') isInLine_ = false;
            ++at;
            continue;
        }
        const bool isWaiting = !isLast && text.size() - at < longestRecord;
        if (c == '{' && !isInLine_) {
            JsonCursor cursor(text.substr(at));
            JsonValue object;
            const JsonLook look = cursor.value(object);
            if (look == JsonLook::Whole) {
                countLines(text, at);
                records_.take(object.text, line_);
                at += object.text.size();
                continue;
            }
            if (look == JsonLook::Cut && isWaiting) break;
            at = behindDamage(text, at, look == JsonLook::Cut, isLast);
            continue;
        }
        // A line of text, in which an object may begin.
        const size_t end = text.find('\n', at);
        if (end == std::string_view::npos && isWaiting && !isInLine_) break;
        const std::string_view line = text.substr(0, end);
        const size_t object = std::min(line.find("{\"", at), line.size());
        if (!isInLine_) {
            countLines(text, at);
            file_.texts.add(line_);
        }
        isInLine_ = object == line.size() && end == std::string_view::npos;
        at = object;
    }
    countLines(text, at);
    return at;
}

Result<void> InspectorScanner::read(const ByteSource& source, const std::function<bool()>& isWanted,
                                    uint64_t mostBytes) {
    std::string text;
    while (true) {
        if (!isWanted()) return fail("Reading was cancelled.");
        const size_t before = text.size();
        const auto wanted =
            static_cast<size_t>(std::min<uint64_t>(blockBytes, mostBytes - file_.bytes));
        file_.isTooLong = wanted == 0;
        text.resize(before + wanted);
        const Result<size_t> count = wanted == 0
                                         ? Result<size_t>(size_t{0})
                                         : source(std::span<char>(text.data() + before, wanted));
        if (!count && file_.bytes == 0) return fail(count.error());
        if (!count) file_.readError = count.error();
        const size_t came = count ? *count : 0;
        text.resize(before + came);
        file_.bytes += came;
        const bool isLast = came == 0;
        const size_t taken = scan(text, isLast);
        if (isLast) return {};
        text.erase(0, taken);
    }
}

}  // namespace lanescope
