// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "model/export/chromeTrace.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

QJsonArray eventsOf(const Trace& trace) {
    QByteArray text;
    writeChromeTrace(trace, [&text](std::string_view piece) {
        text.append(piece.data(), static_cast<qsizetype>(piece.size()));
        return true;
    });
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(text, &error);
    if (error.error != QJsonParseError::NoError) return {};
    return document.object()["traceEvents"].toArray();
}

QList<QJsonObject> ofPhase(const QJsonArray& events, const QString& phase) {
    QList<QJsonObject> found;
    for (const QJsonValue& event : events)
        if (event.toObject()["ph"].toString() == phase) found.append(event.toObject());
    return found;
}

}  // namespace

class TestChromeTrace : public QObject {
    Q_OBJECT

  private slots:
    void holdsEveryEventWithItsTimeToTheNanosecond() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.launch(thread, builder.defaultStream(), "gemm", 1'001, 10'007, 20'010);
        builder.addNvtx(thread, "a \"step\"\n\xff", 0, 30'000);
        builder.addNvtx(thread, "load", 0, 30'000, NvtxStyle::StartEnd);
        builder.addNvtx(thread, "here", 7, 7, NvtxStyle::Mark);
        builder.addMemset(0, 64, 40'000, 40'001);
        const QJsonArray events = eventsOf(*builder.finish());
        QCOMPARE(ofPhase(events, "X").size(), 4);
        QCOMPARE(ofPhase(events, "i").size(), 1);
        QCOMPARE(ofPhase(events, "b").size(), 1);
        QCOMPARE(ofPhase(events, "e").size(), 1);
        for (const QJsonObject& slice : ofPhase(events, "X")) {
            if (slice["cat"].toString() != "kernel") continue;
            QCOMPARE(slice["ts"].toDouble(), 10.007);
            QCOMPARE(slice["dur"].toDouble(), 10.003);
            QCOMPARE(slice["args"].toObject()["grid"].toArray()[0].toInt(), 256);
        }
    }

    void arrowsLeadFromTheCallToItsKernel() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.launch(thread, builder.defaultStream(), "gemm", 1'000, 10'000, 20'000);
        builder.addKernel(builder.defaultStream(), "alone", 30'000, 31'000);
        const QJsonArray events = eventsOf(*builder.finish());
        QCOMPARE(ofPhase(events, "s").size(), 1);
        QCOMPARE(ofPhase(events, "f").size(), 1);
        const QJsonObject start = ofPhase(events, "s")[0], finish = ofPhase(events, "f")[0];
        QCOMPARE(start["id"], finish["id"]);
        QCOMPARE(start["pid"].toInt(), 4242);
        QVERIFY(finish["pid"].toInteger() > 4242);
        QCOMPARE(finish["ts"].toDouble(), 10.0);
    }

    void aWholeTrainingRunIsValidJson() {
        const TracePtr trace = simulatedTraining();
        const QJsonArray events = eventsOf(*trace);
        const auto slices = static_cast<qsizetype>(trace->kernels.size() + trace->memcpys.size() +
                                                   trace->memsets.size() + trace->apiCalls.size());
        QVERIFY(ofPhase(events, "X").size() >= slices);
    }

    void slicesOfOneRowNeverOverlapPartially() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.addKernel(stream, "first", 0, 100);
        builder.addKernel(stream, "launched early", 90, 200);
        builder.addKernel(stream, "inside", 95, 98);
        builder.addMemset(stream, 64, 200, 300);
        builder.addNvtx(thread, "outer", 0, 100);
        builder.addNvtx(thread, "inner", 10, 100);
        builder.addNvtx(thread, "crosses", 50, 150);
        const QJsonArray events = eventsOf(*builder.finish());
        const QList<QJsonObject> slices = ofPhase(events, "X");
        QCOMPARE(slices.size(), 7);
        for (const QJsonObject& a : slices)
            for (const QJsonObject& b : slices) {
                if (a["pid"] != b["pid"] || a["tid"] != b["tid"] || a == b) continue;
                const double aEnd = a["ts"].toDouble() + a["dur"].toDouble();
                const double bEnd = b["ts"].toDouble() + b["dur"].toDouble();
                const bool isCrossing = a["ts"].toDouble() < b["ts"].toDouble() &&
                                        b["ts"].toDouble() < aEnd - 1e-4 && bEnd > aEnd + 1e-4;
                QVERIFY(!isCrossing);
                if (a["cat"].toString() == "kernel" && b["cat"].toString() == "kernel")
                    QVERIFY(a["ts"].toDouble() >= bEnd - 1e-4 || b["ts"].toDouble() >= aEnd - 1e-4);
            }
        QStringList names;
        for (const QJsonObject& event : ofPhase(events, "M"))
            names << event["args"].toObject()["name"].toString();
        for (const char* part : {"Stream 7, PID", "Stream 7 (2), PID", "Stream 7 (3), PID"})
            QVERIFY2(!names.filter(part).isEmpty(), qPrintable(names.join("; ")));
        QVERIFY2(!names.filter("PID 4242)").isEmpty(), qPrintable(names.join("; ")));
    }

    void stopsOnceNobodyListens() {
        const TracePtr trace = simulatedTraining({.steps = 20});
        int pieces = 0;
        writeChromeTrace(*trace, [&pieces](std::string_view) {
            ++pieces;
            return false;
        });
        QCOMPARE(pieces, 1);
    }
};

LANESCOPE_TEST(TestChromeTrace, NoApplication)
#include "tst_ChromeTrace.moc"
