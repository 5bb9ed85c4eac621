// SPDX-License-Identifier: Apache-2.0
#include "model/text/formatValue.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/Terminal.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Widths {
    size_t longest = 0;
    QByteArray text;
};

Widths widthsOf(const QByteArray& text) {
    Widths widths{0, text};
    for (const QByteArray& line : text.split('\n'))
        widths.longest = std::max(widths.longest, displayWidth(line.trimmed().toStdString()));
    return widths;
}

}  // namespace

/// Tests of the text of `explain` and `compare`: as wide as its output device, without empty lines in tables.
class tst_TextTables : public QObject {
    Q_OBJECT

    const SampleCopies sample_;
    const QStringList compare_{"compare", sample_("nvlink"), sample_("no-p2p")};
    const QStringList explain_{"explain", sample_("no-p2p")};

    /// Runs it with this variable COLUMNS, or without it, on `terminal` if given.
    static Widths run(const QStringList& arguments, const char* columns, const Terminal* terminal = nullptr) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.remove("COLUMNS");
        if (columns) environment.insert("COLUMNS", columns);
        process.setProcessEnvironment(environment);
        const QString program = LANESCOPE_BINARY_DIR "/bin/lanescope";
        QByteArray text;
        if (terminal) {
            text = terminal->run(process, program, arguments);
        } else {
            process.start(program, arguments);
            if (!process.waitForFinished(60'000)) qFatal("lanescope does not end");
            text = process.readAllStandardOutput();
        }
        if (process.exitCode() != 0) qFatal("lanescope fails");
        return widthsOf(text);
    }

  private slots:
    void withoutTerminalLinesHaveAHundredColumns() {
        for (const QStringList& command : {compare_, explain_}) {
            const Widths defaultWidths = run(command, nullptr);
            QVERIFY2(defaultWidths.longest <= 100 && defaultWidths.longest > 90, defaultWidths.text);
            for (const char* senseless : {"", "0", "-80", "wide", "80x", "99999999999999999999"})
                QCOMPARE(run(command, senseless).text, defaultWidths.text);
        }
    }

    void columnsVariableSetsTheWidth() {
        for (const QStringList& command : {compare_, explain_}) {
            const Widths narrow = run(command, "80"), wide = run(command, "140");
            QVERIFY2(narrow.longest <= 80 && narrow.longest > 70, narrow.text);
            QVERIFY2(wide.longest <= 140 && wide.longest > 120, wide.text);
            QCOMPARE(run(command, "100").text, run(command, nullptr).text);
        }
    }

    void numbersAreNeverTruncated() {
        static const QRegularExpression number(
            R"((?<![\w.,])[+-]?\d[\d,]*(\.\d+( (ns|us|ms|s|%|GB/s))?| (ns|us|ms|s|%|GB/s))(?![\w.]))");
        for (const QStringList& command : {compare_, explain_}) {
            const auto numbersIn = [](const QByteArray& text) {
                std::map<QString, int> numbers;
                auto match = number.globalMatch(QString::fromUtf8(text.simplified()));
                while (match.hasNext()) ++numbers[match.next().captured()];
                return numbers;
            };
            const std::map<QString, int> wide = numbersIn(run(command, "400").text);
            QVERIFY(wide.size() > 10);
            for (const char* columns : {"20", "40", "60", "79"}) {
                const Widths narrow = run(command, columns);
                QVERIFY2(narrow.longest <= 79, narrow.text);
                const std::map<QString, int> said = numbersIn(narrow.text);
                for (const auto& [each, times] : said) {
                    const auto whole = wide.find(each);
                    QVERIFY2(whole != wide.end() && times <= whole->second,
                             qPrintable(each + " at " + columns + ":\n" + narrow.text));
                }
                // If the workers do not fit, `explain` shows fewer, and reports it.
                const bool showsAll = !narrow.text.contains(" of 2 workers; -f json has all of them.");
                QVERIFY2(!showsAll || said == wide, narrow.text);
                QVERIFY(showsAll || command == explain_);
            }
        }
    }

    void terminalWidthTakesPrecedence() {
        const Terminal wide(132), narrow(84), unknown(0);
        for (const QStringList& command : {compare_, explain_}) {
            QCOMPARE(run(command, "80", &wide).text, run(command, "132").text);
            QCOMPARE(run(command, nullptr, &narrow).text, run(command, "84").text);
            QCOMPARE(run(command, "120", &unknown).text, run(command, "120").text);
        }
        // File output ignores the width of this terminal.
        QTemporaryDir folder;
        const QString file = folder.filePath("run.txt");
        run(explain_ + QStringList{"-o", file}, nullptr, &wide);
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QCOMPARE(written.readAll(), run(explain_, nullptr).text);
    }

    void tablesHaveNoEmptyLines() {
        for (const QStringList& command : {compare_, explain_}) {
            const QList<QByteArray> lines = run(command, nullptr).text.split('\n');
            int rules = 0;
            for (qsizetype at = 2; at < lines.size(); ++at) {
                if (!lines[at].startsWith("--") || lines[at - 1].isEmpty()) {
                    QVERIFY2(!lines[at].startsWith("--"), lines[at - 2]);
                    continue;
                }
                ++rules;
                const QList<QByteArray> above = lines[at - 1].simplified().split(' ');
                const bool isUnits = above.contains("ms") || above.contains("%");
                QVERIFY2(!isUnits || above.size() >= 2, lines[at - 1]);
            }
            QVERIFY(rules >= 2);
        }
    }

    void unitsKeepTheirPlace() {
        const QByteArray explained = run(explain_, nullptr).text;
        QVERIFY2(explained.contains("\nMean step (ms)  "), explained);
        const QByteArray compared = run(compare_, nullptr).text;
        QVERIFY2(compared.contains(" Change (%)  "), compared);  // for every worker
        const qsizetype parts = compared.indexOf("Mean step ");
        QCOMPARE(compared.mid(parts).split('\n')[1].simplified(), QByteArray("ms ms ms %"));
    }
};

LANESCOPE_TEST(tst_TextTables, QCoreApplication)
#include "tst_TextTables.moc"
