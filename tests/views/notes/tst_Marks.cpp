// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/notes/NotesFile.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

Mark markAt(const char* id, int64_t startNs, const char* text) {
    Mark mark{.id = id, .range = {startNs, startNs}, .text = text, .color = markColors[1]};
    return mark;
}

/// A timeline with marks, as on a page.
struct Shown {
    Shown() : marks(store, timeline) {
        timeline.resize(1200, 600);
        timeline.setTrace(simulatedTraining({.steps = 3}));
        timeline.show();
        timeline.activateWindow();
        timeline.setFocus();
    }
    ~Shown() { timeline.hide(); }
    void type(const char* text) {
        QTest::keyClicks(&marks.editor().text(), text);
        QTest::keyClick(&marks.editor().text(), Qt::Key_Return);
    }
    MarkStore store;
    TimelineView timeline;
    TimelineMarks marks;
};

}  // namespace

class TestMarks : public QObject {
    Q_OBJECT

  private slots:
    void marksTheSelectedRange() {
        Shown shown;
        shown.timeline.state().selection().setRange(TimeRange{2 * ms, 5 * ms});
        shown.marks.addMark();
        QVERIFY(shown.marks.editor().isVisible() && shown.store.marks().empty());
        shown.type("slow here");
        QCOMPARE(shown.store.marks().size(), size_t(1));
        QCOMPARE(shown.store.marks()[0].range, (TimeRange{2 * ms, 5 * ms}));
        QCOMPARE(shown.store.marks()[0].text, std::string("slow here"));
        QVERIFY(shown.store.marks()[0].track.empty() && !shown.marks.editor().isVisible());
    }

    void marksTheSelectedEventOnItsTrack() {
        Shown shown;
        const EventRef kernel(EventKind::Kernel, 5);
        shown.timeline.state().selection().setEvent(kernel);
        shown.marks.addMark();
        shown.type("this one");
        const Mark& mark = shown.store.marks().at(0);
        const Trace& trace = *shown.timeline.trace();
        QCOMPARE(mark.range, trace.rangeOf(kernel));
        QCOMPARE(trackOfPath(trace, mark.track), trace.locate(kernel).track);
    }

    void marksAreShownInPictures() {
        Shown shown;
        const auto picture = [&] {
            QImage image(shown.timeline.size(), QImage::Format_RGB32);
            QPainter painter(&image);
            shown.timeline.renderTo(&painter, shown.timeline.size());
            return image;
        };
        shown.store.add(markAt("a", 3 * ms, "here"));
        const int x = int(shown.timeline.places().xOf(3 * ms));
        const int y = shown.timeline.places().tracksArea().bottom() - 3;
        const QColor marked = picture().pixelColor(x, y);
        shown.store.remove("a");
        shown.store.add(markAt("b", 30 * ms, "the strip stays where it is"));
        const QColor plain = picture().pixelColor(x, y);
        QVERIFY2(marked != plain, qPrintable(marked.name()));
        const QColor wanted = QColor::fromRgb(markColors[1]);
        const auto distance = [&](const QColor& color) {
            return std::abs(color.red() - wanted.red()) + std::abs(color.green() - wanted.green()) +
                   std::abs(color.blue() - wanted.blue());
        };
        QVERIFY(distance(marked) < distance(plain));
        // Within a range, all colours stay.
        shown.store.add({.id = "c", .range = {2 * ms, 5 * ms}, .text = "range", .color = markColors[1]});
        QCOMPARE(picture().pixelColor(x, y), plain);
        QCOMPARE(picture().pixelColor(int(shown.timeline.places().xOf(5 * ms)), y).hue(), marked.hue());
    }

    void withoutSelectionTheMiddleIsMarked() {
        Shown shown;
        shown.marks.addMark();
        shown.type("x");
        const TimeRange visible = shown.timeline.state().range().axis().range();
        const int64_t middle = visible.startNs + visible.durationNs() / 2;
        QVERIFY(std::abs(shown.store.marks().at(0).range.startNs - middle) < visible.durationNs() / 100);
    }

    void escapeDiscardsTheNewMark() {
        Shown shown;
        shown.marks.addMark();
        QTest::keyClicks(&shown.marks.editor().text(), "never mind");
        QTest::keyClick(&shown.marks.editor().text(), Qt::Key_Escape);
        QVERIFY(shown.store.marks().empty() && !shown.marks.editor().isVisible());
        QCOMPARE(shown.marks.strip().isVisibleTo(&shown.timeline), false);
    }

    void colourIsPickedWithTheMouse() {
        Shown shown;
        shown.marks.addMark();
        QTest::mouseClick(shown.marks.editor().colors()[3], Qt::LeftButton);
        QVERIFY(shown.marks.editor().isVisible());
        shown.type("red");
        QCOMPARE(shown.store.marks().at(0).color, markColors[3]);
    }

