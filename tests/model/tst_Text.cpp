// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <clocale>
#include <regex>

#include "model/format/Result.h"
#include "model/format/Table.h"
#include "model/format/optionValues.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/format/text.h"
#include "model/pages/TextGrid.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/text/nearestNames.h"
#include "model/text/programOf.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace std::string_view_literals;

namespace {

/// A CSV reader as in RFC 4180, to recover the fields.
std::vector<std::vector<std::string>> parseCsv(const std::string& text) {
    std::vector<std::vector<std::string>> lines(1, {""});
    bool isQuoted = false;
    for (size_t index = 0; index < text.size(); ++index) {
        const char letter = text[index];
        std::string& field = lines.back().back();
        if (isQuoted) {
            if (letter != '"')
                field += letter;
            else if (index + 1 < text.size() && text[index + 1] == '"')
                field += text[++index];
            else
                isQuoted = false;
        } else if (letter == '"') {
            isQuoted = true;
        } else if (letter == ',') {
            lines.back().emplace_back();
        } else if (letter == '\r') {
            ++index;
            lines.push_back({""});
        } else {
            field += letter;
        }
    }
    lines.pop_back();
    return lines;
}

ReportTable sample() {
    return ReportTable{.name = "sample",
                       .columns = {{"Time", Unit::Percent},
                                   {"Total Time", Unit::Nanoseconds},
                                   {"Size", Unit::Bytes},
                                   {"Count", Unit::Count},
                                   {"Rate", Unit::GigabytesPerSecond},
                                   {"Id", Unit::Identifier},
                                   {"Name", Unit::Text}},
                       .rows = {
                           {62.5, int64_t{2'000'000'000}, int64_t{1} << 30, int64_t{12345}, 55.5, int64_t{98765},
                            std::string("plain")},
                           {37.5, int64_t{1'500}, int64_t{512}, int64_t{1}, Cell{}, Cell{},
                            std::string("a \"quoted\", name\r\nof two lines")},
                       }};
}

const std::filesystem::path prose = LANESCOPE_SOURCE_DIR "/model/format/FORMAT.md";
const std::filesystem::path list = LANESCOPE_SOURCE_DIR "/model/format/TABLES.md";
/// The text above the list.
constexpr std::string_view endOfIntroduction = "in `tables/`.\n\n";
constexpr size_t lineWidth = 116;

std::vector<const tables::Table*> everyTable() {
    std::vector<const tables::Table*> all(tables::traceTables().begin(), tables::traceTables().end());
    const auto stored = tables::storedTables();
    all.insert(all.end(), stored.begin(), stored.end());
    return all;
}

/// The note in brackets after its name; a whole number that may be NULL has none.
std::string noteOf(const tables::ColumnInfo& column) {
    std::string note = column.type == tables::Type::Text   ? "text"
                       : column.type == tables::Type::Real ? "real"
                       : column.type == tables::Type::Any  ? "any type"
                                                           : "";
    if (column.presence == tables::Presence::Key) note = "key";
    if (column.presence == tables::Presence::Required) note += note.empty() ? "not NULL" : ", not NULL";
    return note.empty() ? "" : " (" + note + ")";
}

std::string columnsOf(const tables::Table& table) {
    std::string text;
    for (const tables::ColumnInfo& column : table.columns())
        text += fmt::format("{}`{}`{} {}", text.empty() ? "" : " · ", column.name, noteOf(column), column.meaning);
    return text + ".";
}

std::string wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string lines, word;
    size_t length = 0;
    while (words >> word) {
        if (length > 0 && length + 1 + word.size() > lineWidth) {
            lines += '\n';
            length = 0;
        }
        if (length > 0) lines += ' ';
        length += word.size() + (length > 0 ? 1 : 0);
        lines += word;
    }
    return lines + '\n';
}

/// The expected list of the page.
std::string listOfTables() {
    std::string text, before;
    const char* nameBefore = nullptr;
    for (const tables::Table* table : everyTable()) {
        const std::string columns = columnsOf(*table);
        // All tables that explain numbers share one text.
        if (!text.empty()) text += '\n';
        text += wrapped(fmt::format("**`{}`**, {}: {}", table->tableName(), table->rowMeaning(),
                                    columns == before ? fmt::format("same columns as `{}`.", nameBefore) : columns));
        if (columns != before) nameBefore = table->tableName();
        before = columns;
    }
    return text;
}

}  // namespace

/// Letters and text that every part of the program treats alike.
/// Tests of the small languages with one parser each: name patterns, times, step numbers.
/// `tests/layering/check-results` enforces that results are used.
class tst_Text : public QObject {
    Q_OBJECT

