// SPDX-License-Identifier: Apache-2.0
#include "model/notes/marksAsText.h"

#include <fmt/format.h>

#include "model/values/formatValue.h"

namespace lanescope {

namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : printable(text)) {
        if (std::string_view("\\`*_{}[]<>#|!").find(letter) != std::string_view::npos)
            result += '\\';
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
    table.columns = {{"Start", Unit::Timestamp},
                     {"Duration", Unit::Nanoseconds},
                     {"Track", Unit::Text},
                     {"Text", Unit::Text}};
    for (const Mark& mark : marks) {
        table.rows.push_back({mark.range.startNs, Cell(), trackText(mark), mark.text});
        if (!mark.range.isEmpty()) table.rows.back()[1] = mark.range.durationNs();
    }
    return table;
}

std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title) {
    std::string text = fmt::format(
        "## {}\n\n| start | duration | track | text |\n|---|---|---|---|\n", escaped(title));
    for (const Mark& mark : marks)
        text += fmt::format("| {} | {} | {} | {} |\n", formatTimestamp(mark.range.startNs),
                            mark.range.isEmpty() ? "" : formatDuration(mark.range.durationNs()),
                            escaped(trackText(mark)), escaped(mark.text));
    return text;
}

}  // namespace lanescope
