// SPDX-License-Identifier: Apache-2.0
#include "model/index/IndexFile.h"
#include "tests/fuzz/sealIndex.h"
#include "tests/fuzz/useTrace.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using lanescope::fuzz::sealIndex;
using lanescope::fuzz::useSums;
using lanescope::fuzz::useTrace;

namespace {

constexpr SourceKey source{1, 2, 3};

}  // namespace

class tst_IndexFuzz : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "index";
        QVERIFY(writeIndex(*simulatedTraining({.steps = 12, .ncclPlugin = true}), source, path_).has_value());
        training_ = contentOf(path_);
        QVERIFY(writeIndex(*simulatedMemory(), source, path_).has_value());
        memory_ = contentOf(path_);
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
            check(broken);
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
            check(broken);
        }
        QVERIFY(opened_ > 20);
        QVERIFY(refused_ > 20);
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
            check(broken);
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
            const int refused = refused_;
            check(training_.substr(0, bytes));
            QCOMPARE(refused_, refused + 1);
        }
    }

  private:
    void check(const std::string& bytes) {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
        const TracePtr trace = readIndex(path_, source, "trace");
        trace ? ++opened_ : ++refused_;
        if (trace) useTrace(*trace);
    }

    TemporaryFolder folder_;
    std::filesystem::path path_;
    std::string training_, memory_;
    int opened_ = 0, refused_ = 0;
};

LANESCOPE_TEST(tst_IndexFuzz, NoApplication)
#include "tst_IndexFuzz.moc"
