// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/values/formatAsNvprof.h"

#include "model/values/displayWidth.h"

namespace lanescope {

namespace {

/// Five significant digits.
std::string fiveDigits(double value) {
    const double size = std::abs(value);
    if (size < 10) return fmt::format("{:.4f}", value);
    if (size < 100) return fmt::format("{:.3f}", value);
    if (size < 1000) return fmt::format("{:.2f}", value);
    return fmt::format("{:.1f}", value);
}

/// With units of 1024; a whole number below the first of them.
std::string scaled(double value, std::string_view suffix) {
    static constexpr std::array<std::string_view, 5> units{"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (std::abs(value) >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const std::string number =
        unit == 0 && value == std::floor(value) ? fmt::format("{:.0f}", value) : fiveDigits(value);
    return fmt::format("{}{}{}", number, units[unit], suffix);
}

double numberIn(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return 0;
}

std::string textOf(const Cell& cell, Unit unit) {
    if (std::holds_alternative<std::monostate>(cell)) return "-";
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    const double value = numberIn(cell);
    switch (unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp:
            return nvprofTime(value);
        case Unit::Bytes:
            return nvprofSize(value);
        case Unit::GigabytesPerSecond:
            return nvprofThroughput(value);
        case Unit::Percent:
            return fmt::format("{:.2f}%", value);
        default:
            return fmt::format("{:.0f}", value);
    }
}

/// As wide as nvprof sets them; others are as wide as most of its columns.
size_t widthOf(const std::string& name) {
    static constexpr size_t usual = 8;
    static constexpr std::array<std::pair<std::string_view, size_t>, 9> wider{{{"Type", 16},
                                                                               {"Grid Size", 19},
                                                                               {"Block Size", 14},
                                                                               {"Throughput", 10},
                                                                               {"SrcMemType", 10},
                                                                               {"DstMemType", 10},
                                                                               {"Device", 15},
                                                                               {"Src Dev", 15},
                                                                               {"Dst Dev", 15}}};
    for (const auto& [column, width] : wider)
        if (name == column) return width;
    return usual;
}

bool isDevice(const std::string& name) {
    return name == "Device" || name == "Src Dev" || name == "Dst Dev";
}

class NvprofFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::string text;
        if (isFirst_)
            for (size_t column = 0; column < part.columns.size(); ++column)
                append(text, part, column, headingOf(part.columns[column]));
        if (isFirst_) text += '\n';
        isFirst_ = false;
        for (const std::vector<Cell>& row : part.rows) {
            for (size_t column = 0; column < part.columns.size(); ++column)
                append(text, part, column, cellText(part, row, column));
            text += '\n';
        }
        return text;
    }

  private:
    static std::string headingOf(const ReportColumn& column) {
        return column.unit == Unit::Percent ? column.name + "(%)" : column.name;
    }

    /// The type stands once, over all rows of its kind.
    std::string cellText(const ReportTable& part, const std::vector<Cell>& row, size_t column) {
        const std::string& name = part.columns[column].name;
        std::string text = textOf(row[column], part.columns[column].unit);
        if (name == "Type") {
            if (text == lastType_) return {};
            lastType_ = text;
            return text + ":";
        }
        if (isDevice(name)) text.resize(std::min(text.size(), widthOf(name)));
        return text;
    }

    static void append(std::string& line, const ReportTable& part, size_t column,
                       const std::string& text) {
        if (column > 0) line += "  ";
        // The percentage is a digit narrower than the rest.
        const size_t width =
            part.columns[column].unit == Unit::Percent ? 7 : widthOf(part.columns[column].name);
        const bool isLast = column + 1 == part.columns.size();
        if (!isLast && displayWidth(text) < width) line.append(width - displayWidth(text), ' ');
        line += text;
    }

    std::string lastType_;
    bool isFirst_ = true;
};

}  // namespace

std::string nvprofTime(double ns) {
    const double size = std::abs(ns);
    if (size < 1e3) return fmt::format("{:.0f}ns", ns);
    if (size < 1e6) return fiveDigits(ns / 1e3) + "us";
    if (size < 1e9) return fiveDigits(ns / 1e6) + "ms";
    const double seconds = ns / 1e9;
    const int decimals = size < 1e10 ? 5 : size < 1e11 ? 4 : size < 1e12 ? 3 : 2;
    return fmt::format("{:.{}f}s", seconds, decimals);
}

std::string nvprofSize(double bytes) {
    return scaled(bytes, "");
}

std::string nvprofThroughput(double gigabytesPerSecond) {
    return scaled(gigabytesPerSecond * 1e9, "/s");
}

std::unique_ptr<TableFormatter> makeNvprofFormatter() {
    return std::make_unique<NvprofFormatter>();
}

}  // namespace lanescope
