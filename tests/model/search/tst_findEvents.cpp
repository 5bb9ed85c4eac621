// SPDX-License-Identifier: Apache-2.0
#include "model/lod/SelectionStatistics.h"
#include "model/reports/reports.h"
#include "model/search/findEvents.h"
#include "model/trace/kinds/Api.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr TimeRange always{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

std::vector<EventRef> found(const Trace& trace, std::string_view text, PatternKind kind = PatternKind::Substring,
                            TimeRange range = always) {
    std::vector<EventRef> events;
    const bool isComplete =
        findEvents(trace, *SearchQuery::parse(text, kind), range, [&events](std::span<const EventRef> hits) {
            events.insert(events.end(), hits.begin(), hits.end());
            return true;
        });
    return isComplete ? events : std::vector<EventRef>();
}

std::vector<EventRef> foundByExpression(const Trace& trace, std::string_view text) {
    return found(trace, text, PatternKind::Expression);
}

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text;
}

/// Names of the event; for kernels also the full one.
std::string namesOf(const Trace& trace, EventRef event) {
    std::string names = trace.nameOf(event);
    if (event.kind() == EventKind::Kernel) {
        const uint32_t config = trace.kernels.config[event.row()];
        names += trace.strings.at(trace.launchConfigs.demangledName(config));
    }
    return names;
}

/// Every event on the tracks whose name contains `text`, tested one by one.
std::vector<EventRef> foundPlainly(const Trace& trace, const std::string& text) {
    std::vector<EventRef> events;
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes)
            for (uint32_t slice = 0; slice < lane.size(); ++slice)
                if (lane.event[slice].isValid() &&
                    lane.category[slice] != SliceCategory::NcclWait &&  // the event's own slice follows
                    lowered(namesOf(trace, lane.event[slice])).find(lowered(text)) != std::string::npos)
                    events.push_back(lane.event[slice]);
    std::sort(events.begin(), events.end());
    return events;
}

bool isByStart(const Trace& trace, const std::vector<EventRef>& events) {
    return std::is_sorted(events.begin(), events.end(), [&trace](EventRef a, EventRef b) {
        return trace.rangeOf(a).startNs < trace.rangeOf(b).startNs;
    });
}

}  // namespace

class tst_findEvents : public QObject {
    Q_OBJECT

    TracePtr trace_;

