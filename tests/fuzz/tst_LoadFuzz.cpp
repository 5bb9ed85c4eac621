// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/lod/reduceToPixels.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr int64_t maxLoadMs = 20'000;

/// Positions of nonzero bytes; most of a small SQLite file is zeros.
std::vector<size_t> livePositions(const std::string& bytes) {
    std::vector<size_t> positions;
    for (size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] != '\0') positions.push_back(i);
    return positions;
}

/// Uses a trace like the viewer; a sanitizer detects accesses out of range.
bool isUsable(const Trace& trace) {
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes) {
            for (uint32_t i = 0; i < lane.size(); ++i) {
                if (lane.endNs(i) < lane.startNs[i]) return false;
                if (i > 0 && lane.startNs[i] < lane.endNs(i - 1)) return false;
                if (lane.event[i].isValid() && !trace.locate(lane.event[i]).isValid()) return false;
            }
            if (reduceToPixels(lane, trace.range, 300).size() > 600) return false;
            for (uint32_t i = 0; i < lane.size(); i += 17) describe(trace, lane.event[i]);
        }
    return true;
}

}  // namespace

class tst_LoadFuzz : public QObject {
    Q_OBJECT

  private slots:
    void flippedBytesAreHarmless() {
        flip(simulated(), 1, 300);
        // The fuzzing is useful only if both happen.
        QVERIFY(opened_ > 20);
        QVERIFY(refused_ > 20);
    }

    void overwrittenRangesAreHarmless() {
        const std::string bytes = simulated();
        std::mt19937 random(2);
        std::uniform_int_distribution<size_t> position(100, bytes.size() - 1);
        std::uniform_int_distribution<size_t> length(1, 6000);
        for (int round = 0; round < 100; ++round) {
            std::string broken = bytes;
            // Copies a part of the file over another.
            const size_t from = position(random);
            const size_t to = position(random);
            const size_t count = std::min({length(random), bytes.size() - from, bytes.size() - to});
            broken.replace(to, count, bytes, from, count);
            check(broken);
            if (QTest::currentTestFailed()) qFatal("round %d", round);
        }
    }

    void flippedBytesInRealExportsAreHarmless() {
        const auto files = sampleExports();
        if (files.empty()) QSKIP("LANESCOPE_TEST_DATA names no folder with exports.");
        uint32_t seed = 100;
        for (const auto& file : files) flip(contentOf(file), seed++, 40);
    }

  private:
    void check(const std::string& bytes) {
        put(folder_ / "broken", bytes);
        QElapsedTimer timer;
        timer.start();
        const Result<TracePtr> trace = loadTrace(folder_ / "broken");
        QVERIFY(timer.elapsed() < maxLoadMs);
        trace ? ++opened_ : ++refused_;
        if (trace)
            QVERIFY(isUsable(**trace));
        else
            QVERIFY(!trace.error().sentence.empty());
    }
    void flip(const std::string& bytes, uint32_t seed, int rounds) {
        const std::vector<size_t> positions = livePositions(bytes);
        std::mt19937 random(seed);
        std::uniform_int_distribution<size_t> position(0, positions.size() - 1);
        std::uniform_int_distribution<int> value(0, 255);
        std::uniform_int_distribution<int> count(1, 24);
        for (int round = 0; round < rounds; ++round) {
            std::string broken = bytes;
            for (int i = count(random); i > 0; --i)
                broken[positions[position(random)]] = static_cast<char>(value(random));
            check(broken);
            if (QTest::currentTestFailed()) qFatal("seed %u, round %d", seed, round);
        }
    }
    std::string simulated() {
        const auto path = folder_ / "whole";
        if (!std::filesystem::exists(path) &&
            !writeTraceFile(*simulatedTraining({.steps = 2, .layers = 4, .ncclPlugin = true}), path))
            qFatal("The trace could not be written.");
        return contentOf(path);
    }

    TemporaryFolder folder_;
    int opened_ = 0;
    int refused_ = 0;
};

LANESCOPE_TEST(tst_LoadFuzz, NoApplication)
#include "tst_LoadFuzz.moc"
