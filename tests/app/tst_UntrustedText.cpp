// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "model/format/text.h"
#include "tests/support/Terminal.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;

using lanescope::test::Ended;

namespace {

/// Text that a terminal acts upon or cannot show: it changes colours, rings, breaks the line,
/// starts a sequence with one character, reverses the direction of writing, and is invalid UTF-8.
constexpr std::string_view hostile =
    "\x1b[31m\x07\r\n\t\x7f\xc2\x9b"
    "1m\xe2\x80\xae\xff\xfe";

/// The first part of a text that may not reach a terminal; empty if none. Line breaks are allowed.
QByteArray harmIn(QByteArrayView text, QByteArrayView allowed = "\n") {
    std::string_view rest(text.data(), static_cast<size_t>(text.size()));
    while (!rest.empty()) {
        const size_t length = utf8SequenceLength(rest);
        if (length == 0) return "no UTF-8: " + QByteArray(1, rest[0]).toHex();
        const std::string_view letter = rest.substr(0, length);
        const auto first = static_cast<unsigned char>(letter[0]);
        const bool isControl = length == 1 && (first < 0x20 || first == 0x7f) && !allowed.contains(letter[0]);
        const bool isC1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(letter[1]) < 0xa0;
        if (isControl || isC1 || letter == "\u202e") return QByteArray(letter.data(), qsizetype(length)).toHex();
        rest.remove_prefix(length);
    }
    return {};
}

}  // namespace

