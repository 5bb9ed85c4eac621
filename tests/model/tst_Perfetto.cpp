// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <zstd.h>

#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/notes.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::protoTrace;

namespace {

TracePtr loaded(const std::string& bytes) {
    TraceBuilder builder;
    builder.setPath("run.pftrace");
    if (!readPerfettoTrace(sourceOf(bytes), builder, [] { return 0.0; }, {}) || !builder.finish()) qFatal("not read");
    return builder.take();
}

/// Start and end of a range; empty if no range has that name.
TimeRange timesOf(const Trace& trace, std::string_view name) {
    const uint32_t row = torchTrace::rangeCalled(trace, name);
    return row == noIndex ? TimeRange{-1, -1} : TimeRange{trace.nvtx.startNs[row], trace.nvtx.endNs[row]};
}

}  // namespace

class tst_Perfetto : public QObject {
    Q_OBJECT

  private slots:
    void torchPerfettoEqualsTorchJson() {
        const TracePtr trace = loaded(smallPerfetto());
        QCOMPARE(trace->kernels.size(), 1u);
        QCOMPARE(trace->memcpys.size(), 1u);
        QCOMPARE(trace->apiCalls.size(), 1u);
        const LaunchConfig& config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{512, 2, 1}));
        QCOMPARE(config.registersPerThread, 40u);
        QCOMPARE(trace->kernels.startNs[0], int64_t{400});
        QCOMPARE(trace->kernels.endNs[0], int64_t{500});
        QCOMPARE(trace->memcpys.endNs[0], int64_t{600});
        QCOMPARE(trace->memcpys.bytes[0], int64_t{4096});
        QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        QCOMPARE(timesOf(*trace, "ProfilerStep#1"), (TimeRange{0, 2000}));
        QCOMPARE(timesOf(*trace, "aten::mm"), (TimeRange{100, 1000}));
        const uint32_t op = torchTrace::rangeCalled(*trace, "aten::mm");
        QCOMPARE(trace->strings.at(trace->nvtx.domain[op]), operatorDomain);
        QCOMPARE(trace->threads[trace->nvtx.thread[op]].tid, 4001u);
        QCOMPARE(trace->threads[trace->nvtx.thread[op]].name, std::string("main"));
        QCOMPARE(trace->processes[trace->threads[trace->nvtx.thread[op]].process].name, std::string("python"));
    }

    void sliceEndsMayComeInAnyOrder() {
        const auto check = [](const std::vector<std::string>& events) {
            std::string bytes = track(1, 10, 11, "t");
            for (const std::string& each : events) bytes += each;
            const TracePtr trace = loaded(bytes);
            return timesOf(*trace, "a") == TimeRange{0, 100} && timesOf(*trace, "b") == TimeRange{10, 50} &&
                   timesOf(*trace, "c") == TimeRange{50, 90} && timesOf(*trace, "d") == TimeRange{90, 90} &&
                   !hasNote(*trace, HealthCode::RowsLeftOut) && !hasNote(*trace, HealthCode::FileDamaged);
        };
        const std::string a = trackEvent(1, 1, 1000, "a"), b = trackEvent(1, 1, 1010, "b"),
                          c = trackEvent(1, 1, 1050, "c"), d = trackEvent(1, 1, 1090, "d");
        const auto end = [](uint64_t timeNs) { return trackEvent(2, 1, timeNs); };
        // In time order, each with its end, all beginnings first, reversed, and shuffled.
        QVERIFY(check({a, b, end(1050), c, end(1090), d, end(1090), end(1100)}));
        QVERIFY(check({a, end(1100), b, end(1050), c, end(1090), d, end(1090)}));
        QVERIFY(check({a, b, c, d, end(1100), end(1050), end(1090), end(1090)}));
        QVERIFY(check({d, end(1090), c, end(1090), b, end(1050), a, end(1100)}));
        const TracePtr mixed = loaded(track(1, 10, 11, "t") + end(1050) + b + c + a + end(1100) + end(1090));
        QCOMPARE(timesOf(*mixed, "a"), (TimeRange{0, 100}));
        QCOMPARE(timesOf(*mixed, "b"), (TimeRange{10, 50}));
        QCOMPARE(timesOf(*mixed, "c"), (TimeRange{50, 90}));
    }

    void internedTextsLastUntilTheirWriterRestarts() {
        const auto named = [](uint64_t writer, uint64_t timeNs, const char* text, bool isNew) {
            ProtoWriter content, happened;
            content.number(8, timeNs);
            content.number(10, writer);
            content.number(13, isNew ? 1 : 2);
            if (text != nullptr) {
                ProtoWriter entry, interned;
                entry.number(1, 7);
                entry.bytes(2, text);
                interned.message(2, entry);
                content.message(12, interned);
            }
            happened.number(9, 3);
            happened.number(11, 1);
            happened.number(10, 7);
            content.message(11, happened);
            return packet(content);
        };
        const TracePtr trace =
            loaded(track(1, 10, 11, "t") + named(1, 10, "first", true) + named(2, 11, "other", true) +
                   named(1, 12, nullptr, false) + named(1, 13, nullptr, true) + named(2, 14, nullptr, false));
        std::vector<std::string> names;
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row)
            names.emplace_back(trace->strings.at(trace->nvtx.text[row]));
        QCOMPARE(names, (std::vector<std::string>{"first", "other", "first", "", "other"}));
    }

    void timesUseTheirClocks() {
        const auto clock = [](ProtoWriter& snapshot, uint64_t id, uint64_t time, bool isIncremental, uint64_t unitNs) {
            ProtoWriter reading;
            reading.number(1, id);
            reading.number(2, time);
            if (isIncremental) reading.number(3, 1);
            if (unitNs != 0) reading.number(4, unitNs);
            snapshot.message(1, reading);
        };
        ProtoWriter snapshot, content, defaults;
        clock(snapshot, 6, 5'000'000, false, 0);
        clock(snapshot, 3, 4'000'000, false, 0);
        clock(snapshot, 1, 1'700'000'000'005'000'000, false, 0);
        clock(snapshot, 64, 100, true, 1000);
        content.number(10, 1);
        content.message(6, snapshot);
        std::string bytes = track(1, 10, 11, "t") + packet(content);
        const auto mark = [](const char* name, uint64_t time, uint64_t ofClock) {
            ProtoWriter happened, whole;
            happened.number(9, 3);
            happened.number(11, 1);
            happened.bytes(23, name);
            whole.number(8, time);
            whole.number(10, 1);
            if (ofClock != 0) whole.number(58, ofClock);
            whole.message(11, happened);
            return packet(whole);
        };
        bytes += mark("boot", 5'000'000, 0) + mark("monotonic", 4'001'000, 3) + mark("one later", 2, 64) +
                 mark("and one more", 3, 64);
        const TracePtr trace = loaded(bytes);
        QCOMPARE(timesOf(*trace, "boot").startNs, int64_t{0});
        QCOMPARE(timesOf(*trace, "monotonic").startNs, int64_t{1000});
        QCOMPARE(timesOf(*trace, "one later").startNs, int64_t{2000});
        QCOMPARE(timesOf(*trace, "and one more").startNs, int64_t{5000});
        QCOMPARE(trace->startUtcNs, int64_t{1'700'000'000'005'000'000});
    }

    void differentialCountersAreSummed() {
        const auto describe = [](uint64_t uuid, const char* name, bool isIncremental) {
            ProtoWriter counter, descriptor, content;
            counter.number(3, 3);
            counter.number(4, 1024);
            if (isIncremental) counter.number(5, 1);
            descriptor.number(1, uuid);
            descriptor.number(5, 9);
            descriptor.bytes(2, name);
            descriptor.message(8, counter);
            content.message(60, descriptor);
            return packet(content);
        };
        const auto value = [](uint64_t uuid, uint64_t timeNs, int64_t number) {
            ProtoWriter happened, content;
            happened.number(9, 4);
            happened.number(11, uuid);
            happened.signedNumber(30, number);
            content.number(8, timeNs);
            content.message(11, happened);
            return packet(content);
        };
        const TracePtr trace = loaded(track(9, 10, -1, "p") + describe(1, "plain", false) + describe(2, "sum", true) +
                                      value(1, 10, 5) + value(2, 10, 5) + value(1, 20, 7) + value(2, 20, -2));
        QCOMPARE(trace->counters.size(), size_t{2});
        for (const CounterSeries& counter : trace->counters) {
            QCOMPARE(counter.size(), 2u);
            QCOMPARE(counter.value(0), 5.0 * 1024);
            QCOMPARE(counter.value(1), counter.name.starts_with("sum") ? 3.0 * 1024 : 7.0 * 1024);
        }
    }

    void flowsJoinEventsWithoutCorrelation() {
        const std::string bytes =
            track(1, 10, 11, "t") + track(2, 20, 21, "t") +
            trackEvent(1, 1, 10, "cudaLaunchKernel", "cuda_runtime", {{"correlation", "5"}}, 901) +
            trackEvent(2, 1, 12) +
            trackEvent(1, 2, 10, "cudaLaunchKernel", "cuda_runtime", {{"correlation", "5"}}, 902) +
            trackEvent(2, 2, 12) +
            trackEvent(1, 3, 20, "k", "kernel", {{"device", "1"}, {"stream", "7"}, {"correlation", "5"}}, 902) +
            trackEvent(2, 3, 30);
        const TracePtr trace = loaded(bytes);
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QVERIFY(call.isValid());
        QCOMPARE(trace->threads[trace->apiCalls.thread[call.row()]].tid, 21u);
    }

    void legacyEventsAreRead() {
        const auto legacy = [](char phase, uint64_t timeNs, const char* name, uint64_t durationUs) {
            ProtoWriter old, happened, content;
            old.number(2, static_cast<uint64_t>(phase));
            if (durationUs > 0) old.number(3, durationUs);
            old.number(6, 33);
            happened.bytes(23, name);
            happened.number(11, 1);
            happened.message(6, old);
            content.number(8, timeNs);
            content.message(11, happened);
            return packet(content);
        };
        const TracePtr trace =
            loaded(track(1, 10, 11, "t") + legacy('X', 1000, "whole", 2) + legacy('B', 5000, "parts", 0) +
                   legacy('E', 6000, "parts", 0) + legacy('b', 7000, "loose", 0) + legacy('e', 9000, "loose", 0) +
                   legacy('I', 9500, "mark", 0));
        QCOMPARE(timesOf(*trace, "whole"), (TimeRange{0, 2000}));
        QCOMPARE(timesOf(*trace, "parts"), (TimeRange{4000, 5000}));
        QCOMPARE(timesOf(*trace, "loose"), (TimeRange{6000, 8000}));
        QCOMPARE(timesOf(*trace, "mark"), (TimeRange{8500, 8500}));
    }

    void gpuRenderStagesAreReadAsWork() {
        ProtoWriter stage, grid, block, launch, content;
        grid.number(1, 8);
        block.number(1, 256);
        launch.message(1, grid);
        launch.message(2, block);
        stage.number(1, 77);
        stage.number(2, 500);
        stage.number(11, 2);
        stage.number(3, 13);
        stage.bytes(17, "gemm");
        stage.message(21, launch);
        content.number(8, 2000);
        content.message(53, stage);
        const TracePtr trace =
            loaded(track(1, 10, 11, "t") + trackEvent(1, 1, 1000, "cudaLaunchKernel", {}, {{"correlation", "77"}}) +
                   trackEvent(2, 1, 1100) + packet(content));
        QCOMPARE(trace->kernels.size(), 1u);
        QCOMPARE(trace->kernels.endNs[0] - trace->kernels.startNs[0], int64_t{500});
        QCOMPARE(trace->gpus[trace->streams[trace->kernels.stream[0]].gpu].id, int64_t{2});
        QCOMPARE(trace->launchConfigs[trace->kernels.config[0]].grid, (std::array<uint32_t, 3>{8, 1, 1}));
        QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
    }

    void compressedPacketsAreRead() {
        const std::string whole = smallPerfetto();
        std::string packed(compressBound(whole.size()), '\0');
        uLongf size = packed.size();
        QCOMPARE(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(whole.data()),
                          whole.size()),
                 Z_OK);
        ProtoWriter content, damaged;
        content.bytes(50, std::string_view(packed).substr(0, size));
        QCOMPARE(loaded(packet(content))->kernels.size(), 1u);
        damaged.bytes(50, "no zlib");
        const TracePtr trace = loaded(packet(content) + packet(damaged));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileDamaged));
    }

    void zstdPacketsAreRead() {
        const auto pack = [](const std::string& bytes) {
            std::string packed(ZSTD_compressBound(bytes.size()), '\0');
            packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
            return packed;
        };
        const auto packetOf = [](std::string_view packed) {
            ProtoWriter content;
            content.bytes(133, packed);
            return packet(content);
        };
        const std::string packed = pack(smallPerfetto());
        const TracePtr trace = loaded(packetOf(packed));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(!hasNote(*trace, HealthCode::RowsLeftOut) && !hasNote(*trace, HealthCode::FileDamaged));
        QVERIFY(!hasNote(*trace, HealthCode::NotShown));
        // Two frames are one text, as in zstd's own tool.
        const std::string one = smallPerfetto();
        QCOMPARE(loaded(packetOf(pack(one.substr(0, 100)) + pack(one.substr(100))))->kernels.size(), 1u);
        // A first packet longer than the part inspected to detect the format.
        std::mt19937 random(1);
        std::string noise(20'000, ' ');
        for (char& byte : noise) byte = static_cast<char>('a' + random() % 26);
        ProtoWriter longName;
        longName.bytes(60, noise);
        const std::string large = packetOf(pack(one + packet(longName)));
        QVERIFY(large.size() > 8192);
        QVERIFY(startsLikePerfetto(std::string_view(large).substr(0, 4096)));
        QVERIFY(!startsLikePerfetto("\x0a\xff\x7f\x12\xff\x7f" + std::string(4000, 'x')));
        // Corruption, truncation, nested frames and endless zeros cost only their own content.
        const std::string rest = smallPerfetto();
        for (const std::string& bad : {std::string("no frame"), packed.substr(0, packed.size() / 2),
                                       pack(packetOf(packed)), pack(std::string(100 << 20, '\0'))}) {
            QElapsedTimer timer;
            timer.start();
            const TracePtr kept = loaded(rest + packetOf(bad));
            QCOMPARE(kept->kernels.size(), 1u);
            QVERIFY(timer.elapsed() < 5'000);
        }
        QVERIFY(hasNote(*loaded(rest + packetOf("no frame")), HealthCode::FileDamaged));
    }

    void decompressionIsBounded() {
        const auto packetOf = [](const std::string& bytes) {
            std::string packed(ZSTD_compressBound(bytes.size()), '\0');
            packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
            ProtoWriter content;
            content.bytes(133, packed);
            return packet(content);
        };
        const std::string zeros = packetOf(std::string(16 << 20, '\0')), good = packetOf(smallPerfetto());
        // If few packets are compressed to overload the reader, all valid ones are read; if many, not.
        for (const uint32_t count : {3u, 600u}) {
            std::string bytes;
            for (uint32_t each = 0; each < count; ++each) bytes += zeros + good;
            const TracePtr trace = loaded(bytes);
            QVERIFY(hasNote(*trace, HealthCode::FileDamaged));
            if (count < 10)
                QCOMPARE(trace->kernels.size(), count);
            else
                QVERIFY(trace->kernels.size() > 0 && trace->kernels.size() < count);
        }
    }

    void flowsWithoutEndAreCounted() {
        ProtoWriter event, content;
        event.number(9, 1);
        event.number(11, 1);
        event.bytes(23, "aten::mm");
        event.bytes(22, "cpu_op");
        for (uint64_t flow = 1; flow <= 1000; ++flow) event.number(36, flow);
        content.number(8, 1000);
        content.message(11, event);
        const TracePtr trace = loaded(track(1, 10, 11, "t") + packet(content) + trackEvent(2, 1, 2000));
        QCOMPARE(trace->nvtx.size(), 1u);
        const auto told = [&trace](std::string_view sentence) {
            for (const HealthNote& note : trace->health)
                if (note.sentence == sentence) return true;
            return false;
        };
        QVERIFY(told("Not shown here: 1,000 ends of flow events."));
    }

    void truncatedAndOpenSlicesAreReported() {
        const std::string whole = track(1, 10, 11, "t") + trackEvent(1, 1, 10, "open") +
                                  trackEvent(1, 1, 20, "closed") + trackEvent(2, 1, 30) + trackEvent(3, 1, 50, "last");
        const TracePtr trace = loaded(whole);
        QCOMPARE(timesOf(*trace, "open"), (TimeRange{0, 40}));
        QCOMPARE(timesOf(*trace, "closed"), (TimeRange{10, 20}));
        QVERIFY(hasNote(*trace, HealthCode::NvtxUnmatched));
        QVERIFY(!hasNote(*trace, HealthCode::FileCut));
        QVERIFY(hasNote(*loaded(whole.substr(0, whole.size() - 3)), HealthCode::FileCut));
        const TracePtr more = loaded(whole + trackEvent(2, 1, 60) + trackEvent(2, 1, 70));
        QVERIFY(hasNote(*more, HealthCode::RowsLeftOut));
    }
};

LANESCOPE_TEST(tst_Perfetto, NoApplication)
#include "tst_Perfetto.moc"
