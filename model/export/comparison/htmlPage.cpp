// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/htmlPage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "model/export/comparison/reportFiles.h"

namespace lanescope::report {

namespace {

/// The skeleton of the page with a text in place of each mark, in the order in which they stand in
/// it. What was put in is not looked at again.
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

std::string htmlPage(const std::string& title, const std::string& heading,
                     const std::string& content) {
    return filledPage(
        {{"<!--policy-->",
          fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                      "'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri "
                      "'none'; form-action 'none'\">",
                      reportStyleHash(), reportScriptHash())},
         {"<!--title-->", title},
         {"<link rel=\"stylesheet\" href=\"report.css\">",
          fmt::format("<style>{}</style>", reportStyle())},
         {"<!--heading-->", heading},
         {"<!--content-->", content},
         {"<script src=\"report.js\"></script>",
          fmt::format("<script>{}</script>", reportScript())}});
}

}  // namespace lanescope::report
