// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/lod/reduceToPixels.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/fuzz/sealIndex.h"
#include "tests/fuzz/useTrace.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using lanescope::fuzz::sealIndex;
using lanescope::fuzz::useSums;
using lanescope::fuzz::useTrace;

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

constexpr SourceKey source{1, 2, 3};

}  // namespace

class tst_LoadFuzz : public QObject {
    Q_OBJECT

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
        std::uniform_int_distribution<int> value(0, 255), count(1, 24);
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
    int opened_ = 0, refused_ = 0;

    void checkIndex(const std::string& bytes) {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
        const TracePtr trace = readIndex(path_, source, "trace");
        trace ? ++openedIndexes_ : ++refusedIndexes_;
        if (trace) useTrace(*trace);
    }
    std::filesystem::path path_;
    std::string training_, memory_;
    int openedIndexes_ = 0, refusedIndexes_ = 0;

  private slots:
    void initTestCase() {
        path_ = folder_ / "index";
        QVERIFY(writeIndex(*simulatedTraining({.steps = 12, .ncclPlugin = true}), source, path_).has_value());
        training_ = contentOf(path_);
        QVERIFY(writeIndex(*simulatedMemory(), source, path_).has_value());
        memory_ = contentOf(path_);
    }

    void flippedBytesAreHarmless() {
        flip(simulated(), 1, 300);
        // The fuzzing is useful only if both happen.
        QVERIFY(opened_ > 20);
        QVERIFY(refused_ > 20);
    }

    void overwrittenRangesAreHarmless() {
        const std::string bytes = simulated();
        std::mt19937 random(2);
        std::uniform_int_distribution<size_t> position(100, bytes.size() - 1), length(1, 6000);
        for (int round = 0; round < 100; ++round) {
            std::string broken = bytes;
            // Copies a part of the file over another.
            const size_t from = position(random), to = position(random);
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

    /// Only long lanes have sums.
    void brokenSumsAreHarmless() {
        std::mt19937 random(4);
        QVERIFY(writeIndex(*simulatedTraining({.steps = 80}), source, path_).has_value());
        const std::string whole = contentOf(path_);
        for (int round = 0; round < 60; ++round) {
            std::string broken = whole;
            for (int i = 0; i < 200; ++i)
                broken[sizeof(IndexHeader) + random() % (broken.size() - sizeof(IndexHeader))] =
                    static_cast<char>(random());
            sealIndex(broken);
            std::ofstream(path_, std::ios::binary) << broken;
            if (const auto trace = readIndex(path_, source, "trace")) useSums(*trace);
        }
    }

    void flippedBytesAreRefusedOrHarmless() {
        std::mt19937 random(1);
        for (int round = 0; round < 200; ++round) {
            std::string broken = round % 2 == 0 ? training_ : memory_;
            for (int i = 0; i < 8; ++i) broken[random() % broken.size()] = static_cast<char>(random());
            checkIndex(broken);
        }
    }

    void fieldsWithValidChecksumsAreHarmless() {
        std::mt19937 random(2);
        for (int round = 0; round < 400; ++round) {
            std::string broken = round % 2 == 0 ? training_ : memory_;
            IndexHeader header;
            std::memcpy(&header, broken.data(), sizeof header);
            IndexSection section;
            std::memcpy(&section, broken.data() + header.sectionsOffset, sizeof section);
            for (int i = 0; i < 3; ++i) {
                const size_t at = section.offset + random() % section.bytes;
                broken[at] = static_cast<char>(random());
            }
            sealIndex(broken);
            checkIndex(broken);
        }
        QVERIFY(openedIndexes_ > 20);
        QVERIFY(refusedIndexes_ > 20);
    }

    void columnsOfNoiseAreHarmless() {
        std::mt19937 random(3);
        for (int round = 0; round < 60; ++round) {
            std::string broken = round % 2 == 0 ? training_ : memory_;
            IndexHeader header;
            std::memcpy(&header, broken.data(), sizeof header);
            IndexSection section;
            std::memcpy(&section, broken.data() + header.sectionsOffset, sizeof section);
            // Everything before the fields is columns.
            const size_t share = size_t{1} << random() % 8;
            for (size_t at = sizeof header; at < section.offset; ++at)
                if (random() % share == 0) broken[at] = static_cast<char>(random());
            sealIndex(broken);
            checkIndex(broken);
        }
    }

    void timesOutOfRangeAreRefused() {
        const auto isRefused = [this](const std::function<void(Trace&)>& breakIt) {
            SimulatedTrace builder;
            builder.addApi(builder.defaultThread(), "cudaMalloc", 10, 20);
            const TracePtr finished = builder.finish();
            Trace& trace = forged(finished);
            trace.interconnect.sampledRanges = {{"step", 0, 0, {1, 2}, {0, 1}, {2, 3}}};
            trace.processes[0].windows = {{0, 1}, {2, int64_t{1} << 62}};
            trace.processes[0].gaps = {{Loss::NvtxCalls, {3, 4}, 1}};
            trace.tracks[0].unrecorded.edit() = {{5, 6}};
            trace.counters.emplace_back().set({1}, {2}, 3);
            trace.counterRows.push_back(0);
            breakIt(trace);
            if (!writeIndex(trace, source, path_)) qFatal("no index");
            return readIndex(path_, source, "trace") == nullptr;
        };
        QVERIFY(!isRefused([](Trace&) {}));
        const TimeRange bad[]{{INT64_MIN, 0}, {0, INT64_MAX}, {INT64_MIN, INT64_MAX}, {10, 9}};
        for (const TimeRange range : bad) {
            QVERIFY(isRefused([range](Trace& trace) { trace.range = range; }));
            QVERIFY(isRefused([range](Trace& trace) { trace.processes[0].range = range; }));
            QVERIFY(isRefused([range](Trace& trace) { trace.processes[0].windows[1] = range; }));
            QVERIFY(isRefused([range](Trace& trace) { trace.processes[0].gaps[0].range = range; }));
            QVERIFY(isRefused([range](Trace& trace) { trace.tracks[0].unrecorded.edit()[0] = range; }));
            QVERIFY(isRefused([range](Trace& trace) { trace.tracks[0].lossy.edit() = {range}; }));
            for (TimeRange SampledRange::*member :
                 {&SampledRange::range, &SampledRange::startReading, &SampledRange::endReading})
                QVERIFY(
                    isRefused([range, member](Trace& trace) { trace.interconnect.sampledRanges[0].*member = range; }));
        }
        QVERIFY(isRefused([](Trace& trace) { trace.counters.back().set({1}, {2}, INT64_MAX); }));
        QVERIFY(isRefused([](Trace& trace) { trace.interconnect.gpuProcesses = {{INT64_MAX, 0, 0, "", 0, 0}}; }));
    }

    void truncatedFilesAreRefused() {
        for (size_t bytes = 0; bytes < training_.size(); bytes += 1 + training_.size() / 50) {
            const int refused = refusedIndexes_;
            checkIndex(training_.substr(0, bytes));
            QCOMPARE(refusedIndexes_, refused + 1);
        }
    }
};

LANESCOPE_TEST(tst_LoadFuzz, NoApplication)
#include "tst_LoadFuzz.moc"
