// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "model/answers/answerTool.h"
#include "tests/app/sampleTrace.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

const QString versionKey = "io.modelcontextprotocol/protocolVersion";
constexpr int waitMs = 120'000;

QJsonObject meta(const QString& version = "2026-07-28") {
    return {{versionKey, version}, {"io.modelcontextprotocol/clientCapabilities", QJsonObject()}};
}

QByteArray request(const QJsonValue& id, const QString& method, QJsonObject parameters = {}) {
    if (!parameters.contains("_meta")) parameters["_meta"] = meta();
    const QJsonObject message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", parameters}};
    return QJsonDocument(message).toJson(QJsonDocument::Compact) + "\n";
}

QByteArray call(const QJsonValue& id, const QString& tool, const QJsonObject& arguments, QJsonObject with = meta()) {
    return request(id, "tools/call", {{"name", tool}, {"arguments", arguments}, {"_meta", with}});
}

}  // namespace

/// End-to-end tests of `lanescope mcp` by its messages.
class tst_McpCommand : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    const SampleCopies sample_;

    /// Returns the replies to messages, by id. Closes the input at once, or after that many replies.
    QMap<QString, QJsonObject> ask(const QByteArray& messages, const QStringList& options = {},
                                   qsizetype awaited = 0) const {
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", QStringList{"mcp", folder_.filePath("served")} + options);
        process.write(messages);
        QByteArray output;
        while (output.count('\n') < awaited && process.waitForReadyRead(waitMs))
            output += process.readAllStandardOutput();
        process.closeWriteChannel();
        if (!process.waitForFinished(waitMs)) qFatal("lanescope does not end");
        if (process.exitCode() != 0) qFatal("%s", process.readAllStandardError().constData());
        QMap<QString, QJsonObject> replies;
        output += process.readAllStandardOutput();
        for (const QByteArray& line : output.split('\n')) {
            if (line.isEmpty()) continue;
            const QJsonObject reply = QJsonDocument::fromJson(line).object();
            if (reply["jsonrpc"] != "2.0") qFatal("no message: %s", line.constData());
            replies[reply["id"].toVariant().toString()] = reply;
        }
        return replies;
    }
    static QJsonObject result(const QJsonObject& reply) { return reply["result"].toObject(); }
    static int errorOf(const QJsonObject& reply) { return reply["error"].toObject()["code"].toInt(); }
    static QByteArray text(const QJsonObject& reply) {
        return result(reply)["content"].toArray()[0].toObject()["text"].toString().toUtf8();
    }
    QJsonObject answer(const QString& tool, const QJsonObject& arguments) const {
        const QJsonObject reply = ask(call(1, tool, arguments))["1"];
        if (result(reply)["isError"].toBool(true)) qFatal("%s", text(reply).constData());
        return QJsonDocument::fromJson(text(reply)).object();
    }
    QByteArray refusal(const QString& tool, const QJsonObject& arguments) const {
        const QJsonObject reply = ask(call(1, tool, arguments))["1"];
        return result(reply)["isError"].toBool() ? text(reply) : "no error: " + text(reply);
    }

  private slots:
    void initTestCase() {
        QVERIFY(QDir(folder_.path()).mkpath("served/below"));
        for (const QString& name : {QString("served/run.sqlite"), QString("outside.sqlite")})
            QVERIFY(writeSampleTrace(folder_.filePath(name).toStdString(), 10, 400'000));
        QVERIFY(QFile::copy(sample_("nvlink"), folder_.filePath("served/below/nvlink.sqlite.gz")));
        QVERIFY(QFile::copy(sample_("no-p2p"), folder_.filePath("served/below/no-p2p.sqlite.gz")));
        QVERIFY(QFile::link(folder_.filePath("outside.sqlite"), folder_.filePath("served/link.sqlite")));
    }

    void currentRevisionNeedsNoHandshake() {
        const auto replies = ask(request("d", "server/discover") + request(2, "tools/list"));
        QCOMPARE(result(replies["d"])["supportedVersions"].toArray(), QJsonArray{"2026-07-28"});
        QCOMPARE(result(replies["d"])["resultType"].toString(), QString("complete"));
        QCOMPARE(result(replies["2"])["cacheScope"].toString(), QString("private"));
        QStringList names;
        for (const QJsonValue& tool : result(replies["2"])["tools"].toArray())
            names += tool.toObject()["name"].toString();
        QCOMPARE(names, QStringList({"explain", "open", "compare", answers::rangeTool, "stats", "sql"}));
    }

    void earlierRevisionsBeginWithInitialize() {
        const QByteArray begin =
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}})"
            "\n"
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
            "\n"
            R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
            "\n"
            R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"open","arguments":{}}})";
        const auto replies = ask(begin);  // The last line has no line feed.
        QCOMPARE(result(replies["0"])["protocolVersion"].toString(), QString("2025-06-18"));
        QVERIFY(replies.contains("1") && result(replies["1"]).isEmpty());
        QVERIFY(!result(replies["2"]).contains("resultType"));
        QVERIFY2(text(replies["2"]).contains("run.sqlite"), text(replies["2"]));
    }

    void schemasAndAnswersAreShort() {
        const QJsonArray tools = result(ask(request(1, "tools/list"), {"--allow-run"})["1"])["tools"].toArray();
        QCOMPARE(tools.size(), 8);
        const auto bytes = QJsonDocument(tools).toJson(QJsonDocument::Compact).size();
        qInfo("schemas: %lld tokens", static_cast<long long>(bytes / 4));
        QVERIFY2(bytes <= 950 * 4, qPrintable(QString::number(bytes)));
        const QString nvlink = "below/nvlink.sqlite.gz", other = "below/no-p2p.sqlite.gz";
        const QList<std::pair<QString, QJsonObject>> calls{
            {"open", {{"file", nvlink}}},
            {"explain", {{"file", nvlink}}},
            {"compare", {{"baseline", QJsonArray{nvlink}}, {"candidate", QJsonArray{other}}}},
            {answers::rangeTool, {{"file", nvlink}}},
            {"stats", {{"file", nvlink}, {"report", "cuda_gpu_kern_sum"}, {"rows", 1000}}},
            {"sql", {{"file", nvlink}, {"query", "SELECT * FROM StringIds"}, {"rows", 1000}}}};
        for (const auto& [tool, arguments] : calls) {
            const QJsonObject found = answer(tool, arguments);
            const auto size = QJsonDocument(found).toJson(QJsonDocument::Compact).size();
            qInfo("%s: %lld tokens", qPrintable(tool), static_cast<long long>(size / 4));
            QVERIFY2(size <= 2000 * 4, qPrintable(tool));
            for (const char* key : {"command", "names", "truncated"}) QVERIFY2(found.contains(key), key);
            QCOMPARE(found.contains("cannot_answer"), tool != "sql");
            QVERIFY(!found.contains("caveats") || !found["caveats"].toArray().isEmpty());
            QVERIFY(found["command"].toString().startsWith("lanescope "));
            QCOMPARE(found["names"].toString(), QString("untrusted"));
        }
        const QJsonObject more = answer(
            "sql", {{"file", nvlink}, {"query", "SELECT * FROM StringIds"}, {"rows", 1000}, {"max_tokens", 8000}});
        QVERIFY(QJsonDocument(more).toJson(QJsonDocument::Compact).size() > 2000 * 4);
    }

    void answersAreThoseOfTheCommands() {
        const QJsonObject compared = answer("compare", {{"baseline", QJsonArray{"below/nvlink.sqlite.gz"}},
                                                        {"candidate", QJsonArray{"below/no-p2p.sqlite.gz"}}});
        QCOMPARE(compared["outcome"].toString(), QString("longer"));
        QVERIFY(compared["sentence"].toString().contains("no longer over the NVLink"));
        QVERIFY(compared["cannot_answer"].toArray()[0].toString().startsWith("whether the program is slower"));
        const QJsonObject explained = answer("explain", {{"file", "run.sqlite"}, {"finding", "all"}});
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      {"explain", folder_.filePath("served/run.sqlite"), "-f", "json"});
        QVERIFY(process.waitForFinished(waitMs));
        const QJsonObject printed = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
        QCOMPARE(explained["sentence"], printed["sentence"]);
        QCOMPARE(explained["findings"].toArray().size(), printed["findings"].toArray().size());
        QStringList unknown;
        for (const QJsonValue& each : explained["cannot_answer"].toArray())
            unknown += each.toString().section(':', 0, 0);
        QVERIFY2(unknown.contains("Python line") && unknown.contains("late rank"), qPrintable(unknown.join(", ")));
        const QJsonObject ranged =
            answer(answers::rangeTool, {{"file", "below/nvlink.sqlite.gz"}, {"range", "0s:100s"}});
        QCOMPARE(ranged["gpus"].toArray().size(), 2);
        QVERIFY(!ranged["ran"].toObject()["rows"].toArray().isEmpty());
        QVERIFY(answer("stats", {{"file", "run.sqlite"}})["reports"].toArray().contains("nccl_lateness"));
        QCOMPARE(answer("sql", {{"file", "run.sqlite"}, {"query", "SELECT 1 + 1"}})["rows"].toArray()[0].toArray()[0],
                 QJsonValue(2));
        QVERIFY(!answer("sql", {{"file", "run.sqlite"}})["tables"].toArray().isEmpty());
    }

    void shortAnswersAreCompleteOnRequest() {
        const auto sizeOf = [](const QJsonObject& object) {
            return QJsonDocument(object).toJson(QJsonDocument::Compact).size();
        };
        const QString file = "below/nvlink.sqlite.gz";
        for (const char* tool : {"open", "explain", "stats", "sql", answers::rangeTool}) {
            const QJsonObject brief = answer(tool, {{"file", file}});
            const bool isExplain = QByteArray(tool) == "explain";
            const QString more = isExplain ? "finding" : "detail";
            const QJsonValue all = isExplain ? QJsonValue("all") : QJsonValue(true);
            const QJsonObject whole = answer(tool, {{"file", file}, {more, all}, {"max_tokens", 20000}});
            qInfo("%s: %lld bytes of %lld", tool, static_cast<long long>(sizeOf(brief)),
                  static_cast<long long>(sizeOf(whole)));
            QVERIFY2(sizeOf(brief) < sizeOf(whole), tool);
            QVERIFY2(brief["truncated"].toArray()[0].toString().startsWith(more + ": "), tool);
            for (const QJsonValue& each : whole["truncated"].toArray())
                QVERIFY2(!each.toString().startsWith(more + ": "), tool);
        }
        const QJsonObject explained = answer("explain", {{"file", file}});
        QVERIFY(sizeOf(answer("open", {{"file", file}})) + sizeOf(explained) <= 1300);
        for (const char* key : {"sentence", "findings"}) QVERIFY2(!explained.contains(key), key);
        const QString rule = explained["causes_ms"].toArray()[0].toArray()[1].toString().section(' ', 0, 0);
        const QJsonObject one = answer("explain", {{"file", file}, {"finding", rule}});
        QCOMPARE(one["findings"].toArray()[0].toObject()["rule"].toString(), rule);
        QVERIFY(!one.contains("causes_ms"));
        QCOMPARE(refusal("explain", {{"file", file}, {"finding", "none"}}),
                 QByteArray("finding: \"none\" is not in causes_ms."));
        QVERIFY(!QJsonDocument(explained).toJson().contains('\\'));  // Escapes are tokens.
        QVERIFY(explained["steps"].toString().endsWith(" of 10 'step #'"));
        const QJsonArray steps = explained["mean_step_ms"].toArray();
        QCOMPARE(steps.size(), 4);
        QCOMPARE(steps[0].toArray()[0].toString(), QString("rank"));
        QCOMPARE(steps[1].toArray()[0].toInt(-1), 0);
        QCOMPARE(steps[3].toArray()[0].toString(), QString("mean"));
        for (qsizetype part = 1; part < steps[0].toArray().size(); ++part) {
            const auto of = [&](qsizetype row) { return steps[row].toArray()[part].toDouble(); };
            QVERIFY(std::abs((of(1) + of(2)) / 2 - of(3)) < 0.002);
        }
    }

    void oneWorkerNeedsNoRows() {
        const QJsonObject explained = answer("explain", {{"file", "run.sqlite"}});
        const QJsonObject parts = explained["mean_step_ms"].toObject();
        double sum = 0;
        for (const QString& name : parts.keys()) sum += name == "mean" ? 0 : parts[name].toDouble();
        QVERIFY(sum > 0.95 * parts["mean"].toDouble() && sum < 1.001 * parts["mean"].toDouble());
        QCOMPARE(explained["command"].toString(), QString("lanescope explain run.sqlite"));
    }

    void rowsAreOmittedAsAWhole() {
        answers::Json answer;
        answer["rows"] = answers::Json::array();
        for (int row = 0; row < 50; ++row) answer["rows"].push_back({row, std::string(40, 'x'), "end"});
        const answers::Json limited = answers::Json::parse(answers::limitedAnswer(answer, 100));
        QVERIFY(!limited["rows"].empty() && limited["rows"].size() < 50);
        for (const answers::Json& row : limited["rows"]) QCOMPARE(row.size(), size_t{3});
    }

    void causesAtOneLineAreOneRow() {
        explain::MadeRun made(2);
        const analysis::IdleCause running =
            onMain(analysis::idle(analysis::CauseKind::OutsideCalls, ThreadState::Running), {"train.py", 88, "load"});
        made.add(0, explain::contributor(analysis::StepPart::LaunchBound, analysis::ContributorKind::Idle, running, 0),
                 47'250'000);
        explain::Explanation explained;
        const auto add = [&](const explain::Rule& rule, int64_t ns) -> explain::Finding& {
            explain::Finding& finding = explained.findings.emplace_back();
            finding.rule = &rule;
            finding.maxGainNs = ns;
            finding.contributor = running;
            finding.path = "forward";
            finding.brief = "One step is far longer";
            return finding;
        };
        add(explain::hostWorkRule, 37'017'000);
        add(explain::launchBoundRule, 9'334'000).overheadNs = 1'351'000;
        add(explain::oddStepsRule, 2'878'000);
        const answers::Json table = answers::causeTable(made.run(), explained);
        QCOMPARE(table[0].dump(),
                 std::string(R"([46.351,"host_work 37.017 + launch_bound 9.334","rank 0: line train.py:88",)"
                             R"("samples: running, recording <= 1.351"])"));
        QCOMPARE(table[1].dump(),
                 std::string(R"([2.878,"odd_steps","One step is far longer","samples: running, overlaps"])"));
        QCOMPARE(table.size(), size_t{2});
        // Less than half of the time is known to be at the line.
        explained.findings.front().maxGainNs = 95'000'000;
        QCOMPARE(answers::causeTable(made.run(), explained)[0][2].get<std::string>(),
                 std::string("rank 0: line train.py:88, partly"));
    }

    void launchesNameTheLineOfAnAlternatingThread() {
        explain::MadeRun made;
        const analysis::IdleCause alternating = onMain(
            analysis::idle(analysis::CauseKind::OutsideCalls, ThreadState::Lock, analysis::Observation::Alternating));
        explain::Explanation explained;
        explain::Finding& finding = explained.findings.emplace_back();
        finding.rule = &explain::launchBoundRule;
        finding.maxGainNs = 43'306'000;
        finding.contributor = alternating;
        finding.launched = {"seen mostly at train.py:174 in loss", "train.py:174 in loss"};
        analysis::WorkerSummary& worker = made.run().workers.front();
        const analysis::CodePlace launched{"launched at train.py:177 in step", "train.py:177 in step"};
        worker.launches = {.count = 100, .medianNs = 1, .place = launched, .placeCount = 64};
        made.add(analysis::StepPart::LaunchBound, analysis::ContributorKind::Idle, alternating, 43'306'000);
        QCOMPARE(answers::causeTable(made.run(), explained)[0].dump(),
                 std::string(R"([43.306,"launch_bound","line train.py:174","samples: ran and waited"])"));
        finding.launched = {"while the main thread was at train.py:9"};
        QCOMPARE(answers::causeTable(made.run(), explained)[0].dump(),
                 std::string(R"([43.306,"launch_bound","line train.py:177, 64.0 % of launches",)"
                             R"("samples: ran and waited, while the main thread was at train.py:9"])"));
        // Fewer launches do not name a line.
        worker.launches.placeCount = 50;
        // The line of a lock's holder, or of another thread meanwhile, is not that of the thread.
        for (const char* other :
             {"the holder mostly at train.py:9 in read", "while the main thread was at train.py:9"}) {
            finding.launched = {other};
            const answers::Json row = answers::causeTable(made.run(), explained)[0];
            QCOMPARE(row[2].get<std::string>(), std::string("host code on the main thread"));
            QVERIFY2(row[3].get<std::string>().ends_with(other), row.dump().c_str());
        }
        finding.rule = &explain::allocationsRule;
        finding.contributor = analysis::idleIn("cuMemFree_v2");
        worker.allocations.freedAt = {"memory.py:224 in empty_cache, called at train.py:34 in train",
                                      "memory.py:224 in empty_cache", "train.py:34 in train"};
        QCOMPARE(answers::causeTable(made.run(), explained)[0][2].get<std::string>(),
                 std::string("line train.py:34, frees by memory.py:224 in empty_cache"));
    }

    void readingToolsWriteNothing() {
        const QString large = folder_.filePath("served/below/large.sqlite");
        QVERIFY(writeSampleTrace(large.toStdString(), 20'000, 400'000));
        QVERIFY(QFileInfo(large).size() > (1 << 20));  // Commands write an index of it.
        const auto files = [this] {
            QStringList all;
            QDirIterator each(folder_.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
            while (each.hasNext()) all << each.next();
            return all;
        };
        const QStringList before = files();
        const QString name = "below/large.sqlite";
        for (const char* tool : {"open", "explain", answers::rangeTool, "sql"}) answer(tool, {{"file", name}});
        answer("stats", {{"file", name}, {"report", "cuda_gpu_kern_sum"}});
        answer("compare", {{"baseline", QJsonArray{name}}, {"candidate", QJsonArray{"run.sqlite"}}});
        QCOMPARE(files(), before);
        for (const QJsonValue& tool : result(ask(request(1, "tools/list"))["1"])["tools"].toArray())
            QVERIFY(tool.toObject()["annotations"].toObject()["readOnlyHint"].toBool());
        QVERIFY(QFile::remove(large));
    }

    void unexpectedFailureIsNoLackOfMemory() {
        const auto gate = answers::FolderGate::of({folder_.path().toStdString()});
        const auto failed = answers::answerTool("none", answers::Json::object(), *gate);
        QVERIFY(!failed && failed.error().sentence.starts_with("Unexpected failure: "));
    }

    void onlyServedFilesAreRead() {
        for (const QString& name : {QString("../outside.sqlite"), folder_.filePath("outside.sqlite"),
                                    QString("link.sqlite"), QString("/etc/passwd"), QString("missing.sqlite"),
                                    QString(), QString("below/../../outside.sqlite"), QString(3000, 'x')})
            QVERIFY2(refusal("explain", {{"file", name}}).contains("no such file in the folders of this server") ||
                         name.isEmpty(),
                     qPrintable(name));
        QVERIFY(answer("open", {})["traces"].toArray().size() == 3);  // Without the link.
        QVERIFY(refusal("sql", {{"file", "run.sqlite"}, {"query", "DELETE FROM NVTX_EVENTS"}}).size() > 10);
        QVERIFY(refusal("sql", {{"file", "run.sqlite"}, {"query", "ATTACH 'x' AS y"}}).size() > 10);
    }

    void wrongArgumentsAreExplained() {
        QCOMPARE(refusal("explain", {}), QByteArray("file: missing."));
        QCOMPARE(refusal("explain", {{"file", 7}}), QByteArray("file: no string within the limits."));
        QCOMPARE(refusal("open", {{"detail", 1}}), QByteArray("detail: no boolean within the limits."));
        QCOMPARE(refusal("explain", {{"file", "run.sqlite"}, {"path", "x"}}), QByteArray("path: unknown argument."));
        QVERIFY(refusal("open", {{"max_tokens", 1}}).startsWith("max_tokens: out of range"));
        QVERIFY(refusal(answers::rangeTool, {{"file", "run.sqlite"}, {"range", "soon"}}).contains("is not a range"));
        QVERIFY(refusal("stats", {{"file", "run.sqlite"}, {"report", "kernels"}}).contains("kernels"));
    }

    void wrongMessagesHaveErrors() {
        const auto replies = ask(QByteArray("{\n[]\n\"x\"\n\n") + request(1, "resources/list") + call(2, "none", {}) +
                                 request(3, "tools/list", {{"_meta", meta("1900-01-01")}}) +
                                 request(4, "tools/list", {{"_meta", QJsonObject()}}) +
                                 request(8, "tools/list", {{"_meta", QJsonObject{{versionKey, "2026-07-28"}}}}) +
                                 call(5, "record", {}) + R"({"jsonrpc":"2.0","id":6,"method":"ping")" + "\n" +
                                 QByteArray(500, '[') + "\n" + request(7, "tools/list"));
        QCOMPARE(errorOf(replies["1"]), -32601);
        QCOMPARE(errorOf(replies["2"]), -32602);
        QCOMPARE(errorOf(replies["3"]), -32022);
        QCOMPARE(replies["3"]["error"].toObject()["data"].toObject()["requested"].toString(), QString("1900-01-01"));
        QCOMPARE(errorOf(replies["4"]), -32602);
        QCOMPARE(errorOf(replies["5"]), -32602);
        QCOMPARE(errorOf(replies["8"]), -32602);
        QCOMPARE(errorOf(replies[""]), -32700);
        QVERIFY(result(replies["7"]).contains("tools"));
    }

    void longRequestIsRefusedAndTheNextAnswered() {
        const auto replies =
            ask(QByteArray(3 << 20, ' ') + "x\n" + QByteArray(3 << 20, 'x') + "\n" + request(1, "tools/list"));
        QCOMPARE(errorOf(replies[""]), -32600);
        QVERIFY(result(replies["1"]).contains("tools"));
    }

    void cancelledCallHasNoReply() {
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", {"mcp", folder_.filePath("served")});
        // Runs until its time limit of 30 s.
        const QString endless =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        QJsonObject with = meta();
        with["progressToken"] = "p";
        process.write(call("slow", "sql", {{"file", "run.sqlite"}, {"query", endless}}, with));
        QByteArray output;
        QTRY_VERIFY_WITH_TIMEOUT((output += process.readAllStandardOutput()).contains("notifications/progress"),
                                 waitMs);
        QVERIFY2(output.contains(R"("progressToken":"p")"), output);
        process.write(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}})"
                      "\n" +
                      request("next", "tools/list") + call("after", "open", {}));
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(waitMs));
        output += process.readAllStandardOutput();
        QVERIFY(output.contains(R"("id":"next")") && output.contains(R"("id":"after")"));
        QVERIFY2(!output.contains(R"("id":"slow")"), output);
    }

    void closedOutputEndsTheServer() {
        QProcess process;
        process.start("/bin/sh", {"-c", "{ \"$0\" mcp \"$1\"; echo ended >&2; } | true",
                                  LANESCOPE_BINARY_DIR "/bin/lanescope", folder_.filePath("served")});
        // Its input stays open.
        QVERIFY(process.waitForFinished(waitMs));
        QCOMPARE(process.readAllStandardError(), QByteArray("ended\n"));
    }

    void runsNeedPermission() {
        const QJsonObject arguments{{"file", "new.sqlite"},
                                    {"program", QJsonArray{"/bin/sh", "-c", "echo hello; exit 3"}}};
        const QJsonObject reply = ask(call(1, "record", arguments), {"--allow-run"}, 1)["1"];
        QVERIFY2(text(reply).contains(R"("exit_status":3)") && text(reply).contains("hello"), text(reply));
        for (const char* name : {"run.sqlite", "../new.sqlite", "none/new.sqlite"}) {
            const QJsonObject refused =
                ask(call(1, "record", {{"file", name}, {"program", QJsonArray{"true"}}}), {"--allow-run"})["1"];
            QVERIFY2(result(refused)["isError"].toBool() && !text(refused).contains("exit_status"), name);
        }
    }

    void daemonOfAProgramDelaysNoReply() {
        const QString program = "LANESCOPE_DISABLE=1 sleep 600 & echo $!";
        const QJsonObject reply =
            ask(call(1, "record", {{"file", "daemon.sqlite"}, {"program", QJsonArray{"/bin/sh", "-c", program}}}),
                {"--allow-run"}, 1)["1"];
        const QByteArray shown = text(reply);
        const auto number = QRegularExpression("\"(\\d+)\"").match(shown);
        // It still runs.
        QVERIFY2(number.hasMatch() && ::kill(number.captured(1).toInt(), SIGKILL) == 0, shown);
        QVERIFY2(shown.contains(R"("exit_status":0)"), shown);
    }

    void folderMustExist() {
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", {"mcp", folder_.filePath("nothing")});
        QVERIFY(process.waitForFinished(waitMs));
        QCOMPARE(process.exitCode(), 2);
        QVERIFY(process.readAllStandardError().contains("nothing: no folder"));
    }
};

LANESCOPE_TEST(tst_McpCommand, QCoreApplication)
#include "tst_McpCommand.moc"
