// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/reduceToPixels.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackFilterBar.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Tracks of the labels by their titles, from the arrangement alone: the user's view.
struct Labels : ShownTimeline {
    using ShownTimeline::ShownTimeline;

    /// Valid until the next call.
    const TrackLayout& layout() const {
        layout_.setTracks(view.trace()->tracks);
        layout_.setMetrics(metrics());
        layout_.setArrangement(view.state().tracks().arrangement());
        return layout_;
    }
    uint32_t find(const std::string& path) const {
        const auto paths = trackPaths(view.trace()->tracks);
        const auto found = std::find(paths.begin(), paths.end(), path);
        return static_cast<uint32_t>(found - paths.begin());
    }
    QPoint labelOf(uint32_t track) const {
        const LayoutRow* row = layout().rowOf(track);
        return {60, row->top + std::min(row->height, 28) / 2};
    }
    void dragLabel(QPoint from, QPoint to) { drag(labels(), from, to); }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(labels(), key, modifiers); }
    QMenu* menuOf(uint32_t track) {
        const QPoint at = labelOf(track);
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, labels()->mapToGlobal(at));
        QApplication::sendEvent(labels(), &event);
        return labels()->findChild<QMenu*>();
    }
    static void choose(QMenu* menu, const QString& text) {
        for (QAction* action : menu->actions())
            if (action->text().startsWith(text)) {
                QVERIFY2(action->isEnabled(), qPrintable(text));
                action->trigger();
                menu->close();
                QCoreApplication::sendPostedEvents(menu, QEvent::DeferredDelete);
                return;
            }
        QFAIL(qPrintable("no entry " + text));
    }

  private:
    mutable TrackLayout layout_;
};

}  // namespace

class TestTrackLabels : public QObject {
    Q_OBJECT
  private slots:
    void init() { trace_ = simulatedTraining({.steps = 2}); }

