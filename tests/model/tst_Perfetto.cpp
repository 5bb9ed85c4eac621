// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <zstd.h>

#include "model/importers/events/ProtoCursor.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::protoTrace;

namespace {

std::string pack(const std::string& bytes) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
    return packed;
}

std::string packetOf(const std::string& packed) { return packet(message({{133, packed}})); }

/// Start and end of a range; empty if no range has that name.
TimeRange timesOf(const Trace& trace, std::string_view name) {
    const uint32_t row = torchTrace::rangeCalled(trace, name);
    return row == noIndex ? TimeRange{-1, -1} : TimeRange{trace.nvtx.startNs[row], trace.nvtx.endNs[row]};
}

}  // namespace

using protoTrace::sourceOf;

class tst_Perfetto : public QObject {
    Q_OBJECT

  private slots:
    void torchPerfettoEqualsTorchJson() {
        const TracePtr trace = test::readPerfetto(smallPerfetto());
        QCOMPARE(test::listed(trace->kernels.size(), trace->memcpys.size(), trace->apiCalls.size()), "1 | 1 | 1");
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{512, 2, 1}));
        QCOMPARE(config.registersPerThread, 40u);
        QCOMPARE(test::listed(trace->kernels.startNs[0], trace->kernels.endNs[0]), "400 | 500");
        QCOMPARE(test::listed(trace->memcpys.endNs[0], trace->memcpys.bytes[0]), "600 | 4096");
        QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        QCOMPARE(test::listed(timesOf(*trace, "ProfilerStep#1"), timesOf(*trace, "aten::mm")), "0..2000 | 100..1000");
        const uint32_t op = torchTrace::rangeCalled(*trace, "aten::mm");
        QCOMPARE(trace->strings.at(trace->nvtx.domain[op]), operatorDomain);
        const Thread& thread = trace->threads[trace->nvtx.thread[op]];
        QCOMPARE(test::listed(thread.tid, thread.name, trace->processes[thread.process].name), "4001 | main | python");
    }

    void sliceEndsMayComeInAnyOrder() {
        const auto check = [](const std::vector<std::string>& events) {
            std::string bytes = track(1, 10, 11, "t");
            for (const std::string& each : events) bytes += each;
            const TracePtr trace = test::readPerfetto(bytes);
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
        const TracePtr mixed =
            test::readPerfetto(track(1, 10, 11, "t") + end(1050) + b + c + a + end(1100) + end(1090));
        QCOMPARE(test::listed(timesOf(*mixed, "a"), timesOf(*mixed, "b"), timesOf(*mixed, "c")),
                 "0..100 | 10..50 | 50..90");
    }

    void internedTextsLastUntilTheirWriterRestarts() {
        const auto named = [](uint64_t writer, uint64_t timeNs, const char* text, bool isNew) {
            ProtoWriter content = message({{8, timeNs}, {10, writer}, {13, isNew ? 1u : 2u}});
            if (text != nullptr) content.message(12, message({{2, message({{1, 7}, {2, text}})}}));
            content.message(11, message({{9, 3}, {11, 1}, {10, 7}}));
            return packet(content);
        };
        const TracePtr trace = test::readPerfetto(track(1, 10, 11, "t") + named(1, 10, "first", true) +
                                                  named(2, 11, "other", true) + named(1, 12, nullptr, false) +
                                                  named(1, 13, nullptr, true) + named(2, 14, nullptr, false));
        std::vector<std::string> names;
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row)
            names.emplace_back(trace->strings.at(trace->nvtx.text[row]));
        QCOMPARE(names, (std::vector<std::string>{"first", "other", "first", "", "other"}));
    }

    void timesUseTheirClocks() {
        const auto clock = [](ProtoWriter& snapshot, uint64_t id, uint64_t time, bool isIncremental, uint64_t unitNs) {
            ProtoWriter reading = message({{1, id}, {2, time}});
            if (isIncremental) reading.number(3, 1);
            if (unitNs != 0) reading.number(4, unitNs);
            snapshot.message(1, reading);
        };
        ProtoWriter snapshot;
        clock(snapshot, 6, 5'000'000, false, 0);
        clock(snapshot, 3, 4'000'000, false, 0);
        clock(snapshot, 1, 1'700'000'000'005'000'000, false, 0);
        clock(snapshot, 64, 100, true, 1000);
        std::string bytes = track(1, 10, 11, "t") + packet(message({{10, 1}, {6, snapshot}}));
        const auto mark = [](const char* name, uint64_t time, uint64_t ofClock) {
            ProtoWriter whole = message({{8, time}, {10, 1}});
            if (ofClock != 0) whole.number(58, ofClock);
            whole.message(11, message({{9, 3}, {11, 1}, {23, name}}));
            return packet(whole);
        };
        bytes += mark("boot", 5'000'000, 0) + mark("monotonic", 4'001'000, 3) + mark("one later", 2, 64) +
                 mark("and one more", 3, 64);
        const TracePtr trace = test::readPerfetto(bytes);
        QCOMPARE(test::listed(timesOf(*trace, "boot").startNs, timesOf(*trace, "monotonic").startNs), "0 | 1000");
        QCOMPARE(timesOf(*trace, "one later").startNs, int64_t{2000});
        QCOMPARE(timesOf(*trace, "and one more").startNs, int64_t{5000});
        QCOMPARE(trace->startUtcNs, int64_t{1'700'000'000'005'000'000});
    }

    void differentialCountersAreSummed() {
        const auto describe = [](uint64_t uuid, const char* name, bool isIncremental) {
            ProtoWriter counter = message({{3, 3}, {4, 1024}});
            if (isIncremental) counter.number(5, 1);
            return packet(message({{60, message({{1, uuid}, {5, 9}, {2, name}, {8, counter}})}}));
        };
        const auto value = [](uint64_t uuid, uint64_t timeNs, int64_t number) {
            const ProtoWriter happened = message({{9, 4}, {11, uuid}, {30, static_cast<uint64_t>(number)}});
            return packet(message({{8, timeNs}, {11, happened}}));
        };
        const TracePtr trace =
            test::readPerfetto(track(9, 10, -1, "p") + describe(1, "plain", false) + describe(2, "sum", true) +
                               value(1, 10, 5) + value(2, 10, 5) + value(1, 20, 7) + value(2, 20, -2));
        QCOMPARE(trace->counters.size(), size_t{2});
        for (const CounterSeries& counter : trace->counters) {
            QCOMPARE(test::listed(counter.size(), counter.value(0)), test::listed(2u, 5.0 * 1024));
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
        const TracePtr trace = test::readPerfetto(bytes);
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QVERIFY(call.isValid());
        QCOMPARE(trace->threads[trace->apiCalls.thread[call.row()]].tid, 21u);
    }

    void legacyEventsAreRead() {
        const auto legacy = [](char phase, uint64_t timeNs, const char* name, uint64_t durationUs) {
            ProtoWriter old = message({{2, static_cast<uint64_t>(phase)}});
            if (durationUs > 0) old.number(3, durationUs);
            old.number(6, 33);
            return packet(message({{8, timeNs}, {11, message({{23, name}, {11, 1}, {6, old}})}}));
        };
        const TracePtr trace =
            test::readPerfetto(track(1, 10, 11, "t") + legacy('X', 1000, "whole", 2) + legacy('B', 5000, "parts", 0) +
                               legacy('E', 6000, "parts", 0) + legacy('b', 7000, "loose", 0) +
                               legacy('e', 9000, "loose", 0) + legacy('I', 9500, "mark", 0));
        QCOMPARE(test::listed(timesOf(*trace, "whole"), timesOf(*trace, "parts"), timesOf(*trace, "loose")),
                 "0..2000 | 4000..5000 | 6000..8000");
        QCOMPARE(timesOf(*trace, "mark"), (TimeRange{8500, 8500}));
    }

    void gpuRenderStagesAreReadAsWork() {
        const ProtoWriter launch = message({{1, message({{1, 8}})}, {2, message({{1, 256}})}});
        const ProtoWriter stage = message({{1, 77}, {2, 500}, {11, 2}, {3, 13}, {17, "gemm"}, {21, launch}});
        const TracePtr trace = test::readPerfetto(
            track(1, 10, 11, "t") + trackEvent(1, 1, 1000, "cudaLaunchKernel", {}, {{"correlation", "77"}}) +
            trackEvent(2, 1, 1100) + packet(message({{8, 2000}, {53, stage}})));
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
        const std::string content = packet(message({{50, packed.substr(0, size)}}));
        QCOMPARE(test::readPerfetto(content)->kernels.size(), 1u);
        const TracePtr trace = test::readPerfetto(content + packet(message({{50, "no zlib"}})));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileDamaged));
    }

    void zstdPacketsAreRead() {
        const std::string packed = pack(smallPerfetto());
        const TracePtr trace = test::readPerfetto(packetOf(packed));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(!hasNote(*trace, HealthCode::RowsLeftOut) && !hasNote(*trace, HealthCode::FileDamaged));
        QVERIFY(!hasNote(*trace, HealthCode::NotShown));
        // Two frames are one text, as in zstd's own tool.
        const std::string one = smallPerfetto();
        QCOMPARE(test::readPerfetto(packetOf(pack(one.substr(0, 100)) + pack(one.substr(100))))->kernels.size(), 1u);
        // A first packet longer than the part inspected to detect the format.
        std::mt19937 random(1);
        std::string noise(20'000, ' ');
        for (char& byte : noise) byte = static_cast<char>('a' + random() % 26);
        const std::string large = packetOf(pack(one + packet(message({{60, noise}}))));
        QVERIFY(large.size() > 8192);
        QVERIFY(startsLikePerfetto(std::string_view(large).substr(0, 4096)));
        QVERIFY(!startsLikePerfetto("\x0a\xff\x7f\x12\xff\x7f" + std::string(4000, 'x')));
        // Corruption, truncation, nested frames and endless zeros cost only their own content.
        const std::string rest = smallPerfetto();
        for (const std::string& bad : {std::string("no frame"), packed.substr(0, packed.size() / 2),
                                       pack(packetOf(packed)), pack(std::string(100 << 20, '\0'))}) {
            test::CpuTimer timer;
            QCOMPARE(test::readPerfetto(rest + packetOf(bad))->kernels.size(), 1u);
            QVERIFY(timer.elapsed() < 5'000);
        }
        QVERIFY(hasNote(*test::readPerfetto(rest + packetOf("no frame")), HealthCode::FileDamaged));
    }

    void decompressionIsBounded() {
        const std::string zeros = packetOf(pack(std::string(16 << 20, '\0'))), good = packetOf(pack(smallPerfetto()));
        // If few packets are compressed to overload the reader, all valid ones are read; if many, not.
        for (const uint32_t count : {3u, 600u}) {
            std::string bytes;
            for (uint32_t each = 0; each < count; ++each) bytes += zeros + good;
            const TracePtr trace = test::readPerfetto(bytes);
            QVERIFY(hasNote(*trace, HealthCode::FileDamaged));
            if (count < 10)
                QCOMPARE(trace->kernels.size(), count);
            else
                QVERIFY(trace->kernels.size() > 0 && trace->kernels.size() < count);
        }
    }

    void flowsWithoutEndAreCounted() {
        ProtoWriter event = message({{9, 1}, {11, 1}, {23, "aten::mm"}, {22, "cpu_op"}});
        for (uint64_t flow = 1; flow <= 1000; ++flow) event.number(36, flow);
        const TracePtr trace = test::readPerfetto(track(1, 10, 11, "t") + packet(message({{8, 1000}, {11, event}})) +
                                                  trackEvent(2, 1, 2000));
        QCOMPARE(trace->nvtx.size(), 1u);
        const std::string_view sentence = "Not shown here: 1,000 ends of flow events.";
        QCOMPARE(std::ranges::count(trace->health, sentence, &HealthNote::sentence), 1);
    }

    void truncatedAndOpenSlicesAreReported() {
        const std::string whole = track(1, 10, 11, "t") + trackEvent(1, 1, 10, "open") +
                                  trackEvent(1, 1, 20, "closed") + trackEvent(2, 1, 30) + trackEvent(3, 1, 50, "last");
        const TracePtr trace = test::readPerfetto(whole);
        QCOMPARE(timesOf(*trace, "open"), (TimeRange{0, 40}));
        QCOMPARE(timesOf(*trace, "closed"), (TimeRange{10, 20}));
        QVERIFY(hasNote(*trace, HealthCode::NvtxUnmatched) && !hasNote(*trace, HealthCode::FileCut));
        QVERIFY(hasNote(*test::readPerfetto(whole.substr(0, whole.size() - 3)), HealthCode::FileCut));
        QVERIFY(
            hasNote(*test::readPerfetto(whole + trackEvent(2, 1, 60) + trackEvent(2, 1, 70)), HealthCode::RowsLeftOut));
    }

    void fieldsRoundTrip() {
        ProtoWriter message;
        message.number(1, 0);
        message.signedNumber(536870911, -1);
        message.fixed(2, 0x0102030405060708u);
        message.real(3, -2.5);
        message.bytes(4, "text");
        message.message(5, protoTrace::message({{1, 300}}));
        ProtoCursor cursor(message.bytes());
        ProtoField field;
        QVERIFY(cursor.next(field) && field.number == 1 && field.isNumber() && field.value == 0);
        QVERIFY(cursor.next(field) && field.number == 536870911 && field.signedValue() == -1);
        QVERIFY(cursor.next(field) && field.value == 0x0102030405060708u);
        QVERIFY(cursor.next(field) && field.real() == -2.5 && cursor.next(field) && field.bytes == "text");
        QVERIFY(cursor.next(field) && field.isBytes());
        ProtoCursor within(field.bytes);
        QVERIFY(within.next(field) && field.value == 300 && !within.next(field) && !within.isMalformed());
        QVERIFY(!cursor.next(field) && !cursor.isMalformed());
        // The same list, unpacked and packed.
        int sum = 0;
        ProtoCursor list(std::string_view("\x08\x02\x0a\x03\x01\x02\x03", 7));
        while (list.next(field))
            QVERIFY(ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint,
                                               [&sum](uint64_t value) { sum += int(value); }));
        QCOMPARE(sum, 8);
    }

    void invalidFieldEndsTheMessage_data() {
        test::rows<QByteArray>("bytes",
                               {{"a field without a number", QByteArray("\x02\x00", 2)},
                                {"a group", QByteArray("\x0b\x0c", 2)},
                                {"an unknown wire", QByteArray("\x0f\x01", 2)},
                                {"a number that never ends", QByteArray(1000, '\xff')},
                                {"a length beyond the end", QByteArray("\x0a\x05"
                                                                       "abc",
                                                                       5)},
                                {"the greatest length", QByteArray("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)},
                                {"half a number", QByteArray("\x08\x80", 2)},
                                {"half a double", QByteArray("\x09\x00\x00\x00", 4)},
                                {"only a key", QByteArray("\x08", 1)}});
    }
    void invalidFieldEndsTheMessage() {
        QFETCH(QByteArray, bytes);
        ProtoCursor cursor(std::string_view(bytes.data(), static_cast<size_t>(bytes.size())));
        ProtoField field;
        QVERIFY(!cursor.next(field) && cursor.isMalformed() && !cursor.next(field));
    }

    void streamFieldsAreIndependentOfReadSize() {
        ProtoWriter message;
        std::mt19937 random(7);
        std::vector<std::string> texts;
        for (int i = 0; i < 500; ++i) {
            message.number(2, random());
            texts.emplace_back(random() % (i % 100 == 0 ? 300'000 : 200), static_cast<char>('a' + i % 26));
            message.bytes(1, texts.back());
            message.fixed(3, random());
        }
        for (const size_t atOnce : {size_t{1}, size_t{7}, size_t{4096}, size_t{1} << 20}) {
            const ByteSource source = sourceOf(message.bytes(), atOnce);
            ProtoStream stream(source, nullptr, 1 << 20, uint64_t{1} << 40);
            size_t text = 0, numbers = 0;
            for (ProtoField field; stream.next(field);) {
                if (field.number == 1) QVERIFY(field.bytes == texts[text++]);
                if (field.number != 1) ++numbers;
            }
            QCOMPARE(test::listed(text, numbers), test::listed(texts.size(), 1000));
            QVERIFY(stream.end() == ProtoStream::End::Complete);
            QCOMPARE(stream.bytesRead(), message.bytes().size());
        }
    }

    void lengthBeyondTheEndAllocatesNothing() {
        // Claims a gigabyte where a hundred bytes exist.
        std::string bytes("\x0a\x80\x80\x80\x80\x04", 6);
        bytes += std::string(100, 'x');
        const ByteSource source = sourceOf(bytes);
        LargeMemory memory;
        ProtoStream stream(source, &memory, uint64_t{1} << 31, uint64_t{1} << 40);
        ProtoField field;
        QVERIFY(!stream.next(field) && stream.end() == ProtoStream::End::Truncated);
        QVERIFY(memory.ownBytes() + memory.fileBytes() < size_t{1} << 20);
    }

    void truncatedOrFailedStreamIsReported() {
        const auto endOf = [](std::string bytes) {
            const ByteSource source = sourceOf(std::move(bytes));
            ProtoStream stream(source, nullptr, 1000, uint64_t{1} << 40);
            for (ProtoField field; stream.next(field);) {
            }
            return stream.end();
        };
        const std::string whole = message({{1, "whole"}}).bytes();
        QVERIFY(endOf(whole) == ProtoStream::End::Complete);
        QVERIFY(endOf(whole.substr(0, whole.size() - 1)) == ProtoStream::End::Truncated);
        QVERIFY(endOf(whole + "\x0a") == ProtoStream::End::Truncated);
        QVERIFY(endOf(whole + "\x0b") == ProtoStream::End::Malformed);
        QVERIFY(endOf(whole + std::string("\x0a\xe9\x07", 3) + std::string(2000, 'x')) == ProtoStream::End::Malformed);
    }

    void randomBytesAreHarmless() {
        std::mt19937 random(11);
        std::string whole = protoTrace::smallXplane();
        for (int kind = 0; kind < 2; ++kind) {
            for (int i = 0; i < 200; ++i) {
                std::string damaged = whole;
                for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
                    damaged[random() % damaged.size()] = static_cast<char>(random());
                if (random() % 3 == 0) damaged.resize(random() % damaged.size());
                if (damaged.empty()) continue;
                TraceBuilder builder;
                const ByteSource source = sourceOf(damaged);
                const auto none = [] { return 0.0; };
                QVERIFY(kind == 0 ? readXplaneTrace(source, builder, none, {})
                                  : readPerfettoTrace(source, builder, none, {}));
                QVERIFY(builder.finish());
            }
            whole = protoTrace::smallPerfetto();
        }
    }

    void manyNumbersAndDeepNestingAreHarmless() {
        const auto none = [] { return 0.0; };
        // Arguments nested far deeper than sensible; lists of endless numbers.
        std::string deep = "\x32\x01x";
        for (int depth = 0; depth < 10'000; ++depth) {
            deep = message({{12, deep}}).bytes();
            if (deep.size() > 60'000) break;
        }
        ProtoWriter event = message({{9, 1}, {4, deep}});
        for (const uint32_t list : {3u, 12u, 31u, 36u, 47u, 46u}) event.bytes(list, std::string(500'000, '\x01'));
        TraceBuilder first;
        QVERIFY(readPerfettoTrace(sourceOf(packet(message({{8, 5}, {11, event}}))), first, none, {}));
        QVERIFY(first.finish());
        // Entries of two bytes: lines, names, stats.
        std::string entries = message({{2, "/host:CPU"}}).bytes();
        for (int i = 0; i < 200'000; ++i) entries += std::string("\x1a\x00\x22\x00\x2a\x00\x32\x00", 8);
        TraceBuilder second;
        QVERIFY(readXplaneTrace(sourceOf(message({{1, entries}}).bytes()), second, none, {}));
        QVERIFY(second.finish());
    }
};

LANESCOPE_TEST(tst_Perfetto, NoApplication)
#include "tst_Perfetto.moc"
