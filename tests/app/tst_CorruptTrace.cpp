// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "model/explain/Explanation.h"
#include "model/index/openTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"
#include "tests/support/writeFinishedTrace.h"

using namespace lanescope;

using lanescope::test::Ended;

/// Tests of output for corrupt traces and indexes: corrupt in their events, in compressed data, or
/// after their summary was stored.
class tst_CorruptTrace : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

    std::filesystem::path file(const char* name) const { return folder_ / name; }
    QString path(const char* name) const { return QString::fromStdString(file(name).string()); }

    /// Writes a finished recording: with its summary and its checksums.
    void writeClosed(const std::filesystem::path& to, double scale) const {
        QVERIFY(test::writeFinishedTrace(*simulatedTraining({.steps = 8, .layers = 6, .kernelScale = scale}), to));
        QVERIFY(std::filesystem::file_size(to) < OpenOptions().minBytes);  // no index
    }
    /// Changes a byte of the events and none of the summary.
    void damage(const std::filesystem::path& which) const {
        QFile bytes(QString::fromStdString(which.string()));
        QVERIFY(bytes.open(QIODevice::ReadWrite));
        const QByteArray whole = bytes.readAll();
        constexpr int pageBytes = 4096;
        for (qint64 at = pageBytes + pageBytes / 2; at < whole.size(); at += pageBytes) {
            const auto put = [&](char byte) { QVERIFY(bytes.seek(at) && bytes.write(&byte, 1) == 1 && bytes.flush()); };
            put(static_cast<char>(whole[at] ^ 4));
            const Result<TracePtr> trace = loadTrace(which);
            const bool isReported = trace && std::ranges::any_of((*trace)->health, [](const HealthNote& note) {
                                        return note.code == HealthCode::PagesDamaged;
                                    });
            if (isReported && analysis::readRunSummary(which)) return;
            put(whole[at]);
        }
        QFAIL("no page of events was found");
    }

    Ended run(const QStringList& arguments) const { return test::runLanescope(arguments); }
    QByteArray said(const QStringList& arguments) const { return run(arguments).out; }
    void write(const char* name, std::string_view content) const {
        QFile written(path(name));
        QVERIFY(written.open(QIODevice::WriteOnly | QIODevice::Truncate));
        QCOMPARE(written.write(content.data(), qint64(content.size())), qint64(content.size()));
    }
    static std::string packed(std::string_view content) {
        z_stream stream{};
        // 16 more selects the gzip format.
        if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) qFatal("zlib does not pack");
        std::string result(deflateBound(&stream, content.size()), '\0');
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
        stream.avail_in = static_cast<uInt>(content.size());
        stream.next_out = reinterpret_cast<Bytef*>(result.data());
        stream.avail_out = static_cast<uInt>(result.size());
        if (deflate(&stream, Z_FINISH) != Z_STREAM_END) qFatal("zlib does not pack");
        result.resize(stream.total_out);
        deflateEnd(&stream);
        return result;
    }
    /// Corrupts the index of `trace` in one place after the other, until a few made `command` fail;
    /// `made` exists only if it did not.
    void expectNothingWritten(const QString& trace, const QStringList& command, const QString& made) const {
        QCOMPARE(run({"index", trace}).status, 0);
        QFile stored(trace + ".lanescope-index");
        QVERIFY(stored.open(QIODevice::ReadOnly));
        const QByteArray whole = stored.readAll();
        stored.close();
        int found = 0;
        for (int flip = 0; flip < 40 && found < 3; ++flip) {
            QByteArray damaged = whole;
            damaged[whole.size() / 8 + flip * (whole.size() / 60)] ^= 0x10;
            QVERIFY(stored.open(QIODevice::WriteOnly | QIODevice::Truncate) && stored.write(damaged) == damaged.size());
            stored.close();
            const int exitCode = run(command).status;
            found += exitCode == 0 ? 0 : 1;
            QCOMPARE(QFile::exists(made), exitCode == 0);
            QFile::remove(made);
        }
        QVERIFY(found > 0);
    }
    QJsonObject document(const QStringList& arguments) const {
        return QJsonDocument::fromJson(said(arguments + QStringList{"-f", "json"})).object();
    }
    /// The health output of `info` on the corruption.
    QString warningOf(const QString& trace) const {
        for (const QJsonValue& note : document({"info", trace})["health"].toArray())
            if (note["code"].toString() == "pages-damaged") return note["sentence"].toString();
        return {};
    }

  private slots:
    void initTestCase() {
        writeClosed(file("whole.sqlite"), 1);
        writeClosed(file("broken.sqlite"), 1.2);
        damage(file("broken.sqlite"));
        QVERIFY(warningOf(path("broken.sqlite")).startsWith("The file is corrupt"));
        QVERIFY(warningOf(path("whole.sqlite")).isEmpty());
    }

    void explainReportsCorruption() {
        const QString sentence = warningOf(path("broken.sqlite"));
        QVERIFY(document({"explain", path("broken.sqlite")})["doubts"].toArray().contains(QJsonValue(sentence)));
        QVERIFY(!said({"explain", path("whole.sqlite")}).contains("corrupt"));
        // The summary of the corrupt events is not stored either.
        const auto stored = analysis::readRunSummary(file("broken.sqlite"));
        const QJsonObject worker = document({"explain", path("broken.sqlite")})["workers"][0].toObject();
        QCOMPARE(worker["steps"].toInteger(), qint64(stored->workers[0].steps.size()));
    }

    void compareReportsCorruption() {
        const QString sentence = warningOf(path("broken.sqlite"));
        const QByteArray text = said({"compare", path("whole.sqlite"), path("broken.sqlite"), "-f", "json"});
        QVERIFY2(text.contains(("The candidate: " + sentence).toUtf8()), text.constData());
        QVERIFY(said({"compare", path("broken.sqlite"), path("whole.sqlite"), "-f", "json"})
                    .contains(("The baseline: " + sentence).toUtf8()));
    }

    void conditionsAreNotComparable() {
        const QString broken = path("broken.sqlite"), whole = path("whole.sqlite");
        for (const char* condition : {"step.p50 > +3%", "step.p50 > +90%"}) {
            for (const auto& [before, after] : {std::pair(whole, broken), {broken, whole}}) {
                const Ended gate = run({"compare", before, after, "--fail-if", condition});
                QCOMPARE(gate.status, 3);
                QVERIFY2(
                    gate.out.contains("not comparable: the " + QByteArray(before == broken ? "baseline" : "candidate") +
                                      " is corrupt (\"The file is corrupt: "),
                    gate.out.constData());
            }
        }
        QCOMPARE(run({"compare", whole, broken}).status, 0);
        const Ended spread = run({"compare", whole, whole, "--spread", whole, broken, "--fail-if", "slower"});
        QVERIFY(spread.status != 0 && !spread.err.isEmpty());
        for (const char* condition : {"any > 0.1%", "any > 90%"}) {
            const Ended gate = run({"explain", broken, "--fail-if", condition});
            QCOMPARE(gate.status, 3);
            QVERIFY2(gate.err.contains("No condition can be evaluated."), gate.err.constData());
            QVERIFY(gate.out.contains("Caution: The file is corrupt: "));
        }
        QCOMPARE(run({"explain", broken}).status, 0);
        QCOMPARE(run({"explain", whole, "--fail-if", "any > 90%"}).status, 0);
    }

    /// The same for a file of another tool with a corrupt packet or message.
    void corruptPacketsMakeConditionsNotComparable() {
        const TracePtr trace = simulatedTraining({.steps = 8, .layers = 6});
        const std::string packets = test::perfettoOf(*trace);
        write("whole.pftrace", packets);
        QCOMPARE(run({"explain", path("whole.pftrace"), "--fail-if", "any > 99%"}).status, 0);
        int damaged = 0;
        for (size_t at = packets.size() / 4; at < packets.size(); at += packets.size() / 60) {
            std::string flipped = packets;
            flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
            write("flipped.pftrace", flipped);
            const QByteArray checked = said({"check", path("flipped.pftrace")});
            if (!checked.contains("BAD  The file is corrupt")) continue;
            ++damaged;
            const Ended gate = run({"explain", path("flipped.pftrace"), "--fail-if", "any > 99%"});
            QCOMPARE(gate.status, 3);
            QVERIFY2(gate.err.contains("No condition can be evaluated"), gate.err.constData());
        }
        QVERIFY(damaged > 0);
    }

    /// A file opened by its index is not read page by page.
    void indexedTraceReadsNoPages() {
        QVERIFY(!hasIndex(file("whole.sqlite")));
        const std::filesystem::path large = file("large.sqlite");
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), large));
        QVERIFY(!hasIndex(large));
        QVERIFY(openTrace(large));
        QVERIFY(hasIndex(large));
    }

    void unpackErrorsNameCauseAndAction_data() {
        const test::Rows<std::string, QByteArray, QByteArray> row;
        const std::string whole = packed(torchTrace::traceOf(torchTrace::smallRun()));
        row("twice", packed(whole), "is packed by gzip twice", "\"gunzip -k\"");
        row("nothing", packed(""), "gzip compressed no data", "Compress the trace again");
        row("no bytes", "", "is empty", "nothing was recorded into it");
        row("head", std::string(1, '\x1e') + whole.substr(1), "does not start as a gzip file", "Copy it again");
        std::string flipped = whole;
        flipped[12] = static_cast<char>(flipped[12] ^ 0x7f);
        row("flipped", flipped, "is corrupt", "Copy it again");
        row("truncated", whole.substr(0, 12), "is truncated", "Copy it again");
    }
    void unpackErrorsNameCauseAndAction() {
        const auto [content, cause, advice] = test::row<std::string, QByteArray, QByteArray>();
        write("run.json.gz", content);
        for (const QStringList& arguments :
             {QStringList{"info", path("run.json.gz")}, {"sql", path("run.json.gz"), "SELECT 1"}}) {
            const Ended outcome = run(arguments);
            QCOMPARE(outcome.status, 1);
            QVERIFY(outcome.out.isEmpty());
            QVERIFY2(outcome.err.contains(cause), outcome.err.constData());
            QVERIFY2(outcome.err.contains(advice), outcome.err.constData());
        }
    }

    void corruptCompressedFileShowsItsValidPart() {
        const std::string whole = packed(torchTrace::traceOf(torchTrace::manyOperators(2'000)));
        write("half.json.gz", whole.substr(0, whole.size() / 2));
        const Ended cut = run({"stats", path("half.json.gz"), "-r", "nvtx_sum"});
        QVERIFY(cut.out.contains("op1"));
        QVERIFY2(cut.err.contains("is truncated. Copy it again."), cut.err.constData());
        std::string flipped = whole;
        flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 4);
        write("flipped.json.gz", flipped);
        const Ended damaged = run({"stats", path("flipped.json.gz"), "-r", "nvtx_sum"});
        QVERIFY(damaged.out.contains("op1"));
        QVERIFY2(damaged.err.contains("is corrupt. Copy it again."), damaged.err.constData());
    }

    /// Windows programs write one at the start of text.
    void byteOrderMarkIsNoCorruption() {
        const std::string bare = "[\n" + torchTrace::joined(torchTrace::smallRun()) + "\n]";
        const std::string text = torchTrace::traceOf(torchTrace::smallRun());
        write("plain.json", text);
        write("bare.json", bare);
        write("mark.json", "\xef\xbb\xbf" + text);
        write("mark.json.gz", packed("\xef\xbb\xbf" + text));
        write("baremark.json", "\xef\xbb\xbf" + bare);
        for (const auto& [marked, plain] :
             {std::pair{"mark.json", "plain.json"}, {"mark.json.gz", "plain.json"}, {"baremark.json", "bare.json"}}) {
            const QJsonObject without = document({"info", path(plain)}), with = document({"info", path(marked)});
            QVERIFY(!without["counts"].toArray().isEmpty());
            for (const QJsonValue& note : without["health"].toArray()) QVERIFY2(note["code"] != "file-cut", plain);
            QCOMPARE(with["counts"], without["counts"]);
            QCOMPARE(with["health"], without["health"]);
            QCOMPARE(with["devices"], without["devices"]);
        }
    }

    /// Derived files are used without reading the trace again.
    void filesDerivedFromACorruptTraceReportIt() {
        const std::string text = torchTrace::traceOf(torchTrace::smallRun());
        write("corrupt.json", text.substr(0, text.rfind("gpu_memset")));
        for (const char* command : {"index", "summarize"}) {
            const Ended outcome = run({command, path("corrupt.json")});
            QCOMPARE(outcome.status, 0);
            QVERIFY2(outcome.err.contains("warning: corrupt.json: The file is truncated"), outcome.err.constData());
            QVERIFY(!run({command, path("whole.sqlite")}).err.contains("warning"));
        }
    }

    /// Output from a corrupt index is wrong: none of it is printed.
    void nothingIsPrintedFromACorruptIndex() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), file("indexed.sqlite")));
        const QString index = path("indexed.sqlite.lanescope-index");
        QCOMPARE(run({"index", path("indexed.sqlite")}).status, 0);
        QFile stored(index);
        QVERIFY(stored.open(QIODevice::ReadOnly));
        const QByteArray whole = stored.readAll();
        stored.close();
        const std::vector<QStringList> commands{{"stats", path("indexed.sqlite")},
                                                {"stats", path("indexed.sqlite"), "-r", "cuda_gpu_trace", "-f", "csv"},
                                                {"info", path("indexed.sqlite")},
                                                {"explain", path("indexed.sqlite")},
                                                {"compare", path("indexed.sqlite"), path("whole.sqlite")},
                                                {"export", path("indexed.sqlite")},
                                                {"export", "-f", "perfetto", path("indexed.sqlite")},
                                                {"export", "-f", "folded", "--over", "ranges", path("indexed.sqlite")}};
        std::vector<QByteArray> right;
        for (const QStringList& command : commands) right.push_back(run(command).out);
        std::vector<int> found(commands.size());
        constexpr int flips = 25;
        for (int flip = 0; flip < flips; ++flip) {
            QByteArray damaged = whole;
            const qsizetype at = whole.size() / 8 + flip * (whole.size() * 3 / 4 / flips);
            damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
            for (size_t command = 0; command < commands.size(); ++command) {
                QVERIFY(stored.open(QIODevice::WriteOnly | QIODevice::Truncate) &&
                        stored.write(damaged) == damaged.size());
                stored.close();
                const Ended outcome = run(commands[command]);
                if (outcome.status == 0) {
                    QCOMPARE(outcome.out, right[command]);
                    continue;
                }
                ++found[command];
                QVERIFY2(outcome.err.count("was corrupt") == 1, outcome.err.constData());
                QVERIFY2(outcome.out.isEmpty(), outcome.out.left(2000).constData());
            }
        }
        QVERIFY(found[0] > 0 && found[1] > 0 && found[5] > 0 && found[6] > 0);
    }

    void nothingIsWrittenFromACorruptIndex() {
        write("other.json", torchTrace::traceOf(torchTrace::manyOperators(20'000)));
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), file("summed.sqlite")));
        const QString json = path("other.json"), trace = path("summed.sqlite");
        const QString made = path("made.sqlite"), summary = path("summed.lanescope-summary");
        expectNothingWritten(json, {"export", "-f", "sqlite", json, "-o", made}, made);
        expectNothingWritten(json, {"import", json, "-o", made}, made);
        expectNothingWritten(trace, {"summarize", trace}, summary);
    }

    void abnormalEndUsesTheWarningSentence() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.processes()[0].endedAbnormally = true;
        const TracePtr trace = builder.finish();
        const auto summary = analysis::summarizeRun(*trace);
        QVERIFY(summary && summary->facts.isTruncated && summary->facts.reportsAbnormalEnd());
        const std::vector<std::string> caveats = explain::explain(*summary).caveats;
        for (const HealthNote& note : healthNotesOf(*trace))
            if (note.code == HealthCode::ProcessEndedAbnormally)
                QCOMPARE(std::ranges::count(caveats, note.sentence), 1);
    }
};

LANESCOPE_TEST(tst_CorruptTrace, NoApplication)
#include "tst_CorruptTrace.moc"