    void stripIsInvisibleWithoutMarks() {
        Shown shown;
        const int above = shown.timeline.places().tracksArea().top();
        shown.store.add(markAt("a", 3 * ms, "a"));
        QCOMPARE(shown.timeline.places().tracksArea().top(), above + MarkStrip::stripHeight);
        shown.store.remove("a");
        QCOMPARE(shown.timeline.places().tracksArea().top(), above);
    }

    void flagIsClickedDraggedAndEdited() {
        Shown shown;
        QVERIFY(QTest::qWaitForWindowExposed(&shown.timeline));
        shown.store.add(markAt("a", 10 * ms, "first"));
        MarkStrip& strip = shown.marks.strip();
        const QPoint place = strip.flagOf("a").center();
        QTest::mouseClick(&strip, Qt::LeftButton, {}, place);
        QCOMPARE(shown.store.selected(), std::string("a"));
        const int64_t before = shown.store.marks()[0].range.startNs;
        QTest::mousePress(&strip, Qt::LeftButton, {}, place);
        QTest::mouseMove(&strip, place + QPoint(60, 0));
        QTest::mouseMove(&strip, place + QPoint(120, 0));
        QTest::mouseRelease(&strip, Qt::LeftButton, {}, place + QPoint(120, 0));
        const int64_t moved = shown.store.marks()[0].range.startNs - before;
        const int64_t expected = shown.timeline.places().timeAt(520) - shown.timeline.places().timeAt(400);
        QVERIFY2(std::abs(moved - expected) <= expected / 50, qPrintable(QString::number(moved)));
        doubleClick(&strip, strip.flagOf("a").center());
        QVERIFY(shown.marks.editor().isVisible());
        shown.type("second");
        QCOMPARE(shown.store.marks()[0].text, std::string("second"));
        shown.store.undoStack().undo();
        QCOMPARE(shown.store.marks()[0].text, std::string("first"));
        shown.store.undoStack().undo();
        QCOMPARE(shown.store.marks()[0].range.startNs, before);
    }

    void crowdedFlagsAreAsWideAsTheirTextsAllow() {
        Shown shown;
        MarkStrip& strip = shown.marks.strip();
        for (const size_t count : {size_t{1}, size_t{20}, size_t{400}}) {
            Notes notes;
            const TimeRange range = shown.timeline.state().range().axis().range();
            for (size_t index = 0; index < count; ++index) {
                const auto place = static_cast<int64_t>(index * 7919 % 1000);
                notes.marks.push_back(markAt(std::to_string(index).c_str(),
                                             range.startNs + range.durationNs() * place / 1000,
                                             index % 5 == 0 ? "" : "what is to be seen here"));
            }
            shown.store.setNotes(notes);
            // Every text measured, by the plain rule.
            struct Flag {
                const Mark* mark;
                int left, width;
            };
            std::vector<Flag> flags;
            const QFontMetrics metrics(strip.font());
            for (const Mark& mark : shown.store.marks()) {
                const double x = shown.timeline.places().xOf(mark.range.startNs) - strip.x();
                if (x < 0 || x > strip.width()) continue;
                const QString text = QString::fromStdString(mark.text);
                const int width = text.isEmpty() ? 0 : metrics.horizontalAdvance(text) + 12;
                const int left = static_cast<int>(std::floor(x)), room = std::max(11, strip.width() - 2 - left);
                flags.push_back({&mark, left, std::min(std::clamp(width, 11, 220), room)});
            }
            std::ranges::stable_sort(flags, {}, &Flag::left);
            for (size_t index = 0; index < flags.size(); ++index) {
                if (index + 1 < flags.size())
                    flags[index].width =
                        std::max(3, std::min(flags[index].width, flags[index + 1].left - flags[index].left - 1));
                const QRect area = strip.flagOf(flags[index].mark->id);
                QCOMPARE(area.left(), flags[index].left);
                QCOMPARE(area.width(), flags[index].width);
            }
        }
    }

    void selectedFlagOfSeveralAtOnePlaceIsMarked() {
        Shown shown;
        QVERIFY(QTest::qWaitForWindowExposed(&shown.timeline));
        for (const char* id : {"a", "b", "c"}) shown.store.add(markAt(id, 10 * ms, "text"));
        const QImage plain = shown.marks.strip().grab().toImage();
        shown.store.select("a");
        QVERIFY(shown.marks.strip().grab().toImage() != plain);
    }

    void doubleClickOnTheStripCreatesAMark() {
        Shown shown;
        QVERIFY(QTest::qWaitForWindowExposed(&shown.timeline));
        shown.store.add(markAt("a", 1 * ms, "first"));
        MarkStrip& strip = shown.marks.strip();
        doubleClick(&strip, {600, 10});
        shown.type("second");
        QCOMPARE(shown.store.marks().size(), size_t(2));
        const double x = shown.timeline.places().xOf(shown.store.marks()[1].range.startNs) - strip.x();
        QVERIFY(std::abs(x - 600) < 2);
    }