/// Tests that untrusted names of a trace or a folder are escaped for the terminal, wherever they are printed.
class tst_UntrustedText : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

    void write(const std::string& name, const std::string& content) const {
        const std::string path = (folder_.path() / name).string();
        std::FILE* const stream = std::fopen(path.c_str(), "wb");
        QVERIFY(stream != nullptr);
        QCOMPARE(std::fwrite(content.data(), 1, content.size(), stream), content.size());
        QCOMPARE(std::fclose(stream), 0);
    }

    /// A training run all of whose names are hostile. In JSON, C0 control characters are escaped.
    static std::string hostileTrace(int kernelUs) {
        const std::string name = R"(\u001b[31m\u0007\r\n\t\u007f)"
                                 "\xc2\x9b"
                                 "1m\xe2\x80\xae\xff\xfe;";
        std::vector<std::string> events;
        for (int step = 0; step < 12; ++step) {
            const auto at = [step](int us) { return std::to_string(step * 1000 + us) + ".250"; };
            const std::string correlation = "\"correlation\": " + std::to_string(step + 1);
            events.push_back(
                torchTrace::slice("user_annotation", "step" + name + std::to_string(step), "1", "1", at(0), "900.000"));
            events.push_back(
                torchTrace::slice("cuda_runtime", "cudaLaunchKernel", "1", "1", at(10), "5.000", correlation));
            events.push_back(torchTrace::slice("kernel", "gemm" + name, "0", "7", at(20),
                                               std::to_string(kernelUs) + ".000",
                                               R"("device": 0, "context": 1, "stream": 7, )" + correlation));
        }
        return torchTrace::traceOf(events, R"("deviceProperties": [{"id": 0, "name": "GPU)" + name + R"("}],)");
    }

    static QString asLine(const QString& line) {
        return "bad=$'\\e[31m\\a\\r\\n\\t\\x7f\\xc2\\x9b1m\\xe2\\x80\\xae\\xff\\xfe'; "
               "PATH=" LANESCOPE_BINARY_DIR "/bin:$PATH; " +
               line;
    }
    /// Runs a line of bash in the folder, where `$bad` is the hostile text and `lanescope` the built program.
    Ended run(const QString& line) const {
        QProcess process;
        process.setWorkingDirectory(QString::fromStdString(folder_.path().string()));
        process.start("bash", {"-c", asLine(line)});
        return test::endOf(process);
    }

  private slots:
    void initTestCase() {
        write("a.json", hostileTrace(500));
        write("b.json", hostileTrace(800));
        write("x" + std::string(hostile) + ".json", hostileTrace(500));
        write("y" + std::string(hostile) + ".txt", "nothing that is known");
    }

    void textIsEscapedForTheTerminal_data() {
        QTest::addColumn<QString>("line");
        for (const char* line : {"lanescope info a.json",
                                 "lanescope info --topology a.json",
                                 "lanescope stats a.json",
                                 "lanescope explain a.json",
                                 "lanescope explain --range nosuch a.json",
                                 "lanescope explain a.json --fail-if 'any > 0%'",
                                 "lanescope compare a.json b.json",
                                 "lanescope compare a.json b.json -f json --fail-if 'step.p50 > +3%'",
                                 "lanescope info \"x$bad.json\"",
                                 "lanescope stats \"x$bad.json\"",
                                 "lanescope compare a.json \"x$bad.json\"",
                                 "lanescope check \"x$bad.json\"",
                                 "lanescope index \"x$bad.json\"",
                                 "lanescope summarize \"x$bad.json\"",
                                 "lanescope info \"y$bad.txt\"",
                                 "lanescope info \"nosuch$bad\"",
                                 "lanescope sql \"nosuch$bad\" 'SELECT 1'",
                                 "lanescope sql a.sqlite \"SELECT '$bad' AS \\\"a$bad\\\"\"",
                                 "lanescope import -o a.sqlite a.json && lanescope sql a.sqlite \"SELECT n$bad\"",
                                 "lanescope stats a.json -r \"$bad\"",
                                 "lanescope stats a.json -o \"nosuch$bad/x\"",
                                 "lanescope \"do$bad\"",
                                 "lanescope info a.json \"--$bad\"",
                                 "lanescope export -f kineto a.json",
                                 "lanescope info -f json a.json",
                                 "lanescope info --topology -f json a.json",
                                 "lanescope explain -f json a.json",
                                 "lanescope stats -f json a.json",
                                 "lanescope export -f folded --over ranges a.json",
                                 "lanescope export -f flame-ranges \"x$bad.json\"",
                                 "lanescope export -f folded --range \"$bad\" a.json",
                                 "lanescope merge \"x$bad.json\" \"x$bad.json\" -o \"m$bad.sqlite\"",
                                 "lanescope fleet \"nosuch$bad\" -o f.sqlite"})
            QTest::newRow(line) << line;
    }
    void textIsEscapedForTheTerminal() {
        QFETCH(QString, line);
        const Ended outcome = run(line);
        QVERIFY2(!outcome.out.isEmpty() || !outcome.err.isEmpty(), "nothing is reported");
        QVERIFY2(harmIn(outcome.out).isEmpty(), outcome.out.constData());
        QVERIFY2(harmIn(outcome.err).isEmpty(), outcome.err.constData());
        // A name cannot end a sentence and begin its own.
        for (const QByteArray& sentence : outcome.err.trimmed().split('\n'))
            QVERIFY2(sentence.isEmpty() || sentence.startsWith("lanescope: "), outcome.err.constData());
    }

    /// A pipe gets the exact path; a terminal gets its printable form.
    void pathIsPrintedForItsReader() {
        const QString line = "lanescope import \"x$bad.json\"";
        const Ended piped = run(line + "; rm \"x$bad.sqlite\"");
        QCOMPARE(piped.status, 0);
        QCOMPARE(piped.out, QByteArray(("x" + std::string(hostile) + ".sqlite\n").c_str()));
        QProcess process;
        process.setWorkingDirectory(QString::fromStdString(folder_.path().string()));
        const QByteArray shown = Terminal(100).run(process, "bash", {"-c", asLine(line)});
        QVERIFY(shown.startsWith("x") && shown.endsWith(".sqlite\n"));
        QVERIFY2(harmIn(shown).isEmpty(), shown.constData());
    }

    /// CSV has line breaks within quotes.
    void csvIsEscaped() {
        for (const char* line : {"lanescope stats a.json -f csv", "lanescope stats a.json -f nsys-csv",
                                 "lanescope compare a.json b.json -f csv"}) {
            const Ended outcome = run(line);
            QCOMPARE(outcome.status, 0);
            QVERIFY2(harmIn(outcome.out, "\r\n\t").isEmpty(), outcome.out.constData());
        }
    }

    /// A line for each path with an unchanged number of frames: two here.
    void foldedTextKeepsOneLinePerPath() {
        const Ended outcome = run("lanescope export -f folded --over ranges a.json");
        QCOMPARE(outcome.status, 0);
        const QList<QByteArray> lines = outcome.out.trimmed().split('\n');
        static const QRegularExpression path(R"(^step[^;]+;gemm[^;]+ \d+$)");
        for (const QByteArray& line : lines) QVERIFY2(path.match(QString::fromUtf8(line)).hasMatch(), line.constData());
        QCOMPARE(run("lanescope export -f folded --over ranges a.json -o a.folded && cat a.folded").out, outcome.out);
    }
};

LANESCOPE_TEST(tst_UntrustedText, NoApplication)
#include "tst_UntrustedText.moc"
