// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::report {

/// Writes a table of the report, row by row. What it is given as text it escapes; what it is given
/// as HTML must be escaped.
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
    /// A number with what it is sorted by; `kind` is "lost", "saved" or empty.
    void number(std::string_view text, double value, std::string_view kind = {});
    /// An empty cell of a number that there is none of: "–".
    void nothing();
    void text(std::string_view text);
    /// A name from a trace in the type of code, with a line under it and tags before it.
    void name(std::string_view text, std::string_view below = {},
              const std::vector<std::string_view>& tags = {});
    /// The rows that follow are the sum.
    void beginFoot();
    std::string html() &&;

  private:
    std::string attributes(std::string_view classes) const;

    std::vector<Column> columns_;
    std::string html_;
    size_t column_ = 0;
    bool isInRow_ = false, isInFoot_ = false;
};

// The files of `resources/report`, as they are there.

/// The skeleton of the page.
std::string_view reportPage();
/// The style sheet of the report: light and dark by the reader's choice, and for paper.
std::string_view reportStyle();
/// Makes the tables sortable, by key too; the page loses nothing else without it.
std::string_view reportScript();

/// SHA-256 of the last two in Base64: the page's content security policy names them, so that the
/// browser runs nothing else, even if markup from a trace should ever get through.
std::string_view reportStyleHash();
std::string_view reportScriptHash();

/// A page that needs no other file and no network, and forbids itself any script and style but its
/// own. All three are HTML: what comes from a trace must be escaped in them.
std::string htmlPage(const std::string& title, const std::string& heading,
                     const std::string& content);

}  // namespace lanescope::report
