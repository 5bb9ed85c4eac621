// SPDX-License-Identifier: Apache-2.0
#include "model/lod/reduceToPixels.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t spanNs = 1'000'000;

/// Scattered kernels, calls and ranges on several streams and threads, and copies for counters.
TracePtr randomTrace(std::mt19937& random) {
    SimulatedTrace builder;
    const uint32_t process = builder.addProcess(7, "training");
    const uint32_t gpu = builder.addGpu();
    const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
    for (int64_t stream = 0; stream < 5; ++stream) {
        const uint32_t added = builder.addStream(process, gpu, 7 + stream);
        int64_t timeNs = below(spanNs);
        for (int64_t count = below(4); count >= 0; --count) {
            builder.addKernel(added, "gemm", timeNs, timeNs + below(5'000));
            timeNs += 5'000 + below(spanNs / 2);
        }
    }
    for (uint32_t tid = 0; tid < 3; ++tid) {
        const uint32_t thread = builder.addThread(process, 8 + tid);
        const int64_t timeNs = below(spanNs);
        builder.addApi(thread, "cuLaunchKernel", timeNs, timeNs + below(9'000));
        builder.addNvtx(thread, "step", timeNs + 20'000, timeNs + 20'000 + below(300'000));
    }
    return builder.finish();
}

/// Returns true if no slice of the track or its children lies in the range, by testing all of them.
bool plainIsEmpty(const Trace& trace, size_t wanted, TimeRange range) {
    for (size_t track = wanted; track < trace.tracks.size(); ++track) {
        if (track > wanted && trace.tracks[track].depth <= trace.tracks[wanted].depth) break;
        for (const Lane& lane : trace.tracks[track].lanes)
            for (uint32_t slice = 0; slice < lane.size(); ++slice) {
                const int64_t startNs = lane.startNs[slice];
                const bool isBefore = startNs < range.startNs && lane.endNs(slice) <= range.startNs;
                if (!isBefore && startNs < range.endNs) return false;
            }
    }
    return true;
}

}  // namespace

class tst_emptyTracks : public QObject {
    Q_OBJECT

  private slots:
    void emptyTracksMatchPlainLoop() {
        std::mt19937 random(3);
        int emptyCount = 0;
        for (int round = 0; round < 200; ++round) {
            const TracePtr trace = randomTrace(random);
            const auto startNs = static_cast<int64_t>(random() % spanNs);
            const TimeRange range{startNs, startNs + 1 + static_cast<int64_t>(random() % 200'000)};
            const std::vector<bool> isEmpty = emptyTracks(*trace, range);
            QCOMPARE(isEmpty.size(), trace->tracks.size());
            for (size_t track = 0; track < isEmpty.size(); ++track) {
                QCOMPARE(isEmpty[track], plainIsEmpty(*trace, track, range));
                emptyCount += isEmpty[track];
            }
        }
        QVERIFY(emptyCount > 100);
    }

    void counterIsEmptyWhereZeroOrUnknown() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100'000);
        CounterSeries counter;
        counter.name = "Power";
        counter.key = "power";
        counter.source = "nvml";
        counter.gpu = 0;
        counter.set({10'000, 20'000, 30'000}, {0, 5, 0}, 40'000);
        builder.counter(std::move(counter));
        const TracePtr trace = builder.finish();
        const auto found = std::ranges::find(trace->tracks, TrackKind::Counter, &Track::kind);
        QVERIFY(found != trace->tracks.end());
        const auto track = static_cast<size_t>(found - trace->tracks.begin());
        QVERIFY(emptyTracks(*trace, {0, 10'000})[track]);
        QVERIFY(emptyTracks(*trace, {10'000, 20'000})[track]);
        QVERIFY(!emptyTracks(*trace, {15'000, 21'000})[track]);
        QVERIFY(emptyTracks(*trace, {30'000, 90'000})[track]);
    }

    void unrecordedTimeIsShown() {
        const TimeRange between{40'000, 50'000};
        for (const bool hasWindows : {false, true}) {
            SimulatedTrace builder;
            builder.addKernel(builder.defaultStream(), "gemm", 10'000, 20'000);
            builder.addKernel(builder.defaultStream(), "gemm", 100'000, 110'000);
            if (hasWindows) {
                builder.addWindow(0, 5'000, 30'000);
                builder.addWindow(0, 90'000, 120'000);
            }
            const TracePtr trace = builder.finish();
            const std::vector<bool> isEmpty = emptyTracks(*trace, between);
            int markedCount = 0;
            for (size_t track = 0; track < trace->tracks.size(); ++track) {
                markedCount += trace->tracks[track].unrecorded->empty() ? 0 : 1;
                QCOMPARE(isEmpty[track], !hasWindows);
            }
            QCOMPARE(markedCount > 0, hasWindows);
        }
    }
};

LANESCOPE_TEST(tst_emptyTracks, NoApplication)
#include "tst_emptyTracks.moc"
