// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope::report {

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

}  // namespace lanescope::report
