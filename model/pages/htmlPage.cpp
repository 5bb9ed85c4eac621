// SPDX-License-Identifier: Apache-2.0
#include "model/pages/htmlPage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/text/formatValue.h"

namespace lanescope::report {

HtmlTable::HtmlTable(std::vector<Column> columns, std::string_view caption, bool isSortable)
    : columns_(std::move(columns)) {
    html_ = fmt::format("<div class=\"scroll\"><table{}>\n", isSortable ? " class=\"sortable\"" : "");
    if (!caption.empty()) html_ += fmt::format("<caption>{}</caption>\n", markupEscaped(caption));
    html_ += "<thead><tr>";
    for (const Column& column : columns_) {
        html_ += fmt::format("<th scope=\"col\"{}>{}",
                             column.isNumber      ? column.beginsGroup ? " class=\"n group\"" : " class=\"n\""
                             : column.beginsGroup ? " class=\"group\""
                                                  : "",
                             markupEscaped(column.heading));
        if (!column.unit.empty()) html_ += fmt::format("<span class=\"unit\">{}</span>", markupEscaped(column.unit));
        html_ += "</th>";
    }
    html_ += "</tr></thead>\n<tbody>\n";
}

std::string HtmlTable::attributes(std::string_view classes) const {
    std::string all(classes);
    if (column_ < columns_.size() && columns_[column_].beginsGroup) all += all.empty() ? "group" : " group";
    return all.empty() ? std::string() : fmt::format(" class=\"{}\"", all);
}

void HtmlTable::beginRow() {
    if (isInRow_) html_ += "</tr>\n";
    html_ += "<tr>";
    isInRow_ = true;
    column_ = 0;
}

void HtmlTable::number(std::string_view text, double value, std::string_view kind) {
    const std::string classes = kind.empty() ? "n" : fmt::format("n {}", kind);
    html_ += fmt::format("<td{}{}>{}</td>", attributes(classes),
                         std::isfinite(value) ? fmt::format(" data-v=\"{}\"", value) : "", markupEscaped(text));
    ++column_;
}

void HtmlTable::nothing() {
    html_ += fmt::format("<td{}>\u2013</td>", attributes("n"));
    ++column_;
}

void HtmlTable::text(std::string_view text) {
    // The first cell is the row's heading.
    const bool isHeading = column_ == 0;
    html_ += isHeading ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes({}), markupEscaped(text))
                       : fmt::format("<td{}>{}</td>", attributes({}), markupEscaped(text));
    ++column_;
}

void HtmlTable::name(std::string_view text, std::string_view below, const std::vector<std::string_view>& tags) {
    html_ += fmt::format("<td{}>", attributes("name"));
    for (const std::string_view tag : tags) html_ += fmt::format("<span class=\"tag\">{}</span>", markupEscaped(tag));
    html_ += fmt::format("<code>{}</code>", markupEscaped(text));
    if (!below.empty()) html_ += fmt::format("<small>{}</small>", markupEscaped(below));
    html_ += "</td>";
    ++column_;
}

void HtmlTable::beginFoot() {
    if (isInRow_) html_ += "</tr>\n";
    html_ += "</tbody>\n<tfoot>\n";
    isInRow_ = false;
    isInFoot_ = true;
}

std::string HtmlTable::html() && {
    if (isInRow_) html_ += "</tr>\n";
    html_ += isInFoot_ ? "</tfoot>" : "</tbody>";
    html_ += "</table></div>\n";
    return std::move(html_);
}

namespace {

/// Returns the page's skeleton with each mark replaced by a text, in order. Inserted text is not searched for marks.
std::string filledPage(const std::vector<std::pair<std::string_view, std::string>>& texts) {
    const std::string_view page = reportPage();
    std::string html;
    size_t from = 0;
    for (const auto& [mark, text] : texts) {
        const size_t at = std::min(page.find(mark, from), page.size());
        html.append(page.substr(from, at - from)).append(text);
        from = std::min(at + mark.size(), page.size());
    }
    return html.append(page.substr(from));
}

}  // namespace

std::string htmlPage(const std::string& title, const std::string& heading, const std::string& content, PageKind kind) {
    const bool hasTimelines = kind != PageKind::Report;
    const auto hashes = [&](std::string_view report, std::string_view timeline) {
        return hasTimelines ? fmt::format("'sha256-{}' 'sha256-{}'", report, timeline)
                            : fmt::format("'sha256-{}'", report);
    };
    const std::string style = hasTimelines ? fmt::format("<style>{}</style>\n", timelineStyle()) : std::string();
    const std::string script = hasTimelines ? fmt::format("\n<script>{}</script>", timelineScript()) : std::string();
    return filledPage(
        {{"<!--policy-->",
          fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
                      "script-src {}; img-src data:; base-uri 'none'; form-action 'none'\">",
                      hashes(reportStyleHash(), timelineStyleHash()),
                      hashes(reportScriptHash(), timelineScriptHash()))},
         {"<!--title-->", title},
         {"<link rel=\"stylesheet\" href=\"report.css\">", fmt::format("<style>{}</style>\n{}", reportStyle(), style)},
         {"<body class=\"report\">", kind == PageKind::Timeline ? "<body class=\"app\">" : "<body class=\"report\">"},
         {"<!--heading-->", heading},
         {"<!--content-->", hasTimelines ? content + std::string(timelineKeys()) : content},
         {"<script src=\"report.js\"></script>", fmt::format("<script>{}</script>{}", reportScript(), script)}});
}

}  // namespace lanescope::report