  private slots:
    void trimmingKeepsInnerSpacesAndOtherBytes() {
        for (const char* part : {"", " \t "}) QVERIFY2(trimmed(part).empty(), part);
        QCOMPARE(test::listed(trimmed("\t a b "), trimmed("\ta ", " ")), test::listed("a b"sv, "\ta"sv));
        QCOMPARE(test::listed(trimmed("a\n"), trimmed(" \0 "sv)), test::listed("a\n"sv, "\0"sv));
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

    void wideCharactersTakeTwoColumns_data() {
        const test::Rows<QString, int> row;
        row("nothing", "", 0);
        row("ASCII", "step 12", 7);
        row("accents", "Größe é", 7);
        row("Greek, arrows", "λ → μ", 5);
        row("Chinese", "训练步骤", 8);
        row("Japanese, full width", "ステップＡ", 10);
        row("Korean", "단계", 4);
        row("emoji", "🔥 hot", 6);
        row("ellipsis, middle dot", "a…b·c", 5);
    }
    void wideCharactersTakeTwoColumns() {
        const auto [text, width] = test::row<QString, int>();
        QCOMPARE(displayWidth(text.toStdString()), static_cast<size_t>(width));
    }

    /// Compared with adding letter by letter, at every width.
    void truncatesToTheWidth() {
        const std::vector<std::string> letters{"a", " ", "é", "训", "🔥", "…", "0"};
        std::mt19937 random(3);
        for (int round = 0; round < 200; ++round) {
            std::string text;
            std::vector<std::string> parts;
            for (size_t count = random() % 30; count-- > 0;) {
                parts.push_back(letters[random() % letters.size()]);
                text += parts.back();
            }
            for (size_t width = 0; width < 40; ++width) {
                std::string head, tail;
                size_t used = 0;
                for (const std::string& part : parts) {
                    used += displayWidth(part);
                    if (used > width) break;
                    head += part;
                }
                used = 0;
                for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
                    used += displayWidth(*part);
                    if (used > width) break;
                    tail = *part + tail;
                }
                QCOMPARE(prefixWithin(text, width), std::string_view(head));
                QCOMPARE(suffixWithin(text, width), std::string_view(tail));
                for (const std::string& cut : {elideEnd(text, width), elideMiddle(text, width)}) {
                    QVERIFY(displayWidth(cut) <= width);
                    if (displayWidth(text) <= width)
                        QCOMPARE(cut, text);
                    else if (width > 0)
                        QVERIFY(cut.find("…") != std::string::npos);
                }
            }
        }
    }

    void elisionKeepsBothEnds() {
        QCOMPARE(elideMiddle("abcdefghijklmnop", 11), std::string("abcdef…mnop"));
        QCOMPARE(test::listed(elideEnd("abcdefghijklmnop", 11), elideMiddle("训练步骤训练步骤", 7)),
                 "abcdefghij… | 训练…骤");
    }

    void tablesOfWideCharactersAreAligned() {
        using report::TextGrid;
        TextGrid grid({TextGrid::Side::Left, TextGrid::Side::Right, TextGrid::Side::Left});
        grid.add({"训练", "1", "a name 训练步骤训练步骤 that is long"});
        grid.add({"step", "20", "b"});
        const std::string text = grid.text(30);
        const size_t end = text.find('\n');
        QVERIFY(displayWidth(text.substr(0, end)) <= 30);
        // Both numbers end in one column.
        QCOMPARE(displayWidth(text.substr(0, text.find('1'))), size_t{7});
        QCOMPARE(text.substr(end + 1), std::string("step  20  b\n"));
    }

