// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/trace/kinds/Api.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/flame/FlamePanel.h"
#include "views/tables/ReportPanel.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

/// main: train (train.py:10) with forward (gemm 300 us), backward (gemm 100 us), and its own copy
/// of 100 us; after it, at 1 ms, evaluate with 500 us.
TracePtr simulatedStacks() {
    SimulatedTrace builder;
    const auto frame = [&](uint32_t outer, const char* function, const char* file, uint32_t line) {
        return builder.frame(function, file, line, outer);
    };
    const uint32_t train = frame(noIndex, "train", "/home/ada/train.py", 10);
    const uint32_t forward = frame(train, "forward", "/home/ada/model.py", 20);
    const uint32_t backward = frame(train, "backward", "/x/site-packages/torch/autograd.py", 30);
    const uint32_t evaluate = frame(noIndex, "evaluate", "/home/ada/train.py", 40);
    uint32_t correlation = 0;
    int64_t nowNs = 0;
    const auto launch = [&](uint32_t stack, const char* name, int64_t durationNs) {
        ++correlation;
        builder.addApi(builder.defaultThread(), "cuLaunchKernel", nowNs, nowNs + 1'000, correlation, stack);
        builder.addKernel(builder.defaultStream(), name, nowNs, nowNs + durationNs, correlation);
        nowNs += durationNs;
    };
    builder.addNvtx(builder.defaultThread(), "step 1", 0, 900 * us);
    launch(forward, "gemm", 300 * us);
    launch(backward, "gemm", 100 * us);
    launch(train, "copy_kernel", 100 * us);
    nowNs = 1'000 * us;
    launch(evaluate, "softmax", 500 * us);
    return builder.finish();
}

uint32_t nodeAt(const FlameTree& tree, const std::vector<std::string>& path) {
    uint32_t at = 0;
    for (const std::string& name : path) {
        uint32_t found = noIndex;
        for (const uint32_t child : tree.childrenOf(at))
            if (tree.nameOf(child) == name) found = child;
        if (found == noIndex) return noIndex;
        at = found;
    }
    return at;
}

struct Shown {
    explicit Shown(const TracePtr& trace, QSize size = {900, 300}) {
        panel.resize(size);
        panel.setTrace(trace);
        panel.show();
        if (!QTest::qWaitForWindowExposed(&panel) || !wait()) qFatal("not shown");
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !panel.isStale(); }, 60'000);
    }
    FlameChart& chart() { return child<FlameChart>(panel); }
    const FlameTree& tree() { return *chart().tree(); }
    uint32_t node(const std::vector<std::string>& path) { return nodeAt(tree(), path); }
    void click(uint32_t node) {
        QTest::mouseClick(chart().viewport(), Qt::LeftButton, {}, chart().rectOf(node).center());
    }
    void key(int key) { QTest::keyClick(&chart(), Qt::Key(key)); }
    FlamePanel panel;
};

const std::vector<std::string> toTrain{"train (train.py:10)"};
const std::vector<std::string> toForward{"train (train.py:10)", "forward (model.py:20)"};
const std::vector<std::string> toBackward{"train (train.py:10)", "backward (autograd.py:30)"};

/// A hundred thousand frames, of which few are wider than a pixel.
FlameTreePtr largeTree() {
    auto tree = std::make_shared<FlameTree>();
    std::mt19937 random(5);
    for (int path = 0; path < 40'000; ++path) {
        std::vector<std::string> frames{"main"};
        for (int depth = 0; depth < 6; ++depth) frames.push_back("f" + std::to_string(random() % (depth < 2 ? 8 : 40)));
        tree->add(frames, 1 + random() % 1'000'000);
    }
    tree->arrange();
    return tree;
}

/// Returns the right edge of the text of a frame.
int endOf(const FlameTrail& trail, const QString& frame) {
    const QString text = trail.text();
    return 8 + trail.fontMetrics().horizontalAdvance(text.left(text.indexOf(frame) + frame.size()));
}

}  // namespace

class TestFlamePanel : public QObject {
    Q_OBJECT