    void clickFoldsAndShiftFoldsAllChildren() {
        Labels shown(trace_);
        QTest::mouseClick(shown.labels(), Qt::LeftButton, Qt::ShiftModifier, {60, 10});
        QVERIFY(shown.layout().isFolded(0));
        for (uint32_t track = 1; track < trace_->tracks.size(); ++track)
            if (shown.layout().parentOf(track) == 0 && shown.layout().canFold(track))
                QVERIFY(shown.layout().isFolded(track));
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {60, 10});
        QVERIFY(!shown.layout().isFolded(0));
    }

    void dragMovesAmongSiblingsOnly() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(true);
        const std::vector<uint32_t> before = topTracks(shown);
        QVERIFY(before.size() >= 2);
        shown.dragLabel(shown.labelOf(before[0]), shown.labelOf(before[1]));
        QCOMPARE(test::listed(topTracks(shown)[0], topTracks(shown)[1]), test::listed(before[1], before[0]));
        QVERIFY2(shown.layout().isFolded(before[0]), "a drag is no click");
        shown.dragLabel(shown.labelOf(before[0]), shown.labelOf(before[1]));
        QCOMPARE(topTracks(shown), before);
        shown.view.state().tracks().setAllFolded(false);
        shown.view.state().scroll().setY(0);  // the row under the pointer stayed
        const uint32_t child = shown.layout().rows()[1].track;
        const auto order = shown.layout().order();
        shown.dragLabel(shown.labelOf(child), shown.labelOf(before[0]));
        QCOMPARE(shown.layout().order(), order);
    }

    void escapeCancelsADrag() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(true);
        const std::vector<uint32_t> before = topTracks(shown);
        const QPoint from = shown.labelOf(before[0]), to = shown.labelOf(before[1]);
        QTest::mousePress(shown.labels(), Qt::LeftButton, {}, from);
        Labels::send(shown.labels(), to, Qt::LeftButton);
        shown.key(Qt::Key_Escape);
        QTest::mouseRelease(shown.labels(), Qt::LeftButton, {}, to);
        QCOMPARE(topTracks(shown), before);
    }

    void altAndArrowsMoveTheCurrentTrack() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(true);
        const std::vector<uint32_t> before = topTracks(shown);
        shown.labels()->setFocus(Qt::TabFocusReason);
        shown.key(Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(topTracks(shown)[1], before[0]);
        shown.key(Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(topTracks(shown), before);
        // From the timeline as well, where the selected event makes its track current.
        QTest::keyClick(&shown.view, Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(topTracks(shown)[1], before[0]);
    }

    void pinKeepsATrackVisible() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(false);
        const uint32_t last = shown.layout().rows().back().track;
        TimelineNavigator(shown.view.state()).scrollToTrack(last);
        QTest::keyClick(&shown.view, Qt::Key_P);
        QVERIFY(shown.layout().isPinned(last));
        QCOMPARE(shown.layout().rows().front().track, last);
        // Its pin, now in the first row, releases it wherever the others are scrolled to.
        shown.wheel(shown.labels(), {60, 200}, {0, -480});
        const LayoutRow row = shown.layout().rows().front();
        const QPoint pin = pinArea(row, 0, shown.labels()->width(), shown.labels()->font()).center();
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, pin);
        QVERIFY(!shown.layout().isPinned(last));
    }

    void pinnedTrackIsClickedAtItsShownPlace() {
        const SmallTrace small;
        Labels shown(small.trace);
        const SliceLocation at = small.trace->locate(small.onOtherStream);
        shown.view.state().selection().setEvent(small.onOtherStream);
        QTest::keyClick(&shown.view, Qt::Key_P);
        shown.view.commands().clearSelection();
        shown.view.resize(1100, 200);
        shown.wheel(shown.labels(), {60, 100}, {0, -1200});
        const LayoutRow* row = shown.layout().rowOf(at.track);
        QCOMPARE(row->top, 0);
        const TimeRange range = small.trace->rangeOf(small.onOtherStream);
        const QPoint middle(int(shown.toX(range.startNs + range.durationNs() / 2)),
                            TrackLayout::laneTop(*row, 0) + row->laneHeight / 2);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, middle);
        QCOMPARE(shown.view.state().selection().event(), small.onOtherStream);
    }

    void hidingLeavesAChipThatRestores() {
        Labels shown(trace_);
        auto* bar = shown.view.findChild<TrackFilterBar*>();
        QVERIFY(!bar->hiddenChip().isVisible());
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {60, 10});
        const uint32_t first = shown.layout().rows().front().track;
        shown.key(Qt::Key_H);
        QVERIFY(shown.layout().isHidden(first) && !shown.layout().rowOf(first));
        QVERIFY(bar->hiddenChip().isVisible());
        QCOMPARE(bar->hiddenChip().text(), QString("1 hidden"));
        QMenu* menu = bar->hiddenChip().menu();
        emit menu->aboutToShow();
        QVERIFY(menu->actions().front()->text().startsWith(labelTitle(*trace_, first)));
        menu->actions().front()->trigger();
        QVERIFY(shown.layout().rowOf(first));
        QVERIFY(!bar->hiddenChip().isVisible());
    }

    void contextMenuOffersAllActions() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(false);
        const uint32_t gpu = shown.layout().rows().front().track;
        Labels::choose(shown.menuOf(gpu), "Fold with all in it");
        QVERIFY(shown.layout().isFolded(gpu));
        Labels::choose(shown.menuOf(gpu), "Unfold\t");
        QVERIFY(!shown.layout().isFolded(gpu));
        Labels::choose(shown.menuOf(gpu), "Pin to the top");
        QVERIFY(shown.layout().isPinned(gpu));
        Labels::choose(shown.menuOf(gpu), "Unpin");
        QVERIFY(!shown.layout().isPinned(gpu));
        Labels::choose(shown.menuOf(gpu), "Fold all tracks");
        Labels::choose(shown.menuOf(gpu), "Move down");
        QVERIFY(topTracks(shown).front() != gpu);
        Labels::choose(shown.menuOf(gpu), "Hide");
        QVERIFY(shown.layout().isHidden(gpu));
    }

    void trackNamesAreNoMenuMarkup() {
        SimulatedTrace builder;
        const uint32_t thread = builder.addThread(0, 1, "a&b\tCtrl+Q");
        builder.addApi(thread, "cudaMalloc", 0, 100);
        Labels shown(builder.finish());
        const QString text = shown.menuOf(shown.layout().rows().back().track)->actions().front()->text();
        QVERIFY(!text.contains('\t') && (!text.contains('&') || text.contains("&&")));
    }

    void typingFiltersAndEscapeClears() {
        Labels shown(trace_);
        auto* bar = shown.view.findChild<TrackFilterBar*>();
        const QImage before = shown.labels()->grab().toImage();
        shown.view.filterTracks();
        QTest::keyClicks(&bar->edit(), "nccl");
        QVERIFY(shown.labels()->grab().toImage() != before);
        QTest::keyClick(&bar->edit(), Qt::Key_Escape);
        QVERIFY(bar->edit().text().isEmpty());
        QVERIFY(shown.view.hasFocus());
    }

    void revealingAnEventDropsAFilterInItsWay() {
        const SmallTrace small;
        Labels shown(small.trace);
        auto* bar = shown.view.findChild<TrackFilterBar*>();
        QTest::keyClicks(&bar->edit(), "python3");
        shown.view.revealEvent(small.first);
        QVERIFY(bar->edit().text().isEmpty());
    }

    void cursorKeysWalkTheLabelsAsATree() {
        Labels shown(trace_);
        shown.view.state().tracks().setAllFolded(true);
        shown.labels()->setFocus(Qt::TabFocusReason);
        const uint32_t first = shown.layout().rows().front().track;
        shown.key(Qt::Key_Right);
        QVERIFY(!shown.layout().isFolded(first));
        shown.key(Qt::Key_Right);  // into the group
        shown.key(Qt::Key_H);
        QCOMPARE(shown.layout().parentOf(shown.layout().hiddenTracks().at(0)), first);
        shown.key(Qt::Key_Up);
        shown.key(Qt::Key_Left);
        QVERIFY(shown.layout().isFolded(first));
        shown.key(Qt::Key_Right, Qt::ShiftModifier);
        shown.key(Qt::Key_Space);
        QVERIFY(shown.layout().isFolded(first));
    }

    void tracksEmptyInViewCanBeHidden() {
        Labels shown(trace_);
        shown.view.state().range().axis().setRange({0, 1'000});  // before most of them begin
        const std::vector<bool> isEmpty = emptyTracks(*trace_, shown.view.state().range().visible());
        const size_t rows = shown.layout().rows().size();
        shown.view.commands().hideEmptyTracks();
        QVERIFY(!shown.layout().hiddenTracks().empty());
        for (uint32_t track = 0; track < trace_->tracks.size(); ++track)
            if (shown.layout().rowOf(track)) QVERIFY(!isEmpty[track]);
        for (const uint32_t track : shown.layout().hiddenTracks()) QVERIFY(isEmpty[track]);
        shown.view.commands().showAllTracks();
        QCOMPARE(shown.layout().rows().size(), rows);
    }

    void titleOfAHighRowStaysInSight() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1'000);
        for (int64_t depth = 0; depth < 60; ++depth)
            builder.addNvtx(builder.defaultThread(), "range", depth * 1'000, 1'000'000 - depth * 1'000);
        ShownTimeline shown(builder.finish());
        const uint32_t track = trackOf(*shown.view.trace(), TrackKind::ThreadNvtx);
        const LayoutRow row = *shown.view.state().tracks().layout().rowOf(track);
        QVERIFY(row.height > 800);
        const QFont font = shown.labels()->font();
        QCOMPARE(titleTop(row, shown.view.state().scroll(), font), row.top);
        shown.view.state().scroll().setY(row.top + 300);
        QCOMPARE(titleTop(row, shown.view.state().scroll(), font), 0);
        // Near its end the title leaves with the row.
        shown.view.state().scroll().setY(row.bottom() - 20);
        QVERIFY(titleTop(row, shown.view.state().scroll(), font) <= 0);
        // The pin is where it is drawn.
        shown.view.state().scroll().setY(row.top + 300);
        const QPoint pin = pinArea(row, 0, shown.labels()->width(), font).center();
        ShownTimeline::send(shown.labels(), pin, Qt::NoButton);
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, pin);
        QVERIFY(shown.view.state().tracks().layout().isPinned(track));
    }

    void rowsHaveThreeHeights() {
        Labels shown(trace_);
        const int normal = shown.layout().totalHeight();
        shown.view.state().tracks().setRowHeight(RowHeight::Compact);
        QVERIFY(shown.layout().totalHeight() < normal);
        shown.view.state().tracks().setRowHeight(RowHeight::Tall);
        QVERIFY(shown.layout().totalHeight() > normal);
        QCOMPARE(shown.view.state().tracks().arrangement().height, RowHeight::Tall);
    }

  private:
    static std::vector<uint32_t> topTracks(const Labels& shown) {
        std::vector<uint32_t> tracks;
        for (const LayoutRow& row : shown.layout().rows())
            if (row.depth == 0) tracks.push_back(row.track);
        return tracks;
    }
    TracePtr trace_;
};

LANESCOPE_TEST(TestTrackLabels, QApplication)
#include "tst_TrackLabels.moc"
