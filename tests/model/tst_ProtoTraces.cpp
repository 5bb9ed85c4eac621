// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <fstream>
#include <random>

#include "model/export/perfettoTrace.h"
#include "model/format/perfettoFields.h"
#include "model/format/protoFields.h"
#include "model/load/loadTrace.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;
namespace fs = std::filesystem;
namespace pf = lanescope::perfetto;

namespace {

ProtoMessage named(uint64_t id, std::string_view text) {
    ProtoMessage entry;
    entry.number(1, id);
    entry.text(2, text);
    return entry;
}

std::string packet(const ProtoMessage& message) {
    ProtoMessage whole;
    whole.message(pf::trace::packet, message);
    return whole.bytes();
}

/// A packet with an event of a track at some time.
ProtoMessage eventAt(uint64_t timeNs, const ProtoMessage& event, uint64_t clock = 0) {
    ProtoMessage message;
    message.number(pf::packet::timestamp, timeNs);
    message.number(pf::packet::sequence, 7);
    if (clock != 0) message.number(pf::packet::timestampClock, clock);
    message.message(pf::packet::trackEvent, event);
    return message;
}

TracePtr loaded(const fs::path& path) {
    const Result<TracePtr> trace = loadTrace(path);
    if (!trace) qFatal("%s", trace.error().sentence.c_str());
    return *trace;
}

void write(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string asPerfetto(const Trace& trace) {
    std::string bytes;
    writePerfettoTrace(trace, [&bytes](std::string_view piece) {
        bytes += piece;
        return true;
    });
    return bytes;
}

std::vector<TimeRange> rangesOf(const KernelTable& kernels) {
    std::vector<TimeRange> ranges;
    for (uint32_t row = 0; row < kernels.size(); ++row)
        ranges.push_back({kernels.startNs[row], kernels.endNs[row]});
    return ranges;
}

fs::path realFile(const char* folder, const char* name) {
    return fs::path(qgetenv("LANESCOPE_TEST_DATA").toStdString()) / folder / name;
}

}  // namespace

/// Traces in Protocol Buffers.
class tst_ProtoTraces : public QObject {
    Q_OBJECT

  private slots:
    void fieldsAreReadAsWritten();
    void damagedFieldsEndAMessage();
    void whatIsWrittenForPerfettoIsReadAgain();
    void packetsReferToWhatWasSaidBefore();
    void clocksOfPacketsAreTranslated();
    void damageDoesNotStopTheReader();
    void anXplaneIsRead();
    void aRealXplaneHasAllItsEvents();

