// SPDX-License-Identifier: Apache-2.0
#include "model/notes/Mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string_view>
#include <tuple>

#include "model/text/formatValue.h"

namespace lanescope {

int64_t utcNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Mark newMark(TimeRange range) {
    std::random_device random;
    Mark mark;
    mark.id = fmt::format("{:08x}{:08x}", uint32_t{random()}, uint32_t{random()});
    mark.range = range;
    mark.changedUtcNs = utcNow();
    return mark;
}

void sortMarks(std::vector<Mark>& marks) {
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return std::tie(a.range.startNs, a.id) < std::tie(b.range.startNs, b.id);
    });
}

std::vector<std::string> trackPath(const Trace& trace, uint32_t track) {
    std::vector<std::string> path;
    auto at = static_cast<int64_t>(track);
    while (at >= 0 && at < static_cast<int64_t>(trace.tracks.size())) {
        const Track& step = trace.tracks[static_cast<size_t>(at)];
        path.push_back(step.title);
        if (step.parent >= at) break;
        at = step.parent;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

namespace {

/// Older notes name streams by number only: "Stream 7" is "Compute, stream 7".
bool isCalled(std::string_view title, std::string_view wanted) {
    if (title == wanted) return true;
    const bool isOfStream = wanted.starts_with("Stream ") || wanted.starts_with("Default stream ");
    return isOfStream && title.size() > wanted.size() + 1 && title[title.size() - wanted.size() - 2] == ',' &&
           title[title.size() - wanted.size()] == lowerCase(wanted.front()) &&
           title.substr(title.size() - wanted.size() + 1) == wanted.substr(1);
}

bool isCalled(const Trace& trace, uint32_t track, const std::vector<std::string>& path) {
    const std::vector<std::string> titles = trackPath(trace, track);
    return std::equal(titles.begin(), titles.end(), path.begin(), path.end(),
                      [](const auto& title, const auto& wanted) { return isCalled(title, wanted); });
}

}  // namespace

uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path) {
    if (path.empty()) return noIndex;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (isCalled(trace.tracks[track].title, path.back()) && isCalled(trace, track, path)) return track;
    return noIndex;
}

namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : printable(text)) {
        if (std::string_view("\\`*_{}[]<>#|!").find(letter) != std::string_view::npos) result += '\\';
        result += letter;
    }
    return result;
}

}  // namespace

std::string trackText(const Mark& mark) {
    std::string text;
    for (const std::string& title : mark.track) {
        if (!text.empty()) text += " / ";
        text += title;
    }
    return text;
}

ReportTable marksTable(std::span<const Mark> marks) {
    ReportTable table;
    table.name = "marks";
    table.title = "Marks";
    table.columns = {
        {"Start", Unit::Timestamp}, {"Duration", Unit::Nanoseconds}, {"Track", Unit::Text}, {"Text", Unit::Text}};
    for (const Mark& mark : marks) {
        table.rows.push_back({mark.range.startNs, Cell(), trackText(mark), mark.text});
        if (!mark.range.isEmpty()) table.rows.back()[1] = mark.range.durationNs();
    }
    return table;
}

std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title) {
    std::string text = fmt::format("## {}\n\n| start | duration | track | text |\n|---|---|---|---|\n", escaped(title));
    for (const Mark& mark : marks)
        text += fmt::format("| {} | {} | {} | {} |\n", formatTimestamp(mark.range.startNs),
                            mark.range.isEmpty() ? "" : formatDuration(mark.range.durationNs()),
                            escaped(trackText(mark)), escaped(mark.text));
    return text;
}

}  // namespace lanescope