  private slots:
    void initTestCase() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.addApi(thread, "cudaMemcpyAsync", 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, 20, 30);
        builder.addNvtx(thread, "load Batch", 5, 25);
        builder.addKernel(stream, "batchNorm", 40, 50);
        builder.addMemset(stream, 16, 60, 70);
        trace_ = builder.finish();
    }

    void everyKindIsFoundByStartInAnyCase() {
        QCOMPARE(found(*trace_, "BATCH"), (std::vector<EventRef>{{EventKind::Nvtx, 0}, {EventKind::Kernel, 0}}));
        QCOMPARE(found(*trace_, "memcpy"), (std::vector<EventRef>{{EventKind::Api, 0}, {EventKind::Memcpy, 0}}));
        QCOMPARE(found(*trace_, "htod"), (std::vector<EventRef>{{EventKind::Memcpy, 0}}));
        QCOMPARE(found(*trace_, "memset"), (std::vector<EventRef>{{EventKind::Memset, 0}}));
    }

    void eventsAreFoundByPythonStack() {
        SimulatedTrace builder;
        const auto frame = [&](uint32_t outer, const char* function, const char* file, uint32_t line) {
            return builder.frame(function, file, line, outer);
        };
        const uint32_t step = frame(noIndex, "train_step", "/home/ada/train.py", 212);
        const uint32_t forward = frame(step, "GPT.Forward", "/home/ada/my model/gpt.py", 21);
        const uint32_t load = frame(noIndex, "next_batch", "/home/ada/data.py", 212);
        uint32_t correlation = 0;
        const auto call = [&](uint32_t stack) {
            const int64_t at = 100 * ++correlation;
            builder.addApi(builder.defaultThread(), "cuLaunchKernel", at, at + 10, correlation, stack);
            return at;
        };
        const uint32_t stream = builder.defaultStream();
        int64_t at = call(step);
        builder.addKernel(stream, "adam", at + 20, at + 30, correlation);
        at = call(forward);
        builder.addKernel(stream, "gemm", at + 20, at + 30, correlation);
        at = call(load);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 64, at + 20, at + 30, correlation);
        at = call(noIndex);
        builder.addKernel(stream, "gemm", at + 20, at + 30, correlation);
        builder.addNvtx(builder.defaultThread(), "forward train.py", 0, 1'000);
        const TracePtr trace = builder.finish();
        const EventRef api0(EventKind::Api, 0), api1(EventKind::Api, 1), api2(EventKind::Api, 2);
        const EventRef adam(EventKind::Kernel, 0), gemm(EventKind::Kernel, 1);
        const EventRef copy(EventKind::Memcpy, 0);
        using Events = std::vector<EventRef>;
        QCOMPARE(found(*trace, "function:forward"), (Events{api1, gemm}));
        // Any frame of the stack matches.
        QCOMPARE(found(*trace, "line:train.py:212"), (Events{api0, adam, api1, gemm}));
        QCOMPARE(found(*trace, "line:ada/TRAIN.py:212"), (Events{api0, adam, api1, gemm}));
        QCOMPARE(found(*trace, "line:212"), (Events{api0, adam, api1, gemm, api2, copy}));
        QCOMPARE(found(*trace, "line:train.py"), (Events{api0, adam, api1, gemm}));
        QCOMPARE(found(*trace, "line:rain.py:212"), Events{});
        QCOMPARE(found(*trace, "line:train.py:21"), Events{});
        QCOMPARE(found(*trace, "file:data.py"), (Events{api2, copy}));
        QCOMPARE(found(*trace, "file:\"my model\""), (Events{api1, gemm}));
        // Combined with a name, another term, and an expression.
        QCOMPARE(found(*trace, "file:ada memcpy"), Events{copy});
        QCOMPARE(found(*trace, "gemm function:train_step"), Events{gemm});
        QCOMPARE(found(*trace, "file:gpt.py line:212"), (Events{api1, gemm}));
        QCOMPARE(foundByExpression(*trace, "file:ada ^(gemm|adam)$"), (Events{adam, gemm}));
        QCOMPARE(found(*trace, "FUNCTION:next_batch", PatternKind::Substring, {0, 320}), Events{api2});
    }

    void similarTextIsANameInsteadOfATerm() {
        QCOMPARE(splitTerms("std::function::call").rest, std::string("std::function::call"));
        for (const char* part : {"function::call", "file: "}) QVERIFY2(splitTerms(part).stack.empty(), part);
        QCOMPARE(test::listed(splitTerms("a  b ").rest, splitTerms("file:\"open a").rest), "a  b  | a");
        const TypedTerms parted = splitTerms("x line:a.py:7 y");
        QCOMPARE(parted.rest, std::string("x y"));
        QCOMPARE(parted.stack, (std::vector<StackTerm>{{StackTerm::Part::Line, "a.py", 7}}));
        // An invalid number, and one too large, are parts of file names.
        QCOMPARE(splitTerms("line:a.py:7b").stack.front().text, std::string("a.py:7b"));
        QCOMPARE(splitTerms("line:a:99999999999").stack.front().line, 0u);
        QVERIFY(!SearchQuery::parse("file:a (", PatternKind::Expression));
    }

    void eventsAreFoundByExpression() {
        QCOMPARE(foundByExpression(*trace_, "^batch"), (std::vector<EventRef>{{EventKind::Kernel, 0}}));
        QCOMPARE(foundByExpression(*trace_, "^(HtoD|DtoH)$"), (std::vector<EventRef>{{EventKind::Memcpy, 0}}));
        QCOMPARE(foundByExpression(*trace_, "mem(cpy|set)").size(), size_t{3});
    }

    void kernelIsFoundByItsFullName() {
        QCOMPARE(found(*trace_, "<float>(float*"), (std::vector<EventRef>{{EventKind::Kernel, 0}}));
    }

    void ncclCallsAreFoundByAlgorithmAndProtocol() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        for (const char* type : {"bfloat16", "float32"}) {
            const bool isFirst = builder.trace().nccl.size() == 0;
            NcclFacts facts{.datatype = builder.intern(type), .algorithm = builder.intern("NVLS_TREE")};
            builder.addNccl(thread, "AllReduce", 64, isFirst ? 0 : 20, isFirst ? 10 : 30, 1, facts);
        }
        const TracePtr trace = builder.finish();
        QCOMPARE(found(*trace, "bfloat"), (std::vector<EventRef>{{EventKind::Nvtx, 0}}));
        QCOMPARE(found(*trace, "nvls").size(), size_t{2});
        QCOMPARE(found(*trace, "float").size(), size_t{2});
        QCOMPARE(found(*trace, "allreduce").size(), size_t{2});
    }

    void graphsAndPageFaultsAreFound() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addGraph(stream, 7, 0, 10);
        builder.addGraph(stream, 8, 20, 30);
        builder.addPageFault(0, 0, 0x1000, 1, FaultAccess::Write, 12, 14);
        builder.addPageFault(0, noIndex, 0x2000, 1, FaultAccess::Read, 16, 16);
        const TracePtr trace = builder.finish();
        QCOMPARE(found(*trace, "graph 8"), (std::vector<EventRef>{{EventKind::Graph, 1}}));
        QCOMPARE(found(*trace, "cuda graph").size(), size_t{2});
        QCOMPARE(found(*trace, "page fault").size(), size_t{2});
        QCOMPARE(found(*trace, "gpu page fault, write"), (std::vector<EventRef>{{EventKind::PageFault, 0}}));
    }

    void projectedRangesAreFound() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "forward", 0, 100);
        builder.launch(thread, builder.defaultStream(), "gemm", 10, 200, 300);
        const TracePtr trace = builder.finish();
        QCOMPARE(found(*trace, "forward"), (std::vector<EventRef>{{EventKind::Nvtx, 0}, {EventKind::Projection, 0}}));
    }

    void searchMatchesPlainLoopInOrderOfStart() {
        const TracePtr trace = simulatedTraining({.steps = 60});
        for (const char* text : {"gemm", "layer 1", "AllReduce", "cudaLaunchKernel", "a", "step 7"}) {
            std::vector<EventRef> events = found(*trace, text);
            QVERIFY(isByStart(*trace, events));
            std::sort(events.begin(), events.end());
            const std::vector<EventRef> expected = foundPlainly(*trace, text);
            // Search texts of copies and memsets differ from their slices.
            std::erase_if(events, [](EventRef event) {
                return event.kind() == EventKind::Memcpy || event.kind() == EventKind::Memset;
            });
            std::vector<EventRef> others;
            std::copy_if(expected.begin(), expected.end(), std::back_inserter(others), [](EventRef event) {
                return event.kind() != EventKind::Memcpy && event.kind() != EventKind::Memset;
            });
            QCOMPARE(events, others);
        }
    }

    void partsOfTheTimeAddUp() {
        const TracePtr trace = simulatedTraining({.steps = 20});
        const int64_t middleNs = trace->range.startNs + trace->range.durationNs() / 3;
        std::vector<EventRef> parts = found(*trace, "gemm", PatternKind::Substring, {always.startNs, middleNs});
        QVERIFY(!parts.empty());
        const std::vector<EventRef> after = found(*trace, "gemm", PatternKind::Substring, {middleNs, always.endNs});
        QVERIFY(trace->rangeOf(after.front()).startNs >= middleNs);
        QVERIFY(trace->rangeOf(parts.back()).startNs < middleNs);
        parts.insert(parts.end(), after.begin(), after.end());
        QCOMPARE(parts, found(*trace, "gemm"));
    }

    void searchStopsWhenTheSinkCloses() {
        const TracePtr trace = simulatedTraining();
        int calls = 0;
        QVERIFY(!findEvents(*trace, *NamePattern::compile("a", PatternKind::Substring), always,
                            [&calls](std::span<const EventRef>) { return ++calls > 1; }));
        QCOMPARE(calls, 1);
    }

    void rowsOfReportsAreFound() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, "gemm", 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 64, 10, 20);
        builder.addMemset(stream, 64, 20, 30);
        builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 5);
        builder.addNvtx(builder.defaultThread(), "a:b", 0, 40, NvtxStyle::PushPop, "Domain: one");
        const TracePtr simulated = builder.finish();
        for (const TracePtr& trace : {simulated, trace_}) {
            const auto statistics = selectionStatistics(*trace, trace->sums, trace->range);
            std::vector<ReportTable> tables{selectedNames(*trace, statistics, 10), selectedCopies(statistics)};
            for (const char* report : {"cuda_gpu_kern_sum", "cuda_gpu_kern_sum:base", "nvtx_sum", "nvtx_sum:family",
                                       "nvtx_gpu_proj_sum", "nvtx_gpu_proj_sum:family", "cuda_api_sum", "nccl_sum",
                                       "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum"})
                tables.push_back(*makeReport(*trace, report));
            for (const ReportTable& table : tables) {
                QCOMPARE(table.searches.size(), table.rows.size());
                for (const std::string& search : table.searches)
                    QVERIFY2(!found(*trace, search).empty(), search.c_str());
            }
        }
        QCOMPARE(selectedCopies(selectionStatistics(*simulated, simulated->sums, simulated->range)).searches,
                 (std::vector<std::string>{"memcpy HtoD", "memset"}));
    }

    void missingNameIsNotFound() {
        QVERIFY(found(*trace_, "no such name").empty() && found(*SimulatedTrace().finish(), "x").empty());
    }

    void substringMatchesAnywhereInAnyCase() {
        const auto pattern = NamePattern::compile("GeMm_", PatternKind::Substring);
        QVERIFY(pattern.has_value() && pattern->matches("sm90_xmma_GEMM_bf16"));
        for (const char* part : {"sm90_xmma_gem_m", ""}) QVERIFY2(!pattern->matches(part), part);
    }

    void substringIsTakenLiterally() {
        const auto pattern = NamePattern::compile("<float>(float*", PatternKind::Substring);
        QVERIFY(pattern->matches("void add<float>(float*, int)"));
        QVERIFY(!pattern->matches("void add<double>(double*)"));
    }

    void expressionMatchesAnywhereInAnyCase() {
        const auto pattern = NamePattern::compile("^nccl(All|Reduce).*_ring$", PatternKind::Expression);
        QVERIFY(pattern.has_value() && pattern->matches("ncclAllReduce_RING"));
        QVERIFY(pattern->matches("NCCLReduceScatter_ring") && !pattern->matches("my ncclAllReduce_RING"));
    }

    void wrongExpressionIsExplainedInASentence() {
        for (const char* text : {"(", "a**", "[z-a]", "(?P<n", "\\"}) {
            const auto pattern = NamePattern::compile(text, PatternKind::Expression);
            QVERIFY(!pattern.has_value());
            const std::string& sentence = pattern.error().sentence;
            QVERIFY(sentence.starts_with("Not a regular expression: ") && sentence.ends_with("."));
        }
    }

    void catastrophicExpressionsTakeLinearTime() {
        const std::string name(20'000, 'a');
        for (const char* text : {"(a+)+$", "(a|aa)+b", "(.*)*x", "(a?){50}a{50}b"}) {
            const auto pattern = NamePattern::compile(text, PatternKind::Expression);
            QVERIFY(pattern.has_value());
            pattern->matches(name);
        }
    }

    void hugeExpressionIsRefused() {
        QVERIFY(!NamePattern::compile("((a{1000}){1000}){1000}", PatternKind::Expression).has_value());
    }

    void invalidUtf8IsMatched() {
        const auto pattern = NamePattern::compile("k.nel", PatternKind::Expression);
        QVERIFY(pattern->matches("\xff\xfe k\xe9nel"));
        QVERIFY(pattern->matches(std::string_view("\0kernel? kxnel", 14)));
    }

    void hitsMatchPlainLoop() {
        const TracePtr trace = simulatedTraining();
        std::vector<EventRef> events;
        for (uint32_t row = 0; row < trace->kernels.size(); row += 5) events.emplace_back(EventKind::Kernel, row);
        for (uint32_t row = 0; row < trace->apiCalls.size(); row += 3) events.emplace_back(EventKind::Api, row);
        const std::set<EventRef> isHit(events.begin(), events.end());
        const SearchHitsPtr hits = SearchHits::of(*trace, events);
        QCOMPARE(hits->events(), events);
        size_t found = 0;
        for (uint32_t track = 0; track < trace->tracks.size(); ++track) {
            for (uint32_t lane = 0; lane < trace->tracks[track].lanes.size(); ++lane) {
                const Lane& slices = trace->tracks[track].lanes[lane];
                for (uint32_t slice = 0; slice < slices.size(); ++slice) {
                    const bool isOne = isHit.contains(slices.event[slice]);
                    QCOMPARE(hits->touches(track, lane, slice, 1), isOne);
                    // A collective that waits for other ranks is two slices.
                    if (isOne && slices.category[slice] != SliceCategory::NcclWait) ++found;
                }
                QVERIFY(!hits->touches(track, lane, slices.size(), 10));
            }
        }
        QCOMPARE(found, events.size());
    }

    void manyHitPlacesAreThinned() {
        const TracePtr trace = simulatedTraining({.steps = 100});
        std::vector<EventRef> few, all;
        for (uint32_t row = 0; row < trace->apiCalls.size(); ++row) {
            all.emplace_back(EventKind::Api, row);
            if (row % 1'000 == 0) few.push_back(all.back());
        }
        QVERIFY(all.size() > 2 * SearchHits::placeCount);
        QCOMPARE(SearchHits::of(*trace, few)->places().size(), few.size());
        const SearchHitsPtr ofAll = SearchHits::of(*trace, all);
        QVERIFY(ofAll->places().size() <= SearchHits::placeCount + 1);
        // Each hit has a place near it.
        const int64_t stepNs = trace->range.durationNs() / SearchHits::placeCount;
        size_t place = 0;
        for (const EventRef event : all) {
            const int64_t startNs = trace->rangeOf(event).startNs;
            while (place + 1 < ofAll->places().size() && ofAll->places()[place + 1] <= startNs) ++place;
            QVERIFY(startNs - ofAll->places()[place] < stepNs);
        }
    }

    void invalidEventsAreNoHits() {
        const TracePtr trace = simulatedTraining();
        QVERIFY(SearchHits::of(*trace, {EventRef()})->isEmpty() && SearchHits::of(*trace, {})->isEmpty());
        const SearchHitsPtr hits = SearchHits::of(*trace, {EventRef(EventKind::Kernel, 0)});
        QVERIFY(!hits->touches(100'000, 0, 0, 1) && !hits->touches(0, 100'000, 0, 1));
    }

    void marksMatchPlainLoop() {
        std::mt19937 random(4);
        for (const uint32_t size : {1u, 63u, 64u, 65u, 4096u, 4097u, 100'000u}) {
            for (const uint32_t every : {1u, 7u, 5'000u, 1'000'000u}) {
                SliceMarks marks(size);
                std::vector<bool> plain(size);
                for (uint32_t slice = random() % every; slice < size; slice += 1 + random() % every)
                    marks.set(slice), plain[slice] = true;
                for (int round = 0; round < 200; ++round) {
                    const uint32_t first = random() % (size + 1);
                    const uint32_t end = first + random() % (round % 2 == 0 ? 200 : size);
                    const auto from = plain.begin() + first;
                    const auto to = plain.begin() + std::min(size, end);
                    QCOMPARE(marks.any(first, end), std::find(from, to, true) != to);
                    if (first < size) QCOMPARE(marks.any(first, first + 1), bool(plain[first]));
                }
            }
        }
    }

    void noSlicesGiveNoMarks() {
        const SliceMarks marks;
        QVERIFY(marks.isEmpty() && !marks.any(0, 100));
    }
};

LANESCOPE_TEST(tst_findEvents, NoApplication)
#include "tst_findEvents.moc"
