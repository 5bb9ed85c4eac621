// SPDX-License-Identifier: Apache-2.0
#include "model/flame/FlameTree.h"
#include "model/flame/makeFlame.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/stacks.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Time of a path such as "step #/forward/gemm", for the first node of that name.
int64_t timeOf(const FlameTree& tree, const std::vector<std::string>& path) {
    uint32_t at = 0;
    for (const std::string& frame : path) {
        const auto children = tree.childrenOf(at);
        const auto found =
            std::find_if(children.begin(), children.end(), [&](uint32_t child) { return tree.nameOf(child) == frame; });
        if (found == children.end()) return -1;
        at = *found;
    }
    return tree.nodes()[at].totalNs;
}

QString svgOf(const FlameTree& tree, std::string_view title) {
    std::string text;
    writeFlameSvg(tree, 0, title, [&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return QString::fromStdString(text);
}

}  // namespace

class TestFlameTree : public QObject {
    Q_OBJECT
  private slots:
    void equalFramesAtOnePlaceAreMerged() {
        FlameTree tree;
        tree.add({"a", "b"}, 10);
        tree.add({"a", "c"}, 30);
        tree.add({"b"}, 5);
        tree.add({"a", "b"}, 1);
        tree.add({"never"}, 0);
        tree.arrange();
        QCOMPARE(tree.nodes().size(), size_t{5});
        QCOMPARE(tree.totalNs(), int64_t{46});
        QCOMPARE(timeOf(tree, {"a"}), int64_t{41});
        QCOMPARE(timeOf(tree, {"a", "b"}), int64_t{11});
        QCOMPARE(tree.depth(), 2u);
        const uint32_t first = tree.childrenOf(0)[0];
        QCOMPARE(tree.nameOf(first), std::string_view("a"));
        QCOMPARE(tree.nameOf(tree.childrenOf(first)[0]), std::string_view("c"));
    }

    /// The root frames that contain everything add no information.
    void treeFindsItsFirstSplit() {
        FlameTree tree;
        QCOMPARE(tree.firstSplit(), 0u);
        tree.add({"main", "loop", "step", "forward"}, 600);
        tree.add({"main", "loop", "step", "backward"}, 395);
        tree.add({"main", "checkpoint"}, 5);
        tree.arrange();
        QCOMPARE(tree.nameOf(tree.firstSplit()), std::string_view("step"));
        tree.add({"main", "checkpoint"}, 200);
        tree.arrange();
        QCOMPARE(tree.nameOf(tree.firstSplit()), std::string_view("main"));
        // A single chain has no split.
        FlameTree chain;
        chain.add({"main", "loop", "gemm"}, 10);
        chain.arrange();
        QCOMPARE(chain.nameOf(chain.firstSplit()), std::string_view("loop"));
    }

    /// A stack in a file may be as deep as its rows, with every event inside all frames.
    void stackDepthIsBounded() {
        SimulatedTrace made;
        const StringIndex name = made.intern("f");
        uint32_t stack = noIndex;
        for (int depth = 0; depth < 20'000; ++depth) stack = made.stack(stack, name, name, 1);
        const TracePtr trace = made.finish();
        const std::vector<uint32_t> frames = framesOf(*trace, stack);
        QCOMPARE(frames.size(), size_t{1024});
        QCOMPARE(frames.front(), stack);
    }

    void workIsPlacedUnderItsLaunchingRanges() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread();
        const uint32_t autograd = builder.addThread(0, 77, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream();
        for (int64_t step = 0; step < 3; ++step) {
            const int64_t at = 100'000 * step;
            builder.addNvtx(main, "step " + std::to_string(step), at, at + 90'000);
            builder.addNvtx(main, "forward", at, at + 40'000);
            builder.launch(main, stream, "gemm", at + 10'000, at + 20'000, at + 30'000);
            // Work that runs after its range ended, launched by a thread without ranges.
            builder.launch(autograd, stream, "gemm_backward", at + 50'000, at + 95'000, at + 99'000);
        }
        builder.addKernel(stream, "unknown", 400'000, 400'100);
        const FlameTree tree = makeFlame(*builder.finish(), FlameBase::Ranges);
        QCOMPARE(timeOf(tree, {"step #"}), int64_t{3 * 14'000});
        QCOMPARE(timeOf(tree, {"step #", "forward", "gemm"}), int64_t{30'000});
        QCOMPARE(timeOf(tree, {"step #", "gemm_backward"}), int64_t{12'000});
        QCOMPARE(timeOf(tree, {"(no range)", "unknown"}), int64_t{100});
    }

    void treeContainsAllTimeOfTheWork() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        int64_t plainNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            plainNs += trace->kernels.endNs[row] - trace->kernels.startNs[row];
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
            plainNs += trace->memcpys.endNs[row] - trace->memcpys.startNs[row];
        for (uint32_t row = 0; row < trace->memsets.size(); ++row)
            plainNs += trace->memsets.endNs[row] - trace->memsets.startNs[row];
        for (const FlameBase base : {FlameBase::Lines, FlameBase::Functions, FlameBase::Ranges}) {
            const FlameTree tree = makeFlame(*trace, base);
            QCOMPARE(tree.totalNs(), plainNs);
            for (uint32_t index = 0; index < tree.nodes().size(); ++index) {
                const FlameTree::Node& node = tree.nodes()[index];
                int64_t within = 0;
                for (const uint32_t child : tree.childrenOf(index)) {
                    QCOMPARE(tree.nodes()[child].parent, index);
                    QCOMPARE(tree.nodes()[child].startNs, node.startNs + within);
                    within += tree.nodes()[child].totalNs;
                }
                QCOMPARE(within + node.selfNs, node.totalNs);
            }
            size_t inRows = 0;
            for (uint32_t depth = 0; depth <= tree.depth(); ++depth) {
                int64_t endNs = 0;
                for (const uint32_t index : tree.row(depth)) {
                    QCOMPARE(tree.nodes()[index].depth, depth);
                    QVERIFY(tree.nodes()[index].startNs >= endNs);
                    endNs = tree.nodes()[index].endNs();
                    ++inRows;
                }
            }
            QCOMPARE(inRows, tree.nodes().size());
            QVERIFY(tree.row(tree.depth() + 1).empty());
        }
    }

    void rangeCountsItsPartOfTheWork() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        const int64_t fourth = trace->range.durationNs() / 4;
        const TimeRange range{trace->range.startNs + fourth, trace->range.endNs - fourth};
        int64_t plainNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            plainNs += range.intersected({trace->kernels.startNs[row], trace->kernels.endNs[row]}).durationNs();
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
            plainNs += range.intersected({trace->memcpys.startNs[row], trace->memcpys.endNs[row]}).durationNs();
        for (uint32_t row = 0; row < trace->memsets.size(); ++row)
            plainNs += range.intersected({trace->memsets.startNs[row], trace->memsets.endNs[row]}).durationNs();
        QVERIFY(plainNs > 0 && plainNs < makeFlame(*trace, FlameBase::Ranges).totalNs());
        for (const FlameBase base : {FlameBase::Lines, FlameBase::Ranges})
            QCOMPARE(makeFlame(*trace, base, range).totalNs(), plainNs);
        QVERIFY(makeFlame(*trace, FlameBase::Ranges, TimeRange{-100, -50}).isEmpty());
    }

    void linesOfAFunctionAreMergedByFunction() {
        SimulatedTrace builder;
        const auto frame = [&](uint32_t outer, const char* function, const char* file, uint32_t line) {
            return builder.stack(outer, builder.intern(function), builder.intern(file), line);
        };
        const uint32_t early = frame(noIndex, "train", "/home/ada/train.py", 10);
        const uint32_t late = frame(noIndex, "train", "/home/ada/train.py", 20);
        const uint32_t package = frame(late, "forward", "/x/site-packages/nn.py", 7);
        uint32_t correlation = 0;
        for (const uint32_t stack : {early, late, package}) {
            ++correlation;
            const int64_t at = 1'000 * correlation;
            builder.add<kinds::Api>({.startNs = at,
                                     .endNs = at + 10,
                                     .name = builder.intern("cuLaunchKernel"),
                                     .thread = builder.defaultThread(),
                                     .correlation = correlation,
                                     .stack = stack});
            builder.addKernel(builder.defaultStream(), "gemm", at + 20, at + 120, correlation);
        }
        const TracePtr trace = builder.finish();
        QVERIFY(hasBase(*trace, FlameBase::Lines) && hasBase(*trace, FlameBase::Functions));
        QVERIFY(!hasBase(*trace, FlameBase::Ranges));
        const FlameTree lines = makeFlame(*trace, FlameBase::Lines);
        QCOMPARE(timeOf(lines, {"train (train.py:10)", "gemm"}), int64_t{100});
        QCOMPARE(timeOf(lines, {"train (train.py:20)"}), int64_t{200});
        const FlameTree functions = makeFlame(*trace, FlameBase::Functions);
        QCOMPARE(timeOf(functions, {"train (train.py)"}), int64_t{300});
        QCOMPARE(timeOf(functions, {"train (train.py)", "gemm"}), int64_t{200});
        QCOMPARE(timeOf(functions, {"train (train.py)", "forward (nn.py)", "gemm"}), int64_t{100});
        const uint32_t own = functions.childrenOf(0)[0];
        QVERIFY(functions.nodes()[own].frame.kind == FrameKind::Function);
        const uint32_t gemm = functions.childrenOf(own)[0];
        QVERIFY(functions.nodes()[gemm].frame.kind == FrameKind::Work);
        QCOMPARE(functions.pathTo(gemm), (std::vector<uint32_t>{0, own, gemm}));
        const uint32_t library = functions.childrenOf(own)[1];
        QVERIFY(functions.nodes()[library].frame.kind == FrameKind::LibraryFunction);
        std::string folded;
        writeFolded(functions, library, [&folded](std::string_view line) {
            folded += line;
            return true;
        });
        QCOMPARE(folded, std::string("train (train.py);forward (nn.py);gemm 100\n"));
    }

    void searchCountsEachStackOnce() {
        FlameTree tree;
        tree.add({"main", "forward", "forward", "gemm"}, 10);
        tree.add({"main", "forward", "copy"}, 5);
        tree.add({"main", "backward", "forward_hook", "add"}, 3);
        tree.add({"main", "backward", "add"}, 100);
        tree.arrange();
        const FlameMatches found =
            matchFrames(tree, [](std::string_view name) { return name.find("forward") != name.npos; });
        QCOMPARE(found.frames, 3u);
        QCOMPARE(found.ns, int64_t{18});
        QVERIFY(!found.isMatch[0]);
        const FlameMatches all = matchFrames(tree, [](std::string_view) { return true; });
        QCOMPARE(all.ns, tree.totalNs());
        QCOMPARE(all.frames, static_cast<uint32_t>(tree.nodes().size() - 1));
        QCOMPARE(matchFrames(tree, [](std::string_view) { return false; }).ns, int64_t{0});
    }

    void pictureMayStartAtAFrame() {
        FlameTree tree;
        tree.add({"a", "b"}, 300);
        tree.add({"c", "d"}, 100);
        tree.arrange();
        std::string svg;
        writeFlameSvg(tree, tree.childrenOf(0)[1], "part", [&svg](std::string_view piece) {
            svg += piece;
            return true;
        });
        QVERIFY(svg.find("<title>c: 100.0 ns (100.0 %)") != std::string::npos ||
                svg.find("<title>c: 100 ns (100.0 %)") != std::string::npos);
        QVERIFY(svg.find("<title>d") != std::string::npos);
        QVERIFY(svg.find("<title>a") == std::string::npos);
        QVERIFY(svg.find("<title>b") == std::string::npos);
    }

    void pictureIsValidXmlForAnyName() {
        FlameTree tree;
        tree.add({"<script>alert(1)</script>", "a \"b\" & 'c'", std::string("\x01\xff\n bad")}, 1'000'000);
        tree.add({"thin"}, 1);
        tree.arrange();
        const QString svg = svgOf(tree, "<run> & \x02");
        QXmlStreamReader xml(svg);
        int frames = 0;
        QString titles;
        while (!xml.atEnd()) {
            xml.readNext();
            if (!xml.isStartElement()) continue;
            QVERIFY(xml.name() != QLatin1String("script"));
            if (xml.name() == QLatin1String("title")) {
                titles += xml.readElementText() + "\n";
                ++frames;
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(frames, 4);  // invisibly thin frames are omitted
        QVERIFY(titles.contains("<script>alert(1)</script>: 1.000 ms (100.0 %)"));
        QVERIFY(svgOf(FlameTree(), "nothing").contains("</svg>"));
    }
};

LANESCOPE_TEST(TestFlameTree, NoApplication)
#include "tst_FlameTree.moc"
