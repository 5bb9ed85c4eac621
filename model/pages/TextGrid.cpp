// SPDX-License-Identifier: Apache-2.0
#include "model/pages/TextGrid.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "model/text/formatValue.h"

namespace lanescope::report {

namespace {

constexpr size_t columnGap = 2;
/// A name is truncated to no less than this, even if the line gets too wide.
constexpr size_t minNameColumns = 16;

/// A number is never separated from its unit.
bool isUnit(std::string_view word) {
    while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
    for (const std::string_view unit : {"%", "ns", "\u00b5s", "ms", "s", "GB/s", "B", "KiB", "MiB", "GiB"})
        if (word == unit) return true;
    return false;
}

/// Returns the end of the word that begins at `at`, with the unit that may follow it.
size_t endOfWord(std::string_view text, size_t at) {
    const auto spaceFrom = [text](size_t from) { return std::min(text.find(' ', from), text.size()); };
    const size_t end = spaceFrom(at);
    if (end == text.size()) return end;
    const size_t next = spaceFrom(end + 1);
    return isUnit(text.substr(end + 1, next - end - 1)) ? next : end;
}

std::string indentedAfterFirst(std::string_view lines, size_t indent) {
    std::string text;
    for (const char character : lines) {
        text += character;
        if (character == '\n') text.append(indent, ' ');
    }
    return text;
}

}  // namespace

void TextGrid::add(std::vector<std::string> cells, Overlong overlong) {
    cells.resize(sides_.size());
    lines_.push_back({false, std::move(cells), overlong});
}

bool TextGrid::fits(size_t width) const {
    const std::vector<size_t> widths = columnWidths(width);
    const size_t gaps = widths.empty() ? 0 : columnGap * (widths.size() - 1);
    return std::accumulate(widths.begin(), widths.end(), gaps) <= width;
}

std::vector<size_t> TextGrid::columnWidths(size_t width) const {
    std::vector<size_t> widths(sides_.size());
    for (const Line& line : lines_)
        for (size_t column = 0; column < line.cells.size(); ++column)
            widths[column] = std::max(widths[column], displayWidth(line.cells[column]));
    if (sides_.empty() || sides_.back() == Side::Right) return widths;
    size_t before = 0;
    for (size_t column = 0; column + 1 < widths.size(); ++column) before += widths[column] + columnGap;
    const size_t left = width > before ? width - before : 0;
    widths.back() = std::min(widths.back(), std::max(left, minNameColumns));
    return widths;
}

std::string TextGrid::textOf(const Line& line, const std::vector<size_t>& widths) const {
    std::string text;
    size_t before = 0;
    for (size_t column = 0; column < widths.size(); ++column) {
        const size_t width = widths[column];
        const bool isLast = column + 1 == widths.size();
        if (column > 0) text.append(columnGap, ' ');
        if (!line.isRule && isLast && line.overlong == Overlong::Wrap) {
            text += indentedAfterFirst(wrapped(line.cells[column], 0, width), before);
            break;
        }
        const std::string cell = line.isRule ? std::string(width, '-') : elideMiddle(line.cells[column], width);
        const std::string padding(width - displayWidth(cell), ' ');
        text += sides_[column] == Side::Right ? padding + cell : cell + padding;
        before += width + columnGap;
    }
    text.erase(text.find_last_not_of(" \n") + 1);
    return text + "\n";
}

std::string TextGrid::text(size_t width) const {
    const std::vector<size_t> widths = columnWidths(width);
    std::string text;
    for (const Line& line : lines_) text += textOf(line, widths);
    return text;
}

std::string wrapped(const std::string& sentence, size_t indent, size_t width) {
    std::string text;
    size_t lineWidth = 0;
    for (size_t at = 0; at < sentence.size();) {
        const size_t end = endOfWord(sentence, at);
        const std::string word = sentence.substr(at, end - at);
        const size_t wordWidth = displayWidth(word);
        if (lineWidth > indent && lineWidth + 1 + wordWidth > width) {
            text += "\n" + std::string(indent, ' ');
            lineWidth = indent;
        } else if (!text.empty()) {
            text += ' ';
            ++lineWidth;
        }
        text += word;
        lineWidth += wordWidth;
        at = end + 1;
    }
    return text + "\n";
}

}  // namespace lanescope::report