  private slots:
    void frameWidthIsItsTime() {
        Shown shown(simulatedStacks());
        const int width = shown.chart().viewport()->width();
        const QRect train = shown.chart().rectOf(shown.node(toTrain));
        const QRect forward = shown.chart().rectOf(shown.node(toForward));
        QVERIFY(std::abs(train.width() - width / 2) <= 1 && std::abs(forward.width() - width * 3 / 10) <= 1);
        QCOMPARE(test::listed(forward.left(), forward.top()), test::listed(train.left(), train.bottom() + 1));
        QCOMPARE(shown.panel.remark(), QString("1.00 ms on GPUs, 8 frames"));
        keepPicture(shown.panel, "flame");
    }

    void clickZoomsAndEscapeGoesUp() {
        Shown shown(simulatedStacks());
        FlameChart& chart = shown.chart();
        shown.click(shown.node(toForward));
        QCOMPARE(chart.root(), shown.node(toForward));
        QCOMPARE(chart.rectOf(shown.node(toForward)).width(), chart.viewport()->width());
        QCOMPARE(child<FlameTrail>(shown.panel).text(), QString("all › train (train.py:10) › forward (model.py:20)"));
        shown.key(Qt::Key_Escape);
        QCOMPARE(chart.root(), shown.node(toTrain));
        // The previous frame stays current.
        shown.key(Qt::Key_Return);
        QCOMPARE(chart.root(), shown.node(toForward));
        shown.key(Qt::Key_Backspace);
        shown.key(Qt::Key_Backspace);
        QCOMPARE(chart.root(), 0u);
        QVERIFY(!chart.goUp());
        shown.click(shown.node(toForward));
        shown.key(Qt::Key_Home);
        QCOMPARE(chart.root(), 0u);
    }

    void breadcrumbsLeadBack() {
        Shown shown(simulatedStacks());
        FlameTrail& trail = child<FlameTrail>(shown.panel);
        shown.click(shown.node(toForward));
        QTest::mouseClick(&trail, Qt::LeftButton, {}, QPoint(endOf(trail, "train (train.py:10)") - 4, 8));
        QCOMPARE(shown.chart().root(), shown.node(toTrain));
        QTest::mouseClick(&trail, Qt::LeftButton, {}, QPoint(endOf(trail, "all") - 4, 8));
        QCOMPARE(shown.chart().root(), 0u);
    }

    void longBreadcrumbsOmitTheirMiddle() {
        auto tree = std::make_shared<FlameTree>();
        std::vector<std::string> frames;
        for (int depth = 0; depth < 40; ++depth) frames.push_back("function_" + std::to_string(depth));
        tree->add(frames, 100);
        tree->arrange();
        FlameTrail trail;
        trail.resize(420, 24);
        trail.setPlace(tree, static_cast<uint32_t>(tree->nodes().size() - 1));
        QVERIFY(trail.text().startsWith("all › … › ") && trail.text().endsWith("function_39"));
        for (const char* frame : {"all", "function_39"}) QVERIFY(endOf(trail, frame) < trail.width());
    }

    void keysWalkTheFrames() {
        Shown shown(simulatedStacks());
        FlameChart& chart = shown.chart();
        chart.setFocus();
        shown.key(Qt::Key_Down);  // the first key shows the current frame
        QCOMPARE(chart.current(), 0u);
        shown.key(Qt::Key_Down);
        const uint32_t train = chart.current();
        QVERIFY(train == shown.node(toTrain) || train == shown.node({"evaluate (train.py:40)"}));
        if (train != shown.node(toTrain)) shown.key(Qt::Key_Right);
        QCOMPARE(chart.current(), shown.node(toTrain));
        shown.key(Qt::Key_Down);
        QCOMPARE(chart.current(), shown.node(toForward));
        QVERIFY(chart.card().isVisible());
        QCOMPARE(chart.card().title(), QString("forward (model.py:20)"));
        QVERIFY(chart.accessibleDescription().startsWith("forward (model.py:20), 300 µs"));
        shown.key(Qt::Key_Right);
        QVERIFY(chart.current() != shown.node(toForward));
        shown.key(Qt::Key_Left);
        QCOMPARE(chart.current(), shown.node(toForward));
        shown.key(Qt::Key_Up);
        QCOMPARE(chart.current(), shown.node(toTrain));
        shown.key(Qt::Key_Return);
        QCOMPARE(chart.root(), shown.node(toTrain));
    }

