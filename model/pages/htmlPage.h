// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::report {

/// Writes a table of the report, row by row. Escapes text; HTML arguments must already be escaped.
class HtmlTable {
  public:
    struct Column {
        std::string heading;
        std::string unit = {};  ///< Under the heading.
        bool isNumber = false;
        bool beginsGroup = false;  ///< A line before it.
    };
    /// `caption` may be empty.
    HtmlTable(std::vector<Column> columns, std::string_view caption, bool isSortable = true);

    void beginRow();
    /// Adds a number with its sort key; `kind` is "lost", "saved" or empty.
    void number(std::string_view text, double value, std::string_view kind = {});
    /// Adds an empty cell of a missing number: "–".
    void nothing();
    void text(std::string_view text);
    /// Adds a name from a trace in code type, with a line under it and tags before it.
    void name(std::string_view text, std::string_view below = {}, const std::vector<std::string_view>& tags = {});
    /// Begins the rows of the sum.
    void beginFoot();
    std::string html() &&;

  private:
    std::string attributes(std::string_view classes) const;

    std::vector<Column> columns_;
    std::string html_;
    size_t column_ = 0;
    bool isInRow_ = false, isInFoot_ = false;
};

// The files of `resources/report`.

/// The skeleton of the page.
std::string_view reportPage();
/// The style sheet of the report: light and dark by the reader's choice, and for paper.
std::string_view reportStyle();
/// Returns a script that makes the tables sortable, also by keyboard; the page loses nothing else without it.
std::string_view reportScript();

/// Returns the SHA-256 of style sheet and script in Base64: the page's content security policy names them, so that the
/// browser runs nothing else, even if markup from a trace should ever get through.
std::string_view reportStyleHash();
std::string_view reportScriptHash();

/// List of the keys of a timeline.
std::string_view timelineKeys();
// Style and script of timelines, without comments and unnecessary spaces, and their hashes.
std::string_view timelineStyle();
std::string_view timelineScript();
std::string_view timelineStyleHash();
std::string_view timelineScriptHash();

enum class PageKind : uint8_t {
    Report,
    ReportWithTimelines,  ///< With `timelineHtml` among its content.
    Timeline,             ///< One `timelineHtml` that fills the window.
};

/// Returns a page that needs no other file and no network, and forbids itself any script and style
/// but its own. All three are HTML: text from a trace must be escaped in them.
std::string htmlPage(const std::string& title, const std::string& heading, const std::string& content,
                     PageKind kind = PageKind::Report);

}  // namespace lanescope::report
