// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <string>
#include <string_view>

namespace lanescope::test {

/// Returns true if the text contains the part.
inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace lanescope::test

/// Verifies that a text contains a part. A failure shows the text.
#define HAS(text, part) VERIFY_PART(text, part, true)
/// Verifies that a text does not contain a part.
#define HAS_NO(text, part) VERIFY_PART(text, part, false)

#define VERIFY_PART(text, part, isExpected)                                                                  \
    do {                                                                                                     \
        const std::string shownText(text);                                                                   \
        QVERIFY2(lanescope::test::has(shownText, part) == (isExpected), (#part " in " + shownText).c_str()); \
    } while (false)
