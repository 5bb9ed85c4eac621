// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/allKinds.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

// A reader has only a builder: it can neither create nor change a trace.
static_assert(!std::is_default_constructible_v<Trace>);
static_assert(!std::is_copy_constructible_v<Trace>);
static_assert(std::is_same_v<decltype(std::declval<TraceBuilder&>().trace()), const Trace&>);

/// The same run for any order of events: subjects first, because rows name them.
struct Run {
    TraceBuilder builder;
    uint32_t thread = builder.thread(globalTid(4242, 4242));
    uint32_t gpu = builder.gpu(3);
    uint32_t stream = builder.stream(0, gpu, 1, 7);
    StringIndex step = builder.intern("step"), launch = builder.intern("cudaLaunchKernel");
    StringIndex gemm = builder.intern("gemm");
    uint32_t config = builder.launchConfig({.demangledName = gemm, .shortName = gemm});
    std::vector<std::function<void()>> tellings;

    Run() {
        for (int64_t i = 0; i < 700; ++i) tell(i);
    }

    void tell(int64_t i) {
        const int64_t atNs = i * ms;
        const auto correlation = static_cast<uint32_t>(i + 1);
        tellings.emplace_back([=, this] {
            builder.add<kinds::Nvtx>({.startNs = atNs, .endNs = atNs + ms, .text = step, .thread = thread});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Api>({.startNs = atNs + 10,
                                     .endNs = atNs + 20,
                                     .name = launch,
                                     .thread = thread,
                                     .correlation = correlation});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Kernel>({.startNs = atNs + 50,
                                        .endNs = atNs + ms / 2,
                                        .stream = stream,
                                        .correlation = correlation,
                                        .config = config});
        });
        tellings.emplace_back([=, this] {
            builder.add<kinds::Memcpy>({.startNs = atNs + ms / 2,
                                        .endNs = atNs + ms,
                                        .bytes = i,
                                        .kind = i % 3 == 0 ? MemcpyKind::UvmHtoD : MemcpyKind::HtoD,
                                        .stream = stream,
                                        .address = static_cast<uint64_t>(i)});
        });
    }

    TracePtr finish() {
        for (const auto& telling : tellings) telling();
        builder.nameProcess(globalPid(4242), "python3");
        builder.nameThread(globalTid(4242, 4242), "main");
        builder.nameThread(globalTid(1, 1), "nobody's");
        builder.finish();
        return builder.take();
    }
};

bool hasNote(const Trace& trace, std::string_view sentence) {
    return std::any_of(trace.health.begin(), trace.health.end(),
                       [&](const HealthNote& note) { return note.sentence == sentence; });
}

}  // namespace

class tst_TraceBuilder : public QObject {
    Q_OBJECT

  private slots:
    void eventsMayComeInAnyOrder() {
        const TracePtr sorted = Run().finish();
        QCOMPARE(sorted->kernels.size(), 700u);
        QCOMPARE(sorted->migrations.size(), 234u);
        QVERIFY(std::is_sorted(sorted->nvtx.startNs.begin(), sorted->nvtx.startNs.end()));
        for (uint32_t seed = 1; seed < 4; ++seed) {
            Run run;
            std::shuffle(run.tellings.begin(), run.tellings.end(), std::mt19937(seed));
            const TracePtr shuffled = run.finish();
            QVERIFY(shuffled->kernels.startNs == sorted->kernels.startNs);
            QVERIFY(shuffled->kernels.correlation == sorted->kernels.correlation);
            QVERIFY(shuffled->memcpys.bytes == sorted->memcpys.bytes);
            QVERIFY(shuffled->memcpys.kind == sorted->memcpys.kind);
            QVERIFY(shuffled->migrations.memcpy == sorted->migrations.memcpy);
            QVERIFY(shuffled->migrations.address == sorted->migrations.address);
            QVERIFY(shuffled->apiCalls.startNs == sorted->apiCalls.startNs);
            QVERIFY(shuffled->nvtx.depth == sorted->nvtx.depth);
            QVERIFY(shuffled->projections.startNs == sorted->projections.startNs);
            QCOMPARE(shuffled->range, sorted->range);
            QCOMPARE(shuffled->tracks.size(), sorted->tracks.size());
            for (size_t track = 0; track < sorted->tracks.size(); ++track)
                QCOMPARE(shuffled->tracks[track].title, sorted->tracks[track].title);
        }
    }

    void lateNamesCreateNoSubject() {
        const TracePtr trace = Run().finish();
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(trace->processes[0].name, std::string("python3"));
        QCOMPARE(trace->threads.size(), size_t{1});
        QCOMPARE(trace->threads[0].name, std::string("main"));
        QCOMPARE(trace->gpus[0].id, int64_t{3});
    }