    void tabReachesEveryControlAndTheChart() {
        Shown shown(simulatedStacks());
        child<QComboBox>(shown.panel, "base").setFocus();
        bool isReached = false;
        for (int press = 0; press < 12 && !isReached; ++press) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            isReached = shown.chart().hasFocus();
        }
        QVERIFY(isReached);
    }

    void panelDescribesTheFrameUnderThePointer() {
        Shown shown(simulatedStacks());
        FlameChart& chart = shown.chart();
        QTest::mouseMove(chart.viewport(), chart.rectOf(shown.node(toBackward)).center());
        QTRY_VERIFY(chart.card().isVisible());
        QCOMPARE(chart.card().title(), QString("backward (autograd.py:30)"));
        QVERIFY2(chart.card().detail().contains("GPU time: 100 µs, 10.0 % of all"), qPrintable(chart.card().detail()));
        QVERIFY(chart.card().detail().startsWith("Python function of a package"));
        QVERIFY(chart.viewport()->rect().contains(chart.card().rectangle()));
        shown.click(shown.node(toTrain));
        QTest::mouseMove(chart.viewport(), chart.rectOf(shown.node(toForward)).center());
        QTRY_VERIFY(chart.card().detail().contains("60.0 % of what is shown"));
    }

    void searchCountsEachStackOnceAndFadesTheRest() {
        Shown shown(simulatedStacks());
        FlameChart& chart = shown.chart();
        const auto colorIn = [&](uint32_t node) {
            const QRect frame = chart.rectOf(node);
            return chart.viewport()->grab().toImage().pixelColor(frame.right() - 6, frame.top() + 2);
        };
        const uint32_t evaluate = shown.node({"evaluate (train.py:40)"});
        const QColor before = colorIn(evaluate);
        child<QLineEdit>(shown.panel).setFocus();
        QTest::keyClicks(&child<QLineEdit>(shown.panel), "MODEL.py");
        QCOMPARE(shown.panel.remark(), QString("1 frame, 300 µs, 30.0 % of GPU time"));
        QVERIFY(colorIn(evaluate) != before);
        QTest::keyClick(&child<QLineEdit>(shown.panel), Qt::Key_Return);
        QVERIFY(chart.hasFocus());
        child<QLineEdit>(shown.panel).clear();
        // train and evaluate are in train.py; gemm within train adds no time.
        QTest::keyClicks(&child<QLineEdit>(shown.panel), "tra");
        QCOMPARE(shown.panel.remark(), QString("2 frames, 1.00 ms, 100.0 % of GPU time"));
        child<QLineEdit>(shown.panel).setFocus();
        QTest::keyClick(&child<QLineEdit>(shown.panel), Qt::Key_Escape);
        QVERIFY(chart.hasFocus());
        QCOMPARE(shown.panel.remark(), QString("1.00 ms on GPUs, 8 frames"));
        QCOMPARE(colorIn(evaluate), before);
    }

    void selectedRangeCountsAndTheZoomStays() {
        Shown shown(simulatedStacks());
        shown.click(shown.node(toTrain));
        shown.panel.setRange(TimeRange{0, 200 * us});
        QVERIFY(shown.wait());
        QCOMPARE(shown.tree().totalNs(), 200 * us);
        QCOMPARE(shown.chart().root(), shown.node(toTrain));
        shown.panel.setRange(TimeRange{1'000 * us, 1'100 * us});
        QVERIFY(shown.wait());
        QCOMPARE(shown.chart().root(), 0u);  // train is absent
        shown.panel.setRange(TimeRange{910 * us, 920 * us});
        QVERIFY(shown.wait());
        QCOMPARE(shown.panel.emptyText(), QString("Nothing ran on a GPU in this range."));
        shown.panel.setRange(std::nullopt);
        QVERIFY(shown.wait());
        QCOMPARE(shown.tree().totalNs(), 1'000 * us);
        QVERIFY(shown.panel.emptyText().isEmpty());
        shown.panel.setVisibleRange({0, 300 * us});
        QTest::keyClick(&child<ScopeChoice>(shown.panel), Qt::Key_Down);
        QVERIFY(shown.wait());
        QCOMPARE(shown.tree().totalNs(), 300 * us);
    }

    void baseIsSelected() {
        Shown shown(simulatedStacks());
        QTest::keyClick(&child<QComboBox>(shown.panel, "base"), Qt::Key_Down);
        QVERIFY(shown.wait() && shown.node({"train (train.py)", "forward (model.py)", "gemm"}) != noIndex);
        QTest::keyClick(&child<QComboBox>(shown.panel, "base"), Qt::Key_Down);
        QVERIFY(shown.wait());
        // A single name of a family keeps its name.
        QVERIFY(shown.node({"step 1", "gemm"}) != noIndex);
    }

    void emptyPageGivesTheReason() {
        SimulatedTrace bare;
        bare.addKernel(bare.defaultStream(), "gemm", 0, 100);
        Shown shown(bare.finish());
        QVERIFY(shown.panel.emptyText().startsWith("No Python stacks in this trace: recorded with --no-python"));
        QVERIFY(!shown.panel.emptyText().contains("choose them above"));
        for (const auto* button : shown.panel.findChildren<QToolButton*>()) QVERIFY(!button->isEnabled());
        shown.panel.setBase(FlameBase::Ranges);
        QVERIFY(shown.wait() && shown.panel.emptyText().startsWith("No NVTX ranges in this trace."));
        // A trace with ranges opens on them.
        Shown training(simulatedTraining({.steps = 2}));
        QCOMPARE(child<QComboBox>(training.panel, "base").currentIndex(), int(FlameBase::Ranges));
        QVERIFY(training.panel.emptyText().isEmpty());
        training.panel.setBase(FlameBase::Lines);
        QVERIFY(training.wait() && training.panel.emptyText().contains("Steps and ranges are there"));
        keepPicture(training.panel, "flame-empty");
    }

    void menuFindsOnTheTimelineAndCopies() {
        Shown shown(simulatedStacks());
        FlameChart& chart = shown.chart();
        QSignalSpy wanted(&shown.panel, &FlamePanel::nameActivated);
        const auto choose = [&](uint32_t node, const QString& text) {
            const QPoint at = chart.rectOf(node).center();
            QContextMenuEvent event(QContextMenuEvent::Mouse, at, chart.viewport()->mapToGlobal(at));
            QApplication::sendEvent(chart.viewport(), &event);
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            QVERIFY(menu);
            keepPicture(*menu, "flame-menu");
            for (QAction* action : menu->actions())
                if (action->text() == text) {
                    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
                    return;
                }
            QFAIL(qPrintable(text));
        };
        choose(shown.node(toForward), "Find on the timeline");
        QCOMPARE(wanted.takeFirst().front().toString(), QString("line:model.py:20"));
        choose(shown.node({"train (train.py:10)", "forward (model.py:20)", "gemm"}), "Find on the timeline");
        QCOMPARE(wanted.takeFirst().front().toString(), QString("gemm"));
        choose(shown.node(toForward), "Copy the frame and what led to it");
        QCOMPARE(QApplication::clipboard()->text(), QString("GPU time\t300000\tns\t30.0 %\nforward (model.py:20)\n"
                                                            "train (train.py:10)\n"));
        choose(shown.node(toTrain), "Find all frames of this name");
        QCOMPARE(child<QLineEdit>(shown.panel).text(), QString("train (train.py:10)"));
        choose(shown.node(toTrain), "Zoom into this frame");
        QCOMPARE(chart.root(), shown.node(toTrain));
        choose(shown.node(toTrain), "Show all");
        QCOMPARE(chart.root(), 0u);
    }

    void shownGraphIsCopiedAndSaved() {
        Shown shown(simulatedStacks());
        QSignalSpy files(&shown.panel, &FlamePanel::fileRequested);
        shown.click(shown.node(toForward));
        QTest::keyClick(&shown.chart(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->text().startsWith("GPU time\t300000"));
        for (auto* button : shown.panel.findChildren<QToolButton*>()) {
            if (button->text().isEmpty()) continue;
            QTest::mouseClick(button, Qt::LeftButton);
        }
        QCOMPARE(files.count(), 2);
        QCOMPARE(QApplication::clipboard()->text(), QString("train (train.py:10);forward (model.py:20);gemm 300000\n"));
        QVERIFY(shown.panel.svg().find("<title>forward (model.py:20): 300.0 µs (100.0 %)") != std::string::npos);
        QVERIFY(shown.panel.svg().find("train (train") == std::string::npos);
    }

    void narrowFramesStayVisibleWithoutExcessDrawing() {
        const FlameTreePtr tree = largeTree();
        QVERIFY(tree->nodes().size() > 100'000);
        const FlamePlaces places{tree.get(), 0, 1'200, 18};
        for (uint32_t depth = 0; depth <= tree->depth(); ++depth) {
            std::vector<bool> isDrawn(1'200, false);
            int nextX = 0;
            const std::vector<DrawnFrame> row = drawnFrames(places, depth);
            QVERIFY(row.size() <= 1'200);
            for (const DrawnFrame& each : row) {
                QVERIFY(each.x >= nextX && each.width >= 1);
                nextX = each.x + each.width;
                QVERIFY(nextX <= 1'200);
                std::fill(isDrawn.begin() + each.x, isDrawn.begin() + nextX, true);
            }
            // Every frame has some pixels, and is found at its position.
            for (const uint32_t node : tree->row(depth)) {
                const QRect frame = places.rectOf(node);
                QVERIFY(frame.left() >= 1'200 || isDrawn[size_t(frame.left())]);
                if (frame.width() < 3) continue;
                QCOMPARE(places.frameAt(frame.center()), node);
            }
        }
        FlameChart chart;
        chart.resize(1'200, 400);
        chart.setTree(tree);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        QElapsedTimer timer;
        timer.start();
        for (int round = 0; round < 20; ++round) {
            chart.zoomTo(round % 2 == 0 ? tree->childrenOf(0).front() : 0);
            chart.viewport()->repaint();
        }
        qInfo("%lld ms for a picture of 100000 frames", timer.elapsed() / 20);
        keepPicture(chart, "flame-large");
    }

    /// Otherwise, six rows of full-width frames would fill the view.
    void opensWhereTheTimeSplits() {
        auto tree = std::make_shared<FlameTree>();
        tree->add({"<module>", "main", "train", "forward"}, 300);
        tree->add({"<module>", "main", "train", "backward"}, 700);
        tree->arrange();
        FlameChart chart;
        chart.resize(500, 200);
        chart.setTree(tree);
        chart.show();
        chart.setFocus();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        QCOMPARE(tree->nameOf(chart.root()), std::string_view("train"));
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(chart.root(), 0u);
        // A user who views the whole keeps that view.
        chart.setTree(std::make_shared<FlameTree>(*tree));
        QCOMPARE(chart.root(), 0u);
    }

    void deepStacksScroll() {
        auto tree = std::make_shared<FlameTree>();
        std::vector<std::string> frames;
        for (int depth = 0; depth < 60; ++depth) frames.push_back("function_" + std::to_string(depth));
        tree->add(frames, 100);
        tree->add({"function_0", "kernel"}, 100);
        tree->arrange();
        FlameChart chart;
        chart.resize(500, 200);
        chart.setTree(tree);
        chart.show();
        chart.setFocus();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        QVERIFY(chart.verticalScrollBar()->maximum() > 0);
        for (int press = 0; press < 50; ++press) QTest::keyClick(&chart, Qt::Key_Down);
        const QRect frame = chart.rectOf(chart.current());
        QVERIFY(chart.viewport()->rect().contains(frame.center()));
        QCOMPARE(chart.frameAt(frame.center()), chart.current());
        QTest::keyClick(&chart, Qt::Key_Return);
        QCOMPARE(chart.verticalScrollBar()->value(), 0);
    }
};

LANESCOPE_TEST(TestFlamePanel, QApplication)
#include "tst_FlamePanel.moc"
