// SPDX-License-Identifier: Apache-2.0
#include <clocale>

#include "model/format/text.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace std::string_view_literals;

/// Letters and text that every part of the program treats alike.
class tst_text : public QObject {
    Q_OBJECT

  private slots:
    void trimmingKeepsInnerSpacesAndOtherBytes() {
        QVERIFY(trimmed("").empty());
        QVERIFY(trimmed(" \t ").empty());
        QCOMPARE(trimmed("\t a b "), "a b"sv);
        QCOMPARE(trimmed("\ta ", " "), "\ta"sv);
        QCOMPARE(trimmed("a\n"), "a\n"sv);
        QCOMPARE(trimmed(" \0 "sv), "\0"sv);
        QCOMPARE(trimmed(" \u00a0\u00e9 "), "\u00a0\u00e9"sv);
    }

    void lettersAreAsciiInAnyLocale() {
        std::setlocale(LC_ALL, "");
        for (int value = 0; value < 256; ++value) {
            const char c = static_cast<char>(value);
            QCOMPARE(isDigit(c), "0123456789"sv.find(c) != std::string_view::npos);
            QCOMPARE(isSpace(c), " \t\n\r"sv.find(c) != std::string_view::npos);
            const bool isAscii = value < 128;
            QCOMPARE(isUpper(c), isAscii && value >= 'A' && value <= 'Z');
            QCOMPARE(isLower(c), isAscii && value >= 'a' && value <= 'z');
            QCOMPARE(isLetter(c), isUpper(c) || isLower(c));
            QCOMPARE(lowerCase(c), isUpper(c) ? static_cast<char>(value + 32) : c);
        }
        QCOMPARE(lowerCase("Kernel \u00c9"), std::string("kernel \u00c9"));
    }

    void aNumberIsAtLeastOneDigit() {
        QVERIFY(isNumber("0") && isNumber("0123456789012345678901234567890"));
        for (const std::string_view other : {""sv, "-1"sv, "1 "sv, "1.0"sv, "1\0"sv, "\u0661"sv})
            QVERIFY(!isNumber(other));
    }
};

LANESCOPE_TEST(tst_text, NoApplication)
#include "tst_text.moc"
