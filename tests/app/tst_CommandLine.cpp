// SPDX-License-Identifier: Apache-2.0
#include "model/format/version.h"
#include "model/importers/TraceFormat.h"
#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/app/sampleTrace.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"

using namespace lanescope;

using lanescope::test::Ended;
using lanescope::test::verifyFailure;

namespace {

Ended run(const QStringList& arguments) { return test::runLanescope(arguments); }

Ended runShell(const QString& line) {
    QProcess process;
    process.start("bash", {"-c", line});
    return test::endOf(process);
}

}  // namespace

class TestCommandLine : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString fast_;

    QString path(const QString& name) const { return folder_.filePath(name); }

    QString fileWith(const QString& name, const QByteArray& content) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) return {};
        return file.fileName();
    }

  private slots:
    void initTestCase() {
        fast_ = path("fast.lanescope");
        QVERIFY(writeSampleTrace(fast_.toStdString(), 10, 400'000));
    }

    void versionAndHelpSucceed() {
        const Ended version = run({"--version"});
        QCOMPARE(version.status, 0);
        // Scripts read the version from the first line.
        const QList<QByteArray> lines = version.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        QCOMPARE(lines[0], QByteArray("lanescope ") + productVersion());
        const QByteArray commit = productCommit();
        QCOMPARE(lines[1], "commit " + (commit.isEmpty() ? "unknown" : commit));
        QVERIFY(QRegularExpression(R"(^CUPTI headers (none|\d+\.\d+\.\d+)$)").match(lines[2]).hasMatch());
        for (const char* command : {"info", "stats", "compare", "export", "view"}) {
            const Ended help = run({command, "--help"});
            QCOMPARE(help.status, 0);
            QVERIFY(help.out.contains("Examples:") && help.out.contains(QByteArray("lanescope ") + command));
        }
        QVERIFY(run({"stats", "--help"}).out.contains("cuda_gpu_kern_sum"));
    }

    void nonsenseArgumentsAreUsageErrors_data() {
        const test::Rows<QStringList, QString> row;
        row("command", {"frobnicate"}, "frobnicate");
        row("option", {"stats", "x", "--colour"}, "--colour");
        row("no file", {"stats"}, "FILE");
        row("one file", {"compare", "a"}, "CANDIDATE");
        row("report", {"stats", "x", "-r", "kernels"}, "cuda_gpu_kern_sum");
        row("format", {"stats", "x", "-f", "xml"}, "xml");
        row("info format", {"info", "x", "-f", "csv"}, "csv");
        row("compare format", {"compare", "a", "b", "-f", "x"}, "--format");
        row("condition", {"compare", "a", "b", "--fail-if", "step > 3"}, "at character 9");
        row("steps", {"compare", "a", "b", "--steps", "x"}, "x");
        row("table", {"compare", "a", "b", "--table", "x"}, "contributors");
        row("export format", {"export", "a", "-f", "x"}, "perfetto");
        row("range", {"stats", "x", "--range", "now"}, "START:END");
        row("unit", {"stats", "x", "--range", "1d:2d"}, "START:END");
        row("no rows", {"compare", "x", "y", "--top", "0"}, "above 0. Try");
        row("no option", {"--bogus"}, "Unknown option \"--bogus\"");
        row("spread first", {"compare", "--spread", "a", "b", "c", "d"}, "--spread: consumed all files");
        row("table of text", {"compare", "a", "b", "--table", "parts"}, "Add -f csv");
        row("number", {"sql", "x", "y", "--rows", "0"}, "0 is out of range (1 to 1");
        row("one full stop", {"stats", "x", "-r", "y"}, "Unknown report \"y\". The nearest names are mfu, ");
        row("empty range", {"stats", "x", "--range", "3:2"}, "empty");
        row("folded", {"export", "x", "--range", "abc"}, "START:END");
        row("nan range", {"stats", "x", "--range", "nan:2"}, "START:END");
        row("top", {"compare", "a", "b", "--top", "-1"}, "--top");
    }
    void nonsenseArgumentsAreUsageErrors() {
        const auto [arguments, mentions] = test::row<QStringList, QString>();
        const Ended outcome = run(arguments);
        verifyFailure(outcome, 2, mentions);
        // The end of the sentence, with one full stop before the hint.
        static const QRegularExpression end("[^.]\\. (Try 'lanescope [a-z ]*--help'|See --help)\\.\n$");
        QVERIFY2(end.match(outcome.err).hasMatch(), qPrintable(outcome.err));
    }

    void nameWithALeadingDashIsNoOption() {
        const QString file = fileWith("-dash.sqlite", "no trace");
        const Ended outcome = runShell(
            QString("cd '%1' && " LANESCOPE_BINARY_DIR "/bin/lanescope info -dash.sqlite").arg(QFileInfo(file).path()));
        verifyFailure(outcome, 2, "Unknown option \"-dash.sqlite\"; the file of that name is ./-dash.sqlite");
        verifyFailure(run({"info", "-dish.sqlite"}), 2, "Unknown option \"-dish.sqlite\". Try");
    }

    void helpIsReadable() {
        const QRegularExpression leak("\\b(TEXT|FLOAT|INT|REQUIRED|Needs)\\b|[^q]\\{|SIZE:");
        for (const char* command : {"record", "info", "stats", "sql", "compare", "export"}) {
            const QString help = run({command, "--help"}).out;
            QVERIFY2(!leak.match(help).hasMatch(), qPrintable(leak.match(help).captured()));
        }
        const QByteArray help = run({"stats", "--help"}).out;
        QVERIFY2(help.contains("  -f, --format text|csv|nsys-csv|json\n"), help);
        QVERIFY2(help.contains("(default: text)"), help);
    }

    void unwritableHelpFails() {
        const QString program = LANESCOPE_BINARY_DIR "/bin/lanescope";
        verifyFailure(runShell(program + " --help > /dev/full"), 1, "Cannot write the output");
        verifyFailure(runShell(program + " stats --help > /dev/full"), 1, "Cannot write the output");
    }

    void traceBeingRecordedIsNamed() {
        fileWith("live.sqlite.partial", "unfinished");
        verifyFailure(run({"stats", path("live.sqlite")}), 1, "live.sqlite.partial has the data so far");
    }

    void missingFolderIsNamed() {
        verifyFailure(run({"stats", fast_, "-o", path("nodir/x.csv")}), 1, "nodir does not exist. Create it");
    }

    void noCommandPrintsTheHelp() {
        const Ended outcome = run({});
        QCOMPARE(outcome.status, 2);
        QVERIFY(outcome.err.contains("compare"));
    }

    void badFilesFailWithASentence_data() {
        QTest::addColumn<QString>("file");
        const QByteArray whole = [&] { return test::fileBytes(fast_); }();
        QVERIFY(whole.size() > 8192);
        QTest::newRow("missing") << path("missing.lanescope");
        QTest::newRow("folder") << folder_.path();
        QTest::newRow("empty") << fileWith("empty.lanescope", {});
        QTest::newRow("not SQLite") << fileWith("text.lanescope", "hello, this is no trace\n");
        QTest::newRow("header only") << fileWith("header.lanescope", whole.left(100));
        QTest::newRow("truncated") << fileWith("truncated.lanescope", whole.left(whole.size() / 2));
        const QString otherTool = path("other-tool.sqlite");
        QVERIFY(writeThirdPartyDatabase(otherTool.toStdString()));
        QTest::newRow("other tool") << otherTool;
    }
    void badFilesFailWithASentence() {
        QFETCH(QString, file);
        const QString name = QFileInfo(file).fileName();
        verifyFailure(run({"info", file}), 1, name);
        verifyFailure(run({"stats", file}), 1, name);
        verifyFailure(run({"export", file, "-o", path("never.json")}), 1, name);
        QVERIFY(!QFile::exists(path("never.json")));
    }

    void infoDescribesTheTrace() {
        const Ended text = run({"info", fast_});
        QCOMPARE(text.status, 0);
        for (const char* part : {"python3", "4242", "Simulated GPU", "kernels", "10", "Three buffers were dropped."})
            QVERIFY2(text.out.contains(part), part);
        const Ended json = run({"info", fast_, "--format", "json"});
        QCOMPARE(json.status, 0);
        const QJsonObject object = QJsonDocument::fromJson(json.out).object();
        QCOMPARE(object["processes"].toArray()[0].toObject()["pid"].toInt(), 4242);
        QCOMPARE(object["gpus"].toArray()[0].toObject()["smCount"].toInt(), 132);
        QCOMPARE(object["durationNs"].toInteger(), qint64{10'000'000});
        QVERIFY(!object["health"].toArray().isEmpty());
    }

    void infoSortsFactsBySubject() {
        const QByteArray text = run({"info", fast_}).out;
        QVERIFY2(text.contains("Working folder  /home/simulated"), text);
        QVERIFY2(text.contains("132 SMs, 18 NVLinks"), text);
        QVERIFY2(text.contains("python3, ended by signal 15\n    CUPTI           13.0.1"), text);
        QVERIFY2(!text.contains("cuptiVersion"), text);
        const QJsonObject object = QJsonDocument::fromJson(run({"info", fast_, "--format", "json"}).out).object();
        QCOMPARE(object["properties"].toObject().keys(), QStringList{"workingDirectory"});
        const QJsonObject process = object["processes"].toArray()[0].toObject();
        QCOMPARE(process["properties"].toObject()["cuptiVersion"].toString(), QString("130001"));
        const QJsonObject gpu = object["gpus"].toArray()[0].toObject();
        QCOMPARE(gpu["properties"].toObject()["nvlinkCount"].toString(), QString("18"));
    }

    /// The same description as on the viewer's health page.
    void infoPrintsTheWholeDescription() {
        const DescribedTrace description = describeTrace(*test::orFail(loadTrace(fast_.toStdString())));
        const QByteArray text = run({"info", fast_}).out;
        const auto says = [&text](const std::string& part) { return text.contains(part.c_str()); };
        for (const Property& fact : description.run) QVERIFY2(says(fact.name) && says(fact.value), fact.name.c_str());
        for (const auto& things : {description.gpus, description.processes})
            for (const DescribedThing& thing : things) {
                QVERIFY2(says(thing.title), thing.title.c_str());
                for (const Property& fact : thing.facts)
                    QVERIFY2(says(fact.name) && says(fact.value), fact.name.c_str());
            }
        QCOMPARE(description.health.size(), size_t{1});
        QVERIFY2(says("warning: " + shownText(description.health[0])), text);
        const QByteArray json = run({"info", fast_, "--format", "json"}).out;
        const QJsonArray health = QJsonDocument::fromJson(json).object()["health"].toArray();
        QCOMPARE(health.size(), 1);
        QCOMPARE(health[0].toObject()["code"].toString(), QString("simulated"));
        QCOMPARE(health[0].toObject()["severity"].toString(), QString("warning"));
    }

    void statsPrintsTheRequestedReports() {
        const Ended csv = run({"stats", fast_, "-r", "cuda_gpu_kern_sum", "-f", "csv"});
        QCOMPARE(csv.status, 0);
        const QList<QByteArray> lines = csv.out.split('\n');
        QVERIFY(lines[0].startsWith("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns)"));
        QCOMPARE(lines[1].trimmed(), QByteArray("100,4000000,10,400000,400000,400000,400000,0,"
                                                "\"void gemm<float, 128>(float*, int)\""));
        const Ended json = run({"stats", fast_, "-r", "memcpy_bandwidth", "-f", "json"});
        const QJsonObject copies = QJsonDocument::fromJson(json.out).array()[0].toObject();
        QCOMPARE(test::listed(copies["Mean (GB/s)"].toDouble(), copies["Source"].toString()), "50 | pinned");
    }

    void statsSumsCopiesByRangeOrListsInstances() {
        const auto rowsBy = [&](const QStringList& how) {
            const Ended json = run(QStringList{"stats", fast_, "-r", "memcpy_bandwidth", "-f", "json", "--by"} + how);
            return QJsonDocument::fromJson(json.out).array();
        };
        const QJsonArray summed = rowsBy({"range", "--range-name", "step"});
        const QJsonArray each = rowsBy({"instance", "--range-name", "step"});
        QCOMPARE(summed.size(), 1);
        const QJsonObject row = summed[0].toObject();
        QCOMPARE(row["Range"].toString(), QString("step"));
        QCOMPARE(row["Instances"].toInt(), int(each.size()));
        QCOMPARE(row["Count"].toInt(), int(each.size()));
        QCOMPARE(row["Median Bytes (B)"].toDouble(), 1e6);
        QCOMPARE(row["Median Busy (ns)"].toDouble(), 20'000.0);
        QCOMPARE(each[1].toObject()["Instance"].toInt(), 1);
        verifyFailure(run({"stats", fast_, "-r", "memcpy_bandwidth", "--by", "magic"}), 2, "magic");
    }

    void topologyNamesTheGpus() {
        QVERIFY(run({"info", "--topology", fast_}).out.startsWith("GPU 0  Simulated GPU"));
        const QJsonObject gpu = QJsonDocument::fromJson(run({"info", "--topology", fast_, "-f", "json"}).out)
                                    .object()["gpus"]
                                    .toArray()[0]
                                    .toObject();
        QCOMPARE(gpu["name"].toString(), QString("Simulated GPU"));
        QCOMPARE(gpu["isMig"].toBool(true), false);
        for (const char* part : {"numaNode", "pciePeakGBps"}) QVERIFY2(gpu[part].isNull(), part);
    }

    void whatIfNamesItsStepsAndKernels() {
        const auto json = [](const QStringList& words) {
            return QJsonDocument::fromJson(run(words + QStringList{"-f", "json"}).out).object();
        };
        const QJsonObject explained = json({"explain", fast_});
        const QJsonObject made = json({"whatif", fast_, "--scale", "kernel:g*=0.5"});
        QCOMPARE(made["worker"], explained["workers"].toArray()[0].toObject()["label"]);
        QVERIFY(made["stepNs"].toDouble() > 0 && made["replayError"].isDouble());
        QCOMPARE(made["changes"].toArray()[0].toObject()["kernels"].toArray(), QJsonArray{"gemm"});
        const QByteArray text = run({"whatif", fast_, "--scale", "kernel:g*=0.5"}).out;
        QVERIFY2(text.contains("kernel:g*=0.5 matches gemm.\n") && text.contains(" steps, recorded mean "), text);
        const Ended none = run({"whatif", fast_, "--scale", "kernel:conv=0.5"});
        QCOMPARE(none.status, 3);
        QVERIFY2(none.out.contains("No forecast. kernel:conv=0.5: no such part"), none.out);
    }

    void criticalPathOfARangeHasItsSums() {
        const QByteArray all = run({"stats", fast_, "-r", "critical_path", "-f", "csv"}).out;
        const QByteArray ranged = run({"stats", fast_, "-r", "critical_path", "-f", "csv", "--range", "0s:1s"}).out;
        QVERIFY2(all.contains("Time per Step"), all);
        QVERIFY2(ranged.contains("Time") && !ranged.contains("per Step"), ranged);
    }

    void slopesForecastEachPart() {
        const QByteArray slopes = run({"stats", fast_, "-r", "slopes", "-f", "csv"}).out;
        QVERIFY2(slopes.startsWith("Saves at -10 % (ns),Saves Without It (ns),Slope (%),"), slopes);
        const Ended added = run({"whatif", fast_, "--add", "launch=20us"});
        QVERIFY2(added.status == 0 && added.out.contains("launch+20.00 \u00b5s: "), added.out + added.err);
        QVERIFY2(added.out.contains("20.00 \u00b5s (2.0 %) longer than recorded."), added.out);
        const Ended same = run({"whatif", fast_, "--scale", "launch=1"});
        QVERIFY2(same.out.contains(" per step, no change beyond the error of \u00b1"), same.out + same.err);
        verifyFailure(run({"whatif", fast_, "--add", "kernels=20us"}), 2, "only calls take an added time");
        verifyFailure(run({"whatif", fast_, "--add", "launch=20"}), 2, "is no time to add");
        verifyFailure(run({"whatif", fast_, "--verify"}), 2, "--verify tests one --add");
    }

    void framesAreOnlyForFlameGraphs() {
        for (const char* format : {"perfetto", "kineto", "flame-ranges", "sqlite"})
            verifyFailure(run({"export", fast_, "-f", format, "--over", "modules", "-o", path("x")}), 2,
                          "--over: only for folded and flame");
    }

    void statsOfSeveralReportsIsOneJsonObject() {
        const Ended some = run({"stats", fast_, "-r", "nvtx_sum", "-r", "cuda_api_sum", "-f", "json"});
        QCOMPARE(QJsonDocument::fromJson(some.out).object().keys(), (QStringList{"cuda_api_sum", "nvtx_sum"}));
        const QJsonObject all = QJsonDocument::fromJson(run({"stats", fast_, "-f", "json"}).out).object();
        QVERIFY(all.contains("nccl_sum") && all["cuda_gpu_kern_sum"].toArray().size() == 1);
    }

    void statsOfARangeCountsOnlyThat() {
        const Ended outcome = run({"stats", fast_, "-r", "cuda_gpu_kern_sum", "-f", "json", "--range", "0.002:0.005"});
        QCOMPARE(QJsonDocument::fromJson(outcome.out).array()[0].toObject()["Instances"].toInt(), 3);
        const Ended sameInUnits =
            run({"stats", fast_, "-r", "cuda_gpu_kern_sum", "-f", "json", "--range", "2ms:5000us"});
        QCOMPARE(sameInUnits.status, 0);
        QCOMPARE(sameInUnits.out,
                 run({"stats", fast_, "-r", "cuda_gpu_kern_sum", "-f", "json", "--range", "0.002s:5000000ns"}).out);
    }

    void statsOfARangeOutsideTheTraceFailsAndNamesTheTraceRange() {
        const Ended all = run({"stats", fast_, "--range", "100:"});
        verifyFailure(all, 1, "The range lies outside of fast.lanescope, which covers 0.000000000 s to 0.01");
        verifyFailure(run({"stats", fast_, "-r", "cuda_gpu_kern_sum", "-f", "csv", "--range", "100:200"}), 1,
                      "Choose a range inside");
        const QString output = path("outside.csv");
        verifyFailure(run({"stats", fast_, "-o", output, "--range", "100:"}), 1, "The range");
        QVERIFY(!QFile::exists(output));
        // A range within the trace may lack a kind of event.
        const Ended none = run({"stats", fast_, "-r", "nccl_sum", "--range", "0:1"});
        QCOMPARE(none.status, 0);
        QVERIFY(none.out.contains("No rows:"));
        const Ended roofline = run({"stats", fast_, "-r", "roofline"});
        QVERIFY2(roofline.out.contains("No rows: the trace has no operators with shapes"), roofline.out.constData());
    }

    void statsOfUnknownRangeNamesFailsAndListsExistingOnes() {
        const QStringList bandwidth = {"stats", fast_, "-r", "memcpy_bandwidth", "--by", "range"};
        verifyFailure(run(bandwidth + QStringList{"--range-name", "no such range"}), 1,
                      "fast.lanescope has no NVTX range called \"no such range\"; there is \"step\".");
        verifyFailure(run({"stats", fast_, "-r", "energy_by_range", "--range-name", "epoch #"}), 1,
                      "there is \"step\"");
        // The range has ended by then, its work has not.
        const QString short_ = path("short.lanescope");
        QVERIFY(writeSampleTrace(short_.toStdString(), 1, 5'000'000));
        const Ended outcome = run(
            {"stats", short_, "-r", "memcpy_bandwidth", "--by", "range", "--range-name", "step", "--range", "3ms:4ms"});
        QCOMPARE(outcome.status, 0);
        QVERIFY2(outcome.out.contains("No rows"), outcome.out.constData());
        QVERIFY2(outcome.out.contains("1 of the ranges works on the GPU and copies nothing."), outcome.out.constData());
    }

    void optionsOfNoRequestedReportAreUsageErrors() {
        verifyFailure(run({"stats", fast_, "--range-name", "step"}), 2,
                      "--range-name: no requested report is by NVTX range");
        verifyFailure(run({"stats", fast_, "-r", "nvtx_sum", "--by", "link"}), 2, "--by link");
    }

    void compareOfUnknownRangeNamesFails() {
        const QString other = path("other.lanescope");
        QVERIFY(writeSampleTrace(other.toStdString(), 10, 500'000));
        verifyFailure(run({"compare", fast_, other, "--range", "epoch"}), 3,
                      "fast.lanescope has no NVTX range called \"epoch\"; there is \"step\".");
        verifyFailure(run({"compare", fast_, other, "-f", "csv", "--range", "epoch"}), 3, "has no NVTX range called");
    }

    void healthWarningsGoToStderr() {
        const Ended outcome = run({"stats", fast_});
        QCOMPARE(outcome.status, 0);
        QVERIFY(outcome.out.contains("CUDA GPU Kernel Summary") && !outcome.out.contains("dropped"));
        QVERIFY(outcome.err.contains("lanescope: warning: fast.lanescope: Three buffers"));
    }

    void outputFileIsWrittenCompletely() {
        const QString file = path("kernels.csv");
        const Ended outcome = run({"stats", fast_, "-f", "csv", "-r", "cuda_api_sum", "-o", file});
        QCOMPARE(outcome.status, 0);
        QVERIFY(outcome.out.isEmpty());
        QVERIFY(test::fileBytes(file).contains("cudaLaunchKernel"));
        QCOMPARE(QDir(folder_.path()).entryList({"*.part"}).size(), 0);
    }

    void inputIsNeverOverwritten() {
        QFile trace(fast_);
        QVERIFY(trace.open(QIODevice::ReadOnly));
        const QByteArray before = trace.readAll();
        trace.close();
        verifyFailure(run({"export", fast_, "-o", fast_}), 1, "being read");
        QVERIFY(trace.open(QIODevice::ReadOnly));
        QCOMPARE(trace.readAll(), before);
    }

    void unwritableOutputFails() {
        const QString nowhere = path("no/such/folder/out.csv");
        const Ended outcome = run({"stats", fast_, "-o", nowhere});
        verifyFailure(outcome, 1, nowhere);
        verifyFailure(run({"stats", fast_, "-o", folder_.path()}), 1, "folder");
    }

    void fullDiskFails() {
        if (!QFile::exists("/dev/full")) QSKIP("There is no /dev/full here.");
        const Ended outcome = run({"stats", fast_, "-o", "/dev/full"});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.err.contains("lanescope: Cannot write /dev/full"));
    }

    void fullDiskKeepsTheFormerOutput() {
        const QString file = fileWith("kept.json", "before");
        const Ended outcome = runShell("trap '' XFSZ; ulimit -f 1; " LANESCOPE_BINARY_DIR "/bin/lanescope export " +
                                       fast_ + " -o " + file);
        verifyFailure(outcome, 1, "Cannot write " + file);
        QCOMPARE(test::fileBytes(file), QByteArray("before"));
    }

    void closedPipeIsNoError() {
        const QString program = QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope");
        const Ended outcome = runShell(program + " stats " + fast_ + " 2>/dev/null | head -n 1");
        QCOMPARE(outcome.status, 0);
        QVERIFY(outcome.out.startsWith("NVTX Range Summary"));
        // As if started by a program that ignores SIGPIPE, which children inherit.
        const Ended ignoring =
            runShell("trap '' PIPE; " + program + " export " + fast_ + " | true; echo ${PIPESTATUS[0]}");
        QCOMPARE(ignoring.out.trimmed(), QByteArray("0"));
        QVERIFY(!ignoring.err.contains("Cannot write"));
    }

    void defaultExportReopensWithAllGpuWork() {
        const QString exported = path("run.pftrace");
        QCOMPARE(run({"export", fast_, "-o", exported}).status, 0);
        const auto kernels = [](const QByteArray& info) {
            const qsizetype at = info.indexOf("  kernels ");
            return at < 0 ? QByteArray() : info.mid(at, info.indexOf('\n', at) - at).simplified();
        };
        const QByteArray before = kernels(run({"info", fast_}).out);
        QVERIFY(before.startsWith("kernels "));
        QCOMPARE(kernels(run({"info", exported}).out), before);
    }

    void missingViewerIsReported() {
        // The program alone in a folder, with an empty PATH.
        const QString lone = path("lanescope");
        QVERIFY(QFile::copy(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"), lone));
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", folder_.path());
        process.setProcessEnvironment(environment);
        process.start(lone, {"view", fast_});
        verifyFailure(test::endOf(process), 1, "Install the package lanescope-viewer of the same release");
    }

    void viewStartsTheViewerNextToIt() {
        const QString script = fileWith("lanescope-viewer", "#!/bin/sh\necho \"$@\"\nexit 7\n");
        QFile(script).setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QProcess process;
        process.start(path("lanescope"), {"view", "a b", "c"});
        const Ended both = test::endOf(process);
        QCOMPARE(test::listed(both.status, both.out), "7 | --compare a b c\n");
        process.start(path("lanescope"), {"view", "a b"});
        QCOMPARE(test::endOf(process).out, QByteArray("a b\n"));
    }
};

LANESCOPE_TEST(TestCommandLine, QCoreApplication)
#include "tst_CommandLine.moc"
