// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <QXmlStreamReader>
#include <algorithm>

#include "model/flame/flameSvg.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// "step #/forward/gemm" and its time, of the first node so called.
int64_t timeOf(const FlameTree& tree, const std::vector<std::string>& path) {
    uint32_t at = 0;
    for (const std::string& frame : path) {
        const auto& children = tree.nodes()[at].children;
        const auto found = std::find_if(children.begin(), children.end(), [&](uint32_t child) {
            return tree.nodes()[child].name == frame;
        });
        if (found == children.end()) return -1;
        at = *found;
    }
    return tree.nodes()[at].totalNs;
}

QString svgOf(const FlameTree& tree, std::string_view title) {
    std::string text;
    writeFlameSvg(tree, title, [&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return QString::fromStdString(text);
}

}  // namespace

class TestFlameTree : public QObject {
    Q_OBJECT
  private slots:
    void framesOfOneNameAtOnePlaceAreOne() {
        FlameTree tree;
        tree.add({"a", "b"}, 10);
        tree.add({"a", "c"}, 30);
        tree.add({"b"}, 5);
        tree.add({"a", "b"}, 1);
        tree.add({"never"}, 0);
        tree.sort();
        QCOMPARE(tree.nodes().size(), size_t{5});
        QCOMPARE(tree.totalNs(), int64_t{46});
        QCOMPARE(timeOf(tree, {"a"}), int64_t{41});
        QCOMPARE(timeOf(tree, {"a", "b"}), int64_t{11});
        QCOMPARE(tree.depth(), 2u);
        const auto& first = tree.nodes()[tree.nodes()[0].children[0]];
        QCOMPARE(first.name, std::string("a"));
        QCOMPARE(tree.nodes()[first.children[0]].name, std::string("c"));
    }

    void workStandsUnderTheRangesThatLaunchedIt() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread();
        const uint32_t autograd = builder.addThread(0, 77, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream();
        for (int64_t step = 0; step < 3; ++step) {
            const int64_t at = 100'000 * step;
            builder.addNvtx(main, "step " + std::to_string(step), at, at + 90'000);
            builder.addNvtx(main, "forward", at, at + 40'000);
            builder.launch(main, stream, "gemm", at + 10'000, at + 20'000, at + 30'000);
            // After its range has ended, and launched by a thread without ranges.
            builder.launch(autograd, stream, "gemm_backward", at + 50'000, at + 95'000,
                           at + 99'000);
        }
        builder.addKernel(stream, "unknown", 400'000, 400'100);
        const FlameTree tree = flameOfRanges(*builder.finish());
        QCOMPARE(timeOf(tree, {"step #"}), int64_t{3 * 14'000});
        QCOMPARE(timeOf(tree, {"step #", "forward", "gemm"}), int64_t{30'000});
        QCOMPARE(timeOf(tree, {"step #", "gemm_backward"}), int64_t{12'000});
        QCOMPARE(timeOf(tree, {"(no range)", "unknown"}), int64_t{100});
    }

    void allTimeOfTheWorkIsInIt() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        int64_t plainNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            plainNs += trace->kernels.endNs[row] - trace->kernels.startNs[row];
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
            plainNs += trace->memcpys.endNs[row] - trace->memcpys.startNs[row];
        for (uint32_t row = 0; row < trace->memsets.size(); ++row)
            plainNs += trace->memsets.endNs[row] - trace->memsets.startNs[row];
        for (const FlameTree& tree : {flameOfRanges(*trace), flameOfStacks(*trace)}) {
            QCOMPARE(tree.totalNs(), plainNs);
            for (const FlameTree::Node& node : tree.nodes()) {
                int64_t within = 0;
                for (const uint32_t child : node.children) within += tree.nodes()[child].totalNs;
                QVERIFY(node.children.empty() || within == node.totalNs);
            }
        }
    }

    void thePictureIsXmlWhateverTheNames() {
        FlameTree tree;
        tree.add({"<script>alert(1)</script>", "a \"b\" & 'c'", std::string("\x01\xff\n bad")},
                 1'000'000);
        tree.add({"thin"}, 1);
        tree.sort();
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
        QCOMPARE(frames, 4);  // what is thinner than can be seen is left out
        QVERIFY(titles.contains("<script>alert(1)</script>: 1.000 ms (100.0 %)"));
        QVERIFY(svgOf(FlameTree(), "nothing").contains("</svg>"));
    }
};

LANESCOPE_TEST(TestFlameTree, NoApplication)
#include "tst_FlameTree.moc"