    void matchesPatterns_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<bool>("matches");
        const auto row = [](const char* text, const char* pattern, bool matches) {
            QTest::addRow("%s like %s", text, pattern) << text << pattern << matches;
        };
        row("python", "python", true);
        row("python3", "python", false);
        row("python", "python3", false);
        row("python3.11", "python*", true);
        row("python", "python*", true);
        row("xxabab", "*a*b*", true);
        row("xxabab", "*a*b*c", false);
        row("train", "t?ain", true);
        row("train", "train?", false);
        row("", "", true);
        row("", "*", true);
        row("", "a", false);
        row("", "?", false);
        row("aaaab", "*aab", true);
        row("aXbXc", "a*b*c", true);
        row("abc", "*d", false);
        row("f(float*, int)", "f(float*, int)", true);
        row("why?", "why?", true);
        // The pattern is the second argument.
        row("a*", "ab", false);
        row("ab", "a*", true);
    }
    void matchesPatterns() {
        QFETCH(QString, text);
        QFETCH(QString, pattern);
        QFETCH(bool, matches);
        QCOMPARE(matchesPattern(text.toStdString(), pattern.toStdString()), matches);
    }

    void manyStarsAreFast() {
        std::string pattern, text(20'000, 'a');
        for (int i = 0; i < 200; ++i) pattern += "a*";
        QVERIFY(!matchesPattern(text, pattern + "b"));
    }

    void durationsAreParsed_data() {
        const test::Rows<QString, qint64> add;
        const auto row = [&](const char* text, qint64 ns) { add(text, text, ns); };
        row("2", 2'000'000'000);
        row("1.5 s", 1'500'000'000);
        row("18.9875ms", 18'987'500);
        row("  -3us ", -3'000);
        row("7 \xc2\xb5s", 7'000);
        row("7\xce\xbcs", 7'000);
        row("12ns", 12);
        row("0.6ns", 1);
        row(".5", 500'000'000);
        row("1.", 1'000'000'000);
        row("3min", 180'000'000'000);
        row("2 h", 7'200'000'000'000);
        row("0", 0);
        row("9000000000s", 9'000'000'000'000'000'000);
    }
    void durationsAreParsed() {
        const auto [text, ns] = test::row<QString, qint64>();
        QCOMPARE(qint64(parseDuration(text.toStdString()).value_or(-1)), ns);
    }

    void otherTextIsNoDuration() {
        for (const char* text : {"",    " ",   "s",   "soon", ".",    "-",   "--1",  "+1",          "1x",    "1 m s",
                                 "1e3", "inf", "nan", "-inf", "1..2", "1s2", "0x10", "9100000000s", "1e400", "5 sec"})
            QVERIFY2(!parseDuration(text), text);
        QVERIFY(!nsPerUnit(""));
    }

    void stepRangesAreParsed() {
        QCOMPARE(*parseStepRange("5-20"), (StepRange{5, 20}));
        QCOMPARE(*parseStepRange("7"), (StepRange{7, 7}));
        QCOMPARE(*parseStepRange("0-0"), (StepRange{0, 0}));
        QCOMPARE(parseStepRange("0-9223372036854775807")->last, std::numeric_limits<int64_t>::max());
        for (const char* text :
             {"", "-", "3-2", "-1", "1-", "-1-2", "a", "1-b", "1--2", " 1", "1 ", "9223372036854775808"})
            QVERIFY2(!parseStepRange(text), text);
    }

    void csvRoundTripsFieldByField() {
        const auto lines = parseCsv(formatTable(sample(), TableFormat::Csv));
        QCOMPARE(lines.size(), size_t{3});
        QCOMPARE(lines[0], (std::vector<std::string>{"Time (%)", "Total Time (ns)", "Size (B)", "Count", "Rate (GB/s)",
                                                     "Id", "Name"}));
        QCOMPARE(lines[1],
                 (std::vector<std::string>{"62.5", "2000000000", "1073741824", "12345", "55.5", "98765", "plain"}));
        QCOMPARE(lines[2],
                 (std::vector<std::string>{"37.5", "1500", "512", "1", "", "", "a \"quoted\", name\r\nof two lines"}));
    }

    void jsonRoundTripsWithTypesAndOrder() {
        const std::string text = formatTable(sample(), TableFormat::Json);
        const QJsonArray rows = QJsonDocument::fromJson(QByteArray::fromStdString(text)).array();
        QCOMPARE(rows.size(), 2);
        const QJsonObject first = rows[0].toObject();
        QCOMPARE(first["Total Time (ns)"].toInteger(), qint64{2'000'000'000});
        QCOMPARE(first["Rate (GB/s)"].toDouble(), 55.5);
        const QJsonObject second = rows[1].toObject();
        QVERIFY(second["Rate (GB/s)"].isNull());
        QCOMPARE(second["Name"].toString(), QString("a \"quoted\", name\r\nof two lines"));
        QVERIFY(text.find("Time (%)") < text.find("Total Time (ns)"));
        QVERIFY(text.find("Total Time (ns)") < text.find("\"Name\""));
    }

    void jsonIsValidForAnyBytesInNames() {
        ReportTable table{.columns = {{"Name", Unit::Text}}, .rows = {{std::string("bad \xff\xc3 bytes \x01")}}};
        QJsonParseError error;
        QJsonDocument::fromJson(QByteArray::fromStdString(formatTable(table, TableFormat::Json)), &error);
        QCOMPARE(error.error, QJsonParseError::NoError);
    }

    void csvAndJsonEscapeTerminalAndSpreadsheetControls() {
        ReportTable table;
        table.columns = {{"Name", Unit::Text}};
        const std::vector<std::pair<const char*, const char*>> cases{
            {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
            {"+1+cmd", "'+1+cmd"},
            {"-x", "'-x"},
            {"@sum", "'@sum"},
            {"-12.5e3", "-12.5e3"},
            {"bad \xff byte", "bad \xef\xbf\xbd byte"},
            {"\x1b[2J", " [2J"},
            {"csi \xc2\x9b 2J \x7f", "csi   2J  "},
            {"two\nlines\t", "two\nlines\t"},
            {"operator==(a, b)", "operator==(a, b)"},
        };
        for (const auto& [name, shown] : cases) {
            table.rows = {{std::string(name)}};
            const auto lines = parseCsv(formatTable(table, TableFormat::Csv));
            QCOMPARE(lines[1][0], std::string(shown));
            const std::string json = formatTable(table, TableFormat::Json);
            for (const char* raw : {"\x7f", "\x1b", "\xc2\x9b"}) QCOMPARE(json.find(raw), std::string::npos);
            const QJsonArray rows = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
            QCOMPARE(rows[0].toObject()["Name"].toString(), QString::fromUtf8(name));
        }
    }

    void chunkedOutputEqualsWholeOutput() {
        ReportTable first = sample(), second = sample();
        first.rows.pop_back();
        second.rows.erase(second.rows.begin());
        for (const TableFormat format : {TableFormat::Csv, TableFormat::Json}) {
            const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(format);
            std::string text = formatter->next(first);
            text += formatter->next(second);
            text += formatter->end();
            QCOMPARE(text, formatTable(sample(), format));
        }
    }

    void emptyTablesKeepTheirColumns() {
        ReportTable table = sample();
        table.rows.clear();
        QCOMPARE(parseCsv(formatTable(table, TableFormat::Csv)).size(), size_t{1});
        QCOMPARE(formatTable(table, TableFormat::Json), std::string("[]\n"));
        QVERIFY(formatTable(table, TableFormat::Text).starts_with("Time (%)"));
    }

    void textAlignsNumbersUnderTheirHeaders() {
        ReportTable table{.columns = {{"Total Time", Unit::Nanoseconds}, {"Count", Unit::Count}, {"Name", Unit::Text}},
                          .rows = {{int64_t{12'500'000'000}, int64_t{1234}, std::string("gemm")},
                                   {int64_t{250'000}, int64_t{7}, std::string("relu \xc3\xa4")}}};
        QCOMPARE(formatTable(table, TableFormat::Text), std::string("Total Time  Count  Name\n"
                                                                    "----------  -----  ------\n"
                                                                    "  12.50 s   1,234  gemm\n"
                                                                    "  250.0 µs      7  relu \xc3\xa4\n"));
    }

    void textPrintsTheNameLastAndComplete() {
        const std::string longName(150, 'k');
        ReportTable table{.columns = {{"Name", Unit::Text}, {"Count", Unit::Count}}, .rows = {{longName, int64_t{3}}}};
        const std::string text = formatTable(table, TableFormat::Text);
        QVERIFY(text.starts_with("Count  Name\n") && text.ends_with("    3  " + longName + "\n"));
    }

    void textEscapesTerminalControls() {
        ReportTable table{.columns = {{"Name", Unit::Text}}, .rows = {{std::string("\x1b[2Jgone\nnext\x9b\xc2\x9b")}}};
        const std::string text = formatTable(table, TableFormat::Text);
        QVERIFY(text.find('\x1b') == std::string::npos && text.find("\xc2\x9b") == std::string::npos);
        QCOMPARE(std::count(text.begin(), text.end(), '\n'), 3);
    }

    void valuesHaveFittingUnits() {
        QCOMPARE(test::listed(formatDuration(0), formatDuration(999)), "0 ns | 999 ns");
        QCOMPARE(test::listed(formatDuration(1'234), formatDuration(12'500)), "1.234 µs | 12.50 µs");
        QCOMPARE(test::listed(formatDuration(999'960), formatDuration(3'200'000'000)), "1.000 ms | 3.200 s");
        QCOMPARE(test::listed(formatDuration(-1'500), formatDuration(7'200'000'000'000)), "-1.500 µs | 7,200 s");
        QCOMPARE(formatTimestamp(1'234'567'890), std::string("1.234567890 s"));
        QCOMPARE(formatCell(int64_t{-5}, Unit::Timestamp), std::string("-0.000000005 s"));
        QCOMPARE(test::listed(formatBytes(512), formatBytes(4 << 20)), "512 B | 4.00 MiB");
        QCOMPARE(formatBytes((int64_t{1} << 30) - 1), std::string("1.00 GiB"));
        QCOMPARE(test::listed(formatCount(-1234567), formatCount(123)), "-1,234,567 | 123");
        QCOMPARE(formatCell(55.5, Unit::GigabytesPerSecond), std::string("55.50 GB/s"));
        QCOMPARE(formatCell(5.9e-8, Unit::GigabytesPerSecond), std::string("59.00 B/s"));
        QCOMPARE(formatCell(2.5e-5, Unit::GigabytesPerSecond), std::string("25.00 kB/s"));
        QCOMPARE(formatCell(25.34, Unit::Percent), std::string("25.3 %"));
        QCOMPARE(formatCell(int64_t{12345}, Unit::Identifier), std::string("12345"));
        QCOMPARE(formatCell(Cell{}, Unit::Bytes), std::string());
    }

    void nsightCsvHasItsUnits() {
        QCOMPARE(formatTable(sample(), TableFormat::NsightCsv),
                 std::string("Time (%),Total Time (ns),Size (MB),Count,Rate (MB/s),Id,Name\n"
                             "62.5,2000000000,1073.742,12345,55500.000,98765,plain\n"
                             "37.5,1500,0.001,1,,,\"a \"\"quoted\"\", name\r\nof two lines\"\n"));
    }

    void formatNamesRoundTrip() {
        QCOMPARE(*tableFormatFrom("csv"), TableFormat::Csv);
        const Result<TableFormat> none = tableFormatFrom("xml");
        QVERIFY(!none.has_value());
        QVERIFY(QString::fromStdString(none.error().sentence).contains("xml"));
    }

    void listsEveryTableAndColumn() {
        const std::string text = contentOf(list);
        const size_t begin = text.find(endOfIntroduction);
        QVERIFY(begin != std::string::npos);
        const size_t first = begin + endOfIntroduction.size();
        const std::string stands = text.substr(first), expected = listOfTables();
        if (stands == expected) return;
        if (qEnvironmentVariableIntValue("LANESCOPE_UPDATE_GOLDEN") == 0)
            QFAIL(
                "The page does not say what the program does; run this test with "
                "LANESCOPE_UPDATE_GOLDEN=1 and read what it wrote.");
        std::ofstream(list) << text.substr(0, first) << expected;
    }

    void namesOnlyExistingTables() {
        std::vector<std::string> known;
        for (const tables::Table* table : everyTable()) known.emplace_back(table->tableName());
        // A row of a table, a table of earlier versions, and names that the page calls absent.
        known.insert(known.end(), {tables::producerName, tables::oldGraphNodes.tableName(), "CUDA_GRAPH_EVENTS",
                                   "TARGET_INFO_NVTX_CUDA_DEVICE"});
        const std::string text = contentOf(prose) + contentOf(list);
        // "*" or "..." may shorten a name.
        static const std::regex name(
            "((?:CUPTI|CUDA|NVTX|GPU|TARGET|META|ANALYSIS|DIAGNOSTIC|LANESCOPE|ENUM)_[A-Z_]*)(\\*|\\.{3})?");
        int names = 0;
        for (std::sregex_iterator match(text.begin(), text.end(), name), last; match != last; ++match) {
            const std::string found = (*match)[1];
            const bool isCut = (*match)[2].matched;
            const bool isKnown = std::ranges::any_of(
                known, [&](const std::string& table) { return isCut ? table.starts_with(found) : table == found; });
            QVERIFY2(isKnown, (found + " is no table").c_str());
            ++names;
        }
        QVERIFY(names > static_cast<int>(known.size()));
    }

    void everyColumnHasAMeaning() {
        std::set<std::string_view> names;
        for (const tables::Table* table : everyTable()) {
            QVERIFY2(names.insert(table->tableName()).second, table->tableName());
            QVERIFY2(!std::string_view(table->rowMeaning()).empty(), table->tableName());
            std::set<std::string_view> columns;
            for (const tables::ColumnInfo& column : table->columns()) {
                QVERIFY2(columns.insert(column.name).second, column.name);
                QVERIFY2(!std::string_view(column.meaning).empty(), column.name);
                const std::string_view meaning(column.meaning), name(column.name);
                if (name.ends_with("Ns")) QVERIFY2(meaning.find("ns") != std::string_view::npos, column.name);
            }
        }
    }

    void copyEqualsTheOriginal() {
        // A result converts to bool, from which a result of a bool can be constructed.
        Result<bool> no = false, failed = fail("It failed.");
        const Result<bool> copyOfNo = no, copyOfFailed = failed;
        QCOMPARE(*copyOfNo, false);
        QVERIFY(!copyOfFailed);
        QCOMPARE(copyOfFailed.error().sentence, std::string("It failed."));
        failed = no;
        QCOMPARE(*failed, false);
        const Result<bool> moved = std::move(no);
        QCOMPARE(*moved, false);
    }

    void constructibleFromArgumentsOfItsValue() {
        const Result<std::string> text = "text";
        QCOMPARE(*text, std::string("text"));
        Result<std::unique_ptr<int>> owned = std::make_unique<int>(7);
        const Result<std::shared_ptr<const int>> shared = std::move(owned);
        QCOMPARE(**shared, 7);
        const Result<void> nothing;
        QVERIFY(nothing);
    }

    void errorIsPropagated() {
        const Result<int> number = fail("There are {} of {}.", 2, "them");
        const Result<void> none = fail(number.error());
        QCOMPARE(none.error().sentence, std::string("There are 2 of them."));
    }

    void kernelsOfCollectivesAreRecognized_data() {
        const test::Rows<QString, QString> add;
        const auto row = [&](const char* name, const char* operation) { add(name, name, operation); };
        row("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce");
        row("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", "SendRecv");
        row("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "AllReduce");
        row("ncclReduceScatterRingLLKernel_sum_f16", "ReduceScatter");
        row("ncclSymkDevKernel_AllGather_STMC(ncclSymkDevWorkArgs4K)", "AllGather");
        row("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "collective");
        row("mscclKernel_Sum_half_LL_false(ncclDevComm*)", "MSCCL mscclKernel_Sum_half_LL_false");
        row("void deep_ep::internode::dispatch<false, 8, false, 8>(int4*, float*)", "DeepEP dispatch");
        row("void deep_ep::internode_ll::combine<true, 7168, 9>(void*, void*)", "DeepEP combine");
        row("void deep_ep::layout::get_dispatch_layout<256, 32, 1>(long const*, int*)", "");
        row("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "vLLM AllReduce");
        row("void sglang::cross_device_reduce_2stage<__half, 4>(sglang::RankData*)", "SGLang AllReduce");
        row("void aiter::cross_device_reduce_1stage<__hip_bfloat16, 8>(aiter::RankData*)", "aiter AllReduce");
        row("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
            "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, true, true>("
            "flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)",
            "FlashInfer AllReduce");
        row("void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, false>(AllReduceParams)",
            "TensorRT-LLM AllReduce");
        row("void c10d::symmetric_memory::(anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>("
            "c10::BFloat16**)",
            "PyTorch AllReduce");
        row("void c10d::symmetric_memory::(anonymous namespace)::barrier_kernel(unsigned int**, unsigned long)",
            "PyTorch barrier");
        row("void c10d::checkForNaN<float>(float*, unsigned long)", "");
        row("userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int, int)",
            "Transformer Engine userbuffers_fp16_sum_inplace_gpu_rr_rs_oop");
        row("kuserbuffers_pushsend(int*, int*, int4*, int4*, int)", "Transformer Engine kuserbuffers_pushsend");
        row("nvshmemi_transfer_rma_put_nbi", "NVSHMEM nvshmemi_transfer_rma_put_nbi");
        row("mscclpp::allreduce7", "MSCCL++ AllReduce");
        row("EpDispatchIntraNodeKernel_bf16", "MORI EpDispatchIntraNodeKernel_bf16");
        row("_ZN4vllm26cross_device_reduce_1stageIfLi2EEEvPNS_8RankDataENS_11RankSignalsEPNS_6SignalEPT_ii",
            "vLLM AllReduce");
        // Words in arguments, and kernels that only compute.
        row("triton_poi_fused_all_reduce_wait_tensor_3", "");
        row("void gemm_all_reduce<float>(float*)", "");
        row("void at::native::vectorized_elementwise_kernel<4, AllReduceFunctor>(int)", "");
        row("blockAllReduceSum(float*)", "");
        row("void loss::sumReduceKernel<float>(float const*, float*, int)", "");
        row("sum_reduce", "");
        row("gemm", "");
        row("", "");
    }
    void kernelsOfCollectivesAreRecognized() {
        const auto [name, operation] = test::row<QString, QString>();
        QCOMPARE(QString::fromStdString(collectiveOperation(name.toStdString())), operation);
    }

    void everyCollectivePatternHasItsSource() {
        for (const CollectivePattern& each : collectivePatterns()) {
            QVERIFY((!each.begin.empty() || !each.part.empty()) && !each.source.empty());
        }
    }

    void nearestNamesComeFirst() {
        const std::vector<std::string_view> names{"nvtx_sum", "cuda_gpu_kern_sum", "nccl_sum"};
        QCOMPARE(nearestNames("cuda_gpu_kernsum", names), std::string("cuda_gpu_kern_sum, nvtx_sum, nccl_sum"));
        QCOMPARE(nearestNames("", {}), std::string());
    }

    void programIsTheCommandWithoutItsArguments_data() {
        const test::Rows<QString, QString> add;
        const auto row = [&](const char* command, const char* program) { add(command, command, program); };
        row("", "");
        row("./train", "train");
        row("/usr/bin/python3.12 -u src/train.py --seed 3 --out eval.py", "python train.py");
        row("python3 -m torch.distributed.run --nproc-per-node=4 fsdp.py", "python -m torch.distributed.run fsdp.py");
        row("torchrun --standalone job/fsdp.py", "torchrun fsdp.py");
        row("python -m trainer --lr 1", "python -m trainer");
        row("python -m", "python -m ");
    }
    void programIsTheCommandWithoutItsArguments() {
        const auto [command, program] = test::row<QString, QString>();
        QCOMPARE(QString::fromStdString(programOf(command.toStdString())), program);
    }

    void errorMayBeAStructuredType() {
        const Result<bool, int> coded = tl::unexpected(3);
        QCOMPARE(coded.error(), 3);
    }
};

LANESCOPE_TEST(tst_Text, QCoreApplication)
#include "tst_Text.moc"
