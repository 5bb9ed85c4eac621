// SPDX-License-Identifier: Apache-2.0
#include "model/compare/trackPairs.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::compare;

namespace {

/// One GPU with a stream for each id, each with a kernel.
TracePtr withStreams(std::initializer_list<int64_t> streamIds) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    int64_t nowNs = 0;
    for (const int64_t id : streamIds) {
        builder.addKernel(builder.addStream(0, gpu, id), "gemm", nowNs, nowNs + 100);
        nowNs += 200;
    }
    return builder.finish();
}

std::string titleOf(const Trace& trace, uint32_t track) { return track == noIndex ? "-" : trace.tracks[track].title; }

std::vector<std::string> titles(const Trace& baseline, const Trace& candidate) {
    std::vector<std::string> lines;
    for (const TrackPair& pair : pairTracks(baseline, candidate)) {
        lines.push_back(titleOf(baseline, pair.baseline) + " = " + titleOf(candidate, pair.candidate));
    }
    return lines;
}

bool contains(const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// Checks that every track occurs once, in order on both sides.
void checkOrder(const Trace& baseline, const Trace& candidate) {
    uint32_t nextBaseline = 0, nextCandidate = 0;
    for (const TrackPair& pair : pairTracks(baseline, candidate)) {
        if (pair.baseline != noIndex) QCOMPARE(pair.baseline, nextBaseline++);
        if (pair.candidate != noIndex) QCOMPARE(pair.candidate, nextCandidate++);
    }
    QCOMPARE(size_t{nextBaseline}, baseline.tracks.size());
    QCOMPARE(size_t{nextCandidate}, candidate.tracks.size());
}

}  // namespace

class TestTrackPairs : public QObject {
    Q_OBJECT
  private slots:
    void traceIsPairedWithItself() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        for (const TrackPair& pair : pairTracks(*trace, *trace)) QCOMPARE(pair.baseline, pair.candidate);
        checkOrder(*trace, *trace);
    }

    void extraGpusAreUnpaired() {
        const TracePtr one = simulatedTraining({.steps = 2, .gpuCount = 1});
        const TracePtr two = simulatedTraining({.steps = 2, .gpuCount = 2});
        checkOrder(*one, *two);
        checkOrder(*two, *one);
        QVERIFY(contains(titles(*one, *two), "GPU 0 = GPU 0"));
        QVERIFY(contains(titles(*one, *two), "- = GPU 1"));
    }

    void streamsArePairedByNumberAndThenByPlace() {
        const TracePtr a = withStreams({7, 13, 20});
        const TracePtr b = withStreams({7, 14, 20});
        checkOrder(*a, *b);
        const auto lines = titles(*a, *b);
        QVERIFY(contains(lines, "Compute, stream 7 = Compute, stream 7"));
        QVERIFY(contains(lines, "Compute, stream 20 = Compute, stream 20"));
        QVERIFY(contains(lines, "Compute, stream 13 = Compute, stream 14"));
    }

    void streamOfOneRunIsUnpaired() {
        const auto lines = titles(*withStreams({7, 20}), *withStreams({7, 13, 20}));
        QVERIFY(contains(lines, "- = Compute, stream 13"));
        QVERIFY(contains(lines, "Compute, stream 20 = Compute, stream 20"));
    }

    void emptyTraceHasNoPairs() {
        const TracePtr empty = SimulatedTrace().finish();
        const TracePtr some = withStreams({7});
        checkOrder(*empty, *some);
        checkOrder(*some, *empty);
    }
};

LANESCOPE_TEST(TestTrackPairs, NoApplication)
#include "tst_trackPairs.moc"
