// SPDX-License-Identifier: Apache-2.0
#include "model/text/formatTable.h"
#include "tests/support/runTest.h"

using namespace lanescope;

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
    ReportTable table;
    table.name = "sample";
    table.columns = {{"Time", Unit::Percent}, {"Total Time", Unit::Nanoseconds},  {"Size", Unit::Bytes},
                     {"Count", Unit::Count},  {"Rate", Unit::GigabytesPerSecond}, {"Id", Unit::Identifier},
                     {"Name", Unit::Text}};
    table.rows = {
        {62.5, int64_t{2'000'000'000}, int64_t{1} << 30, int64_t{12345}, 55.5, int64_t{98765}, std::string("plain")},
        {37.5, int64_t{1'500}, int64_t{512}, int64_t{1}, Cell{}, Cell{},
         std::string("a \"quoted\", name\r\nof two lines")},
    };
    return table;
}

}  // namespace

class TestFormatTable : public QObject {
    Q_OBJECT

  private slots:
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
        ReportTable table;
        table.columns = {{"Name", Unit::Text}};
        table.rows = {{std::string("bad \xff\xc3 bytes \x01")}};
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
        ReportTable table;
        table.columns = {{"Total Time", Unit::Nanoseconds}, {"Count", Unit::Count}, {"Name", Unit::Text}};
        table.rows = {{int64_t{12'500'000'000}, int64_t{1234}, std::string("gemm")},
                      {int64_t{250'000}, int64_t{7}, std::string("relu \xc3\xa4")}};
        QCOMPARE(formatTable(table, TableFormat::Text), std::string("Total Time  Count  Name\n"
                                                                    "----------  -----  ------\n"
                                                                    "  12.50 s   1,234  gemm\n"
                                                                    "  250.0 us      7  relu \xc3\xa4\n"));
    }

    void textPrintsTheNameLastAndComplete() {
        const std::string longName(150, 'k');
        ReportTable table;
        table.columns = {{"Name", Unit::Text}, {"Count", Unit::Count}};
        table.rows = {{longName, int64_t{3}}};
        const std::string text = formatTable(table, TableFormat::Text);
        QVERIFY(text.starts_with("Count  Name\n"));
        QVERIFY(text.ends_with("    3  " + longName + "\n"));
    }

    void textEscapesTerminalControls() {
        ReportTable table;
        table.columns = {{"Name", Unit::Text}};
        table.rows = {{std::string("\x1b[2Jgone\nnext\x9b\xc2\x9b")}};
        const std::string text = formatTable(table, TableFormat::Text);
        QVERIFY(text.find('\x1b') == std::string::npos);
        QVERIFY(text.find("\xc2\x9b") == std::string::npos);
        QCOMPARE(std::count(text.begin(), text.end(), '\n'), 3);
    }

    void valuesHaveFittingUnits() {
        QCOMPARE(formatDuration(0), std::string("0 ns"));
        QCOMPARE(formatDuration(999), std::string("999 ns"));
        QCOMPARE(formatDuration(1'234), std::string("1.234 us"));
        QCOMPARE(formatDuration(12'500), std::string("12.50 us"));
        QCOMPARE(formatDuration(999'960), std::string("1.000 ms"));
        QCOMPARE(formatDuration(3'200'000'000), std::string("3.200 s"));
        QCOMPARE(formatDuration(-1'500), std::string("-1.500 us"));
        QCOMPARE(formatDuration(7'200'000'000'000), std::string("7,200 s"));
        QCOMPARE(formatTimestamp(1'234'567'890), std::string("1.234567890 s"));
        QCOMPARE(formatCell(int64_t{-5}, Unit::Timestamp), std::string("-0.000000005 s"));
        QCOMPARE(formatBytes(512), std::string("512 B"));
        QCOMPARE(formatBytes(4 << 20), std::string("4.00 MiB"));
        QCOMPARE(formatBytes((int64_t{1} << 30) - 1), std::string("1.00 GiB"));
        QCOMPARE(formatCount(-1234567), std::string("-1,234,567"));
        QCOMPARE(formatCount(123), std::string("123"));
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
};

LANESCOPE_TEST(TestFormatTable, NoApplication)
#include "tst_FormatTable.moc"