  private:
    TemporaryFolder folder_;
};

void tst_ProtoTraces::fieldsAreReadAsWritten() {
    ProtoMessage message;
    message.number(1, UINT64_MAX);
    message.integer(2, -5);
    message.real(3, 2.5);
    message.text(4000, "text");
    message.fixed64(5, 77);
    ProtoFields fields(message.bytes());
    QVERIFY(fields.next());
    QCOMPARE(fields.value(), UINT64_MAX);
    QVERIFY(fields.next());
    QCOMPARE(fields.integer(), int64_t{-5});
    QVERIFY(fields.next());
    QCOMPARE(fields.real(), 2.5);
    QVERIFY(fields.next());
    QCOMPARE(fields.number(), 4000u);
    QCOMPARE(fields.bytes(), std::string_view("text"));
    QCOMPARE(fields.value(), uint64_t{0});
    QVERIFY(fields.next());
    QCOMPARE(fields.value(), uint64_t{77});
    QVERIFY(!fields.next());
    QVERIFY(!fields.isDamaged());
}

void tst_ProtoTraces::damagedFieldsEndAMessage() {
    // A number without an end, a text longer than what is there, a kind that is none, no field 0.
    for (const std::string_view bytes :
         {std::string_view("\x08\xff\xff"),
          std::string_view("\x0a\x05"
                           "ab"),
          std::string_view("\x0b\x01"), std::string_view("\0\x01", 2),
          std::string_view("\x09\x01")}) {
        ProtoFields fields(bytes);
        QVERIFY(!fields.next());
        QVERIFY(fields.isDamaged());
        QVERIFY(!fields.next());
    }
}

void tst_ProtoTraces::whatIsWrittenForPerfettoIsReadAgain() {
    SimulatedTrace sim;
    sim.description().startUtcNs = 1'700'000'000'000'000'000;
    const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
    for (int64_t each = 0; each < 50; ++each)
        sim.launch(thread, stream, "gemm", each * 1000, each * 1000 + 400, each * 1000 + 900);
    // One that overlaps its neighbour on the stream, and a range around calls that begins with one.
    sim.addKernel(stream, "late", 10'500, 11'600);
    sim.addNvtx(thread, "step", 0, 49'000);
    sim.addNvtx(thread, "inner", 0, 700, NvtxStyle::PushPop, "mine");
    sim.addNvtx(thread, "loose", 100, 2'000, NvtxStyle::StartEnd);
    sim.addNvtx(thread, "mark", 123, 123, NvtxStyle::Mark);
    sim.addMemcpy(stream, MemcpyKind::HtoD, 4096, 60'000, 60'001);
    sim.addMemset(stream, 64, 61'000, 61'000);
    const TracePtr trace = sim.finish();
    const fs::path path = folder_ / "run.pftrace";
    write(path, asPerfetto(*trace));
    const TracePtr again = loaded(path);
    QCOMPARE(again->producer, std::string("Perfetto"));
    QCOMPARE(rangesOf(again->kernels), rangesOf(trace->kernels));
    QCOMPARE(again->apiCalls.size(), trace->apiCalls.size());
    QCOMPARE(again->nvtx.size(), trace->nvtx.size());
    QCOMPARE(again->memcpys.bytes[0], int64_t{4096});
    QCOMPARE(again->memcpys.kind[0], MemcpyKind::HtoD);
    QCOMPARE(again->memsets.bytes[0], int64_t{64});
    QCOMPARE(again->startUtcNs, trace->startUtcNs);
    QCOMPARE(again->processes[0].pid, 4242u);
    for (uint32_t row = 0; row < again->nvtx.size(); ++row) {
        QCOMPARE(again->nvtx.startNs[row], trace->nvtx.startNs[row]);
        QCOMPARE(again->nvtx.endNs[row], trace->nvtx.endNs[row]);
        QCOMPARE(again->strings.at(again->nvtx.text[row]),
                 trace->strings.at(trace->nvtx.text[row]));
    }
    for (uint32_t row = 0; row < again->kernels.size(); ++row) {
        const EventRef kernel(EventKind::Kernel, row);
        QCOMPARE(again->launchingCall(kernel).isValid(), trace->launchingCall(kernel).isValid());
        QCOMPARE(again->launchConfigs[again->kernels.config[row]].grid,
                 trace->launchConfigs[trace->kernels.config[row]].grid);
    }
}

void tst_ProtoTraces::packetsReferToWhatWasSaidBefore() {
    ProtoMessage thread, descriptor, first, interned, defaults, ofEvents;
    thread.number(pf::thread::pid, 50);
    thread.number(pf::thread::tid, 51);
    thread.text(pf::thread::name, "main");
    descriptor.number(pf::track::uuid, 3);
    descriptor.message(pf::track::thread, thread);
    first.message(pf::packet::trackDescriptor, descriptor);
    interned.message(pf::interned::categories, named(1, "cuda_runtime"));
    interned.message(pf::interned::names, named(1, "cudaLaunchKernel"));
    first.message(pf::packet::internedData, interned);
    ofEvents.number(pf::event::track, 3);
    defaults.message(pf::defaults::trackEvent, ofEvents);
    first.message(pf::packet::defaults, defaults);
    first.number(pf::packet::sequence, 7);
    first.number(pf::packet::sequenceFlags, pf::packet::isCleared);
    ProtoMessage call, end, kernel;
    call.number(pf::event::categoryIds, 1);
    call.number(pf::event::nameId, 1);
    call.number(pf::event::type, pf::event::begin);
    call.fixed64(pf::event::flows, 99);
    end.number(pf::event::type, pf::event::end);
    kernel.text(pf::event::categories, "kernel");
    kernel.text(pf::event::name, "gemm");
    kernel.number(pf::event::type, pf::event::begin);
    kernel.number(pf::event::track, 4);
    kernel.fixed64(pf::event::lastFlows, 99);
    ProtoMessage device, stream;
    device.text(pf::annotation::name, "device");
    device.integer(pf::annotation::integer, 2);
    stream.text(pf::annotation::name, "stream");
    stream.integer(pf::annotation::integer, 7);
    kernel.message(pf::event::annotations, device);
    kernel.message(pf::event::annotations, stream);
    ProtoMessage kernelEnd = end;
    kernelEnd.number(pf::event::track, 4);
    const fs::path path = folder_ / "interned.pftrace";
    write(path, packet(first) + packet(eventAt(1000, call)) + packet(eventAt(1500, end)) +
                    packet(eventAt(2000, kernel)) + packet(eventAt(2600, kernelEnd)) +
                    packet(eventAt(9000, end)));
    const TracePtr trace = loaded(path);
    QCOMPARE(trace->apiCalls.size(), 1u);
    QCOMPARE(trace->nameOf(EventRef(EventKind::Api, 0)), std::string("cudaLaunchKernel"));
    QCOMPARE(trace->threads[trace->apiCalls.thread[0]].tid, 51u);
    QCOMPARE(trace->threads[trace->apiCalls.thread[0]].name, std::string("main"));
    QCOMPARE(trace->kernels.size(), 1u);
    QCOMPARE(trace->kernels.endNs[0] - trace->kernels.startNs[0], int64_t{600});
    QCOMPARE(trace->gpus[0].id, int64_t{2});
    // The arrow is all that joins them.
    QCOMPARE(trace->launchingCall(EventRef(EventKind::Kernel, 0)), EventRef(EventKind::Api, 0));
}

void tst_ProtoTraces::clocksOfPacketsAreTranslated() {
    const auto reading = [](uint64_t id, uint64_t value, uint64_t multiplier, bool isIncremental) {
        ProtoMessage clock;
        clock.number(pf::clocks::id, id);
        clock.number(pf::clocks::timestamp, value);
        if (multiplier != 1) clock.number(pf::clocks::multiplierNs, multiplier);
        if (isIncremental) clock.number(pf::clocks::isIncremental, 1);
        return clock;
    };
    ProtoMessage snapshot, first;
    snapshot.message(pf::clocks::clock, reading(pf::clocks::boottime, 5'000'000, 1, false));
    snapshot.message(pf::clocks::clock,
                     reading(pf::clocks::realtime, 1'700'000'000'005'000'000, 1, false));
    snapshot.message(pf::clocks::clock, reading(64, 100, 1000, true));
    first.message(pf::packet::clockSnapshot, snapshot);
    first.number(pf::packet::sequence, 7);
    const auto mark = [](std::string_view name) {
        ProtoMessage event;
        event.text(pf::event::name, name);
        event.number(pf::event::type, pf::event::instant);
        event.number(pf::event::track, 1);
        return event;
    };
    const fs::path path = folder_ / "clocks.pftrace";
    // 5 and 3 microseconds later by the sequence's own clock, and one by the usual.
    write(path, packet(first) + packet(eventAt(5, mark("a"), 64)) +
                    packet(eventAt(3, mark("b"), 64)) + packet(eventAt(5'020'000, mark("c"))));
    const TracePtr trace = loaded(path);
    QCOMPARE(trace->nvtx.size(), 3u);
    QCOMPARE(trace->nvtx.startNs[1] - trace->nvtx.startNs[0], int64_t{3'000});
    QCOMPARE(trace->nvtx.startNs[2] - trace->nvtx.startNs[0], int64_t{15'000});
    QCOMPARE(trace->startUtcNs + trace->nvtx.startNs[0], int64_t{1'700'000'000'005'005'000});
}

void tst_ProtoTraces::damageDoesNotStopTheReader() {
    SimulatedTrace sim;
    for (int64_t each = 0; each < 200; ++each)
        sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", each * 1000, each * 1000 + 400,
                   each * 1000 + 900);
    const std::string bytes = asPerfetto(*sim.finish());
    const fs::path path = folder_ / "cut.pftrace";
    write(path, std::string_view(bytes).substr(0, bytes.size() / 2));
    const TracePtr cut = loaded(path);
    QVERIFY(cut->kernels.size() + cut->apiCalls.size() > 50);
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::string damaged = bytes;
        for (int each = 0; each < 5; ++each)
            damaged[std::uniform_int_distribution<size_t>(0, damaged.size() - 1)(random)] =
                static_cast<char>(random());
        write(path, damaged);
        (void)loadTrace(path);  // does not crash, whatever it finds
    }
}

void tst_ProtoTraces::anXplaneIsRead() {
    const auto entry = [](uint32_t field, uint64_t id, std::string_view name, ProtoMessage& into) {
        ProtoMessage metadata, pair;
        metadata.number(1, id);
        metadata.text(2, name);
        pair.number(1, id);
        pair.message(2, metadata);
        into.message(field, pair);
    };
    ProtoMessage host, gpu, task, space;
    host.text(2, "/host:CPU");
    entry(4, 1, "cuLaunchKernel", host);
    entry(4, 2, "$train.py:3 step", host);
    entry(5, 1, "correlation_id", host);
    ProtoMessage call, python, correlation, line;
    correlation.number(1, 1);
    correlation.integer(4, 12);
    call.number(1, 1);
    call.integer(2, 2'000'000);
    call.integer(3, 500'000);
    call.message(4, correlation);
    python.number(1, 2);
    python.integer(2, 1'000'000);
    python.integer(3, 9'000'000);
    line.number(1, 5);
    line.text(2, "python");
    line.integer(3, 100);
    line.message(4, python);
    line.message(4, call);
    host.message(3, line);
    gpu.text(2, "/device:GPU:1");
    entry(4, 1, "gemm", gpu);
    entry(4, 2, "MemcpyH2D", gpu);
    entry(5, 1, "correlation_id", gpu);
    entry(5, 2, "kernel_details", gpu);
    entry(5, 3, "memcpy_details", gpu);
    ProtoMessage kernel, details, copy, copied, work, ops, op;
    details.number(1, 2);
    details.text(5, " regs:32 static_shared:16 dynamic_shared:0 grid:4,2,1 block:128,1,1");
    copied.number(1, 3);
    copied.text(5, "kind:H2D size:4096 dest:0 async:1");
    kernel.number(1, 1);
    kernel.integer(2, 5'000'000);
    kernel.integer(3, 1'500'000);
    kernel.message(4, correlation);
    kernel.message(4, details);
    copy.number(1, 2);
    copy.integer(2, 7'000'000);
    copy.integer(3, 100'000);
    copy.message(4, copied);
    work.text(2, "Stream #14(Kernel,Memcpy)");
    work.integer(3, 100);
    work.message(4, kernel);
    work.message(4, copy);
    gpu.message(3, work);
    ops.text(2, "XLA Ops");
    ops.integer(3, 100);
    op.number(1, 1);
    op.integer(2, 5'000'000);
    op.integer(3, 1'500'000);
    ops.message(4, op);
    gpu.message(3, ops);
    ProtoMessage start;
    start.number(1, 1);
    start.number(3, 1'700'000'000'000'000'000);
    entry(5, 1, "profile_start_time", task);
    task.message(6, start);
    for (const ProtoMessage& plane : {host, gpu, task}) space.message(1, plane);
    space.text(4, "node3");
    const fs::path path = folder_ / "host.xplane.pb";
    write(path, space.bytes());
    const TracePtr trace = loaded(path);
    QCOMPARE(trace->producer, std::string("XLA"));
    QCOMPARE(trace->facts.host, std::string("node3"));
    QCOMPARE(trace->kernels.size(), 1u);
    const LaunchConfig& config = trace->launchConfigs[trace->kernels.config[0]];
    QCOMPARE(config.grid, (std::array<uint32_t, 3>{4, 2, 1}));
    QCOMPARE(config.registersPerThread, 32u);
    QCOMPARE(trace->streams[trace->kernels.stream[0]].streamId, int64_t{14});
    QCOMPARE(trace->gpus[0].id, int64_t{1});
    QCOMPARE(trace->kernels.endNs[0] - trace->kernels.startNs[0], int64_t{1'500});
    QCOMPARE(trace->nameOf(trace->launchingCall(EventRef(EventKind::Kernel, 0))),
             std::string("cuLaunchKernel"));
    QCOMPARE(trace->memcpys.bytes[0], int64_t{4096});
    QCOMPARE(trace->memcpys.kind[0], MemcpyKind::HtoD);
    // The Python function and the operator.
    QCOMPARE(trace->nvtx.size(), 2u);
    QCOMPARE(trace->startUtcNs + trace->kernels.startNs[0], int64_t{1'700'000'000'000'005'100});
}

void tst_ProtoTraces::aRealXplaneHasAllItsEvents() {
    const fs::path path = realFile("xplane", "jax-mi300.xplane.pb");
    if (!fs::exists(path)) QSKIP("LANESCOPE_TEST_DATA names no folder with xplane/*.pb.");
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // A plain count of the events of lines, by whether these are streams of GPUs.
    size_t work = 0, others = 0;
    for (ProtoFields planes(bytes); planes.next();) {
        if (planes.number() != 1) continue;
        for (ProtoFields lines(planes.bytes()); lines.next();) {
            if (lines.number() != 3) continue;
            std::string_view name;
            size_t events = 0;
            for (ProtoFields fields(lines.bytes()); fields.next();) {
                if (fields.number() == 2) name = fields.bytes();
                events += fields.number() == 4 ? 1 : 0;
            }
            (name.starts_with("Stream #") ? work : others) += events;
        }
    }
    const TracePtr trace = loaded(path);
    QVERIFY(work > 0 && others > 0);
    QCOMPARE(size_t{trace->kernels.size()} + trace->memcpys.size() + trace->memsets.size(), work);
    QCOMPARE(size_t{trace->apiCalls.size()} + trace->nvtx.size(), others);
    QVERIFY(trace->startUtcNs > 1'700'000'000'000'000'000);
}

LANESCOPE_TEST(tst_ProtoTraces, NoApplication)
#include "tst_ProtoTraces.moc"