    void removingCanBeUndone() {
        MarkStore store;
        QSignalSpy edited(&store, &MarkStore::edited);
        store.add(markAt("a", 1, "a"));
        store.add(markAt("b", 2, "b"));
        store.select("a");
        store.remove("a");
        QCOMPARE(store.selected(), std::string());
        store.undoStack().undo();
        QCOMPARE(store.marks()[0].text, std::string("a"));
        store.undoStack().undo();
        QCOMPARE(store.marks().size(), size_t(1));
        store.undoStack().redo();
        QCOMPARE(test::listed(store.marks().size(), edited.count()), test::listed(size_t(2), 6));
    }

    void changesOfAnotherViewerAreMergedAndUndoStillWorks() {
        MarkStore store;
        QSignalSpy edited(&store, &MarkStore::edited);
        store.add(markAt("a", 1, "a"));
        Notes merged = store.notes();
        merged.marks.push_back(markAt("b", 2, "theirs"));
        store.setNotes(merged);
        QCOMPARE(edited.count(), 1);
        store.undoStack().undo();
        QCOMPARE(store.marks().size(), size_t(1));
        QCOMPARE(store.marks()[0].text, std::string("theirs"));
    }

    void goesFromMarkToMark() {
        Shown shown;
        for (const auto& [id, at] :
             {std::pair("a", 2 * ms), std::pair("b", 8 * ms), std::pair("c", 8 * ms), std::pair("d", 20 * ms)})
            shown.store.add(markAt(id, at, id));
        shown.store.select("a");
        shown.timeline.state().range().axis().setRange({1 * ms, 3 * ms});
        QStringList order;
        for (int i = 0; i < 4; ++i) {
            shown.marks.step(true);
            order << QString::fromStdString(shown.store.selected());
            const Mark* mark = shown.store.find(shown.store.selected());
            QVERIFY(shown.timeline.state().range().axis().range().contains(mark->range.startNs));
        }
        QCOMPARE(order, QStringList({"b", "c", "d", "d"}));
        shown.marks.step(false);
        QCOMPARE(shown.store.selected(), std::string("c"));
    }

    void listPassesTheQtModelTester() {
        MarkStore store;
        MarksPanel panel(store);
        QAbstractItemModelTester tester(&child<MarksModel>(panel),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        store.add(markAt("b", 2, "b"));
        store.add(markAt("a", 1, "a"));
        store.change(markAt("a", 1, "changed"));
        store.change(markAt("a", 5, "moved"));
        QCOMPARE(child<MarksModel>(panel).markAt(1)->id, std::string("a"));
        QVERIFY(child<MarksModel>(panel).setData(child<MarksModel>(panel).index(0, MarksModel::Text), "typed",
                                                 Qt::EditRole));
        QCOMPARE(store.find("b")->text, std::string("typed"));
        store.remove("a");
        store.remove("b");
        QCOMPARE(child<MarksModel>(panel).rowCount(), 0);
    }

    void listIsOperatedWithKeys() {
        MarkStore store;
        MarksPanel panel(store);
        panel.resize(900, 300);
        for (const char* id : {"a", "b", "c"}) store.add(markAt(id, id[0] * ms, id));
        panel.show();
        panel.activateWindow();
        child<QTableView>(panel).setFocus();
        QSignalSpy activated(&panel, &MarksPanel::markActivated);
        QTest::mouseClick(child<QTableView>(panel).viewport(), Qt::LeftButton, {},
                          child<QTableView>(panel).visualRect(child<MarksModel>(panel).index(1, 3)).center());
        QCOMPARE(store.selected(), std::string("b"));
        QTest::keyClick(&child<QTableView>(panel), Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QTest::keyClick(&child<QTableView>(panel), Qt::Key_F2);
        auto* edit = child<QTableView>(panel).findChild<QLineEdit*>();
        QVERIFY(edit);
        QTest::keyClicks(edit, "renamed");
        QTest::keyClick(edit, Qt::Key_Return);
        QTRY_COMPARE(store.find("b")->text, std::string("renamed"));
        QTest::keyClick(&child<QTableView>(panel), Qt::Key_Delete);
        QVERIFY(!store.find("b"));
        store.undoStack().undo();
        QVERIFY(store.find("b"));
    }

    void copiesAsTextAndMarkdown() {
        MarkStore store;
        MarksPanel panel(store);
        panel.setTrace(SimulatedTrace().finish("run.sqlite"));
        store.add(markAt("a", 1'500 * ms, "one | two"));
        panel.copyAsText();
        QCOMPARE(QApplication::clipboard()->text(),
                 QString("Start\tDuration\tTrack\tText\n1.500000000 s\t\t\tone | two\n"));
        panel.copyAsMarkdown();
        QVERIFY(QApplication::clipboard()->text().startsWith("## run.sqlite\n"));
        QVERIFY(QApplication::clipboard()->text().contains("one \\| two"));
    }
};

LANESCOPE_TEST(TestMarks, QApplication)
#include "tst_Marks.moc"