    void subjectsAreReused() {
        TraceBuilder builder;
        const uint32_t process = builder.process(globalPid(7));
        QCOMPARE(builder.process(globalTid(7, 9)), process);
        QCOMPARE(builder.trace().threads[builder.thread(globalTid(7, 9))].process, process);
        QCOMPARE(builder.thread(globalTid(7, 9)), builder.thread(globalTid(7, 9)));
        const uint32_t stream = builder.stream(process, builder.gpu(0), 1, 7);
        QVERIFY(builder.stream(process, builder.gpu(0), 2, 7) != stream);
        QCOMPARE(builder.stream(process, builder.gpu(0), 1, 7), stream);
        QCOMPARE(builder.stream(process, 99, 1, 7), noIndex);
        QCOMPARE(builder.stream(99, builder.gpu(0), 1, 7), noIndex);
        for (int64_t id = 0; id < 5'000; ++id) builder.gpu(id);
        QCOMPARE(builder.gpu(5'000), noIndex);
        QCOMPARE(builder.gpu(1), 1u);
    }

    void inconsistentEventsAreSkippedAndCounted() {
        Run run;
        TraceBuilder& builder = run.builder;
        constexpr int64_t far = int64_t{1} << 62;
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 1, .endNs = 2, .stream = 99, .config = 0}).isValid());
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 1, .endNs = 2, .stream = run.stream}).isValid());
        QVERIFY(!builder.add<kinds::Kernel>({.startNs = 2, .endNs = 1, .stream = run.stream, .config = 0}).isValid());
        QVERIFY(
            !builder.add<kinds::Kernel>({.startNs = -far, .endNs = 1, .stream = run.stream, .config = 0}).isValid());
        QVERIFY(!builder.add<kinds::Memset>({.startNs = 1, .endNs = far, .stream = run.stream}).isValid());
        QVERIFY(!builder.add<kinds::Graph>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Memcpy>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Api>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::Nvtx>({.startNs = 1, .endNs = 2, .thread = 5}).isValid());
        QVERIFY(!builder.add<kinds::Sync>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::PageFault>({.startNs = 1, .endNs = 2}).isValid());
        QVERIFY(!builder.add<kinds::PageFault>({.startNs = 1, .endNs = 2, .process = 0, .gpu = 9}).isValid());
        builder.add<kinds::MemoryEvent>({.timeNs = 1, .process = 0, .gpu = 9});
        builder.eventWait({.stream = 12, .event = 1, .correlation = 4});
        builder.nccl({EventKind::Nvtx, 12'345}, {.bytes = 1});
        builder.nccl({EventKind::Kernel, 0}, {.bytes = 1});
        CounterSeries lost;
        lost.gpu = 77;
        lost.set({1, 2}, {1, 2}, 3);
        builder.counter(std::move(lost));
        // Odd but meaningful events are kept.
        const EventRef copy = builder.add<kinds::Memcpy>(
            {.startNs = 1, .endNs = 2, .sourceGpu = 99, .destinationGpu = 0, .stream = run.stream});
        QVERIFY(copy.isValid());
        QVERIFY(builder.add<kinds::Nvtx>({.startNs = 5, .thread = run.thread, .isOpen = true}).isValid());
        const TracePtr trace = run.finish();
        QCOMPARE(trace->kernels.size(), 700u);
        QVERIFY(trace->memoryEvents.size() == 0 && trace->syncs.size() == 0);
        QVERIFY(trace->nccl.size() == 0 && trace->counters.empty());
        QVERIFY(hasNote(*trace, "4 rows of kernels were skipped: invalid content."));
        QVERIFY(hasNote(*trace, "2 rows of page faults were skipped: invalid content."));
        QVERIFY(hasNote(*trace, "2 rows of counter samples were skipped: invalid content."));
    }

    void everyKindFillsEveryColumn() {
        Run run;
        forEachKind([&run](auto each) {
            using Kind = decltype(each);
            if constexpr (each.origin == kinds::Origin::Recorded) {
                typename Kind::Row row;
                QVERIFY(!run.builder.add<Kind>(row).isValid());  // it has no owner
                if constexpr (requires { row.thread; }) row.thread = run.thread;
                if constexpr (requires { row.process; }) row.process = 0;
                if constexpr (requires { row.stream; }) row.stream = run.stream;
                if constexpr (requires { row.config; }) row.config = run.config;
                const EventRef event = run.builder.add<Kind>(row);
                QCOMPARE(event.kind(), each.kind);
                QCOMPARE(each.size(run.builder.trace()), event.row() + 1);
            }
        });
        run.builder.add<kinds::MemoryEvent>({.process = 0, .gpu = run.gpu});
        run.builder.add<kinds::MemoryPool>({.process = 0, .gpu = run.gpu});
        forEachTable(run.builder.trace(), [](const auto& table) {
            forEachField(table, [&table](const auto& column) {
                if constexpr (requires { column.size(); }) QCOMPARE(column.size(), size_t{table.size()});
            });
        });
    }

    void kindsAreCountedOnce() {
        Run run;
        run.builder.count("kernels", 1'000, 300);
        const TracePtr trace = run.finish();
        const auto countOf = [&](std::string_view name) {
            return std::count_if(trace->counts.begin(), trace->counts.end(),
                                 [&](const EventCount& count) { return count.name == name; });
        };
        QCOMPARE(countOf("kernels"), 1);
        QCOMPARE(countOf("memcpys"), 1);
        QCOMPARE(countOf("memsets"), 0);
        QVERIFY(hasNote(*trace, "300 of 1,000 kernels have no time and are not shown."));
        TraceBuilder empty;
        QVERIFY(empty.finish());
        QVERIFY(hasNote(empty.trace(), "This trace has no events: no CUDA work, API call or NVTX range was recorded."));
    }
};

LANESCOPE_TEST(tst_TraceBuilder, NoApplication)
#include "tst_TraceBuilder.moc"
