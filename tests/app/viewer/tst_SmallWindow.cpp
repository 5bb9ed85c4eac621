// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentPage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/SearchBar.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/windowStyle.h"
#include "model/index/openTrace.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/app/viewer/roomCheck.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparedTimelines.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/StepChart.h"
#include "views/compare/WaterfallChart.h"
#include "views/explain/ExplanationPanel.h"
#include "views/jobs/LazyTab.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    explicit Shown(QSize size) : ShownWindow(size) { QApplication::processEvents(); }
    /// Empty once everything has enough room; heights settle after several layout passes.
    QString lack() {
        QStringList lacks;
        for (int turn = 0; turn < 10; ++turn) QApplication::processEvents();
        const bool isWell = QTest::qWaitFor(
            [&] {
                lacks = lackOfRoom(window);
                return lacks.isEmpty();
            },
            3'000);
        return isWell ? QString() : "\n  " + lacks.join("\n  ");
    }
    CompareView& comparison() { return qobject_cast<ComparePage*>(window.tabs().currentDocument())->view(); }
};

/// The part of a widget not clipped by surrounding areas, in its own coordinates.
QRect seenOf(const QWidget& widget) {
    QRect seen = widget.rect();
    for (const QWidget* each = &widget; !each->isWindow(); each = each->parentWidget())
        seen &= each->parentWidget()->rect().translated(-widget.mapTo(each->parentWidget(), QPoint()));
    return seen;
}

PageArea& areaOf(const QWidget& part) {
    for (QWidget* each = part.parentWidget(); each; each = each->parentWidget())
        if (auto* area = qobject_cast<PageArea*>(each)) return *area;
    qFatal("not in a page");
}

}  // namespace

class TestSmallWindow : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        registerIcons();
        font_ = QApplication::font();
        baseline_ = *openTrace(samples_("nvlink").toStdString());
        candidate_ = *openTrace(samples_("no-p2p").toStdString());
    }
    void cleanup() { QApplication::setFont(font_); }

    void everythingFits_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("points");
        QTest::newRow("laptop") << QSize(1366, 768) << 0.0;
        QTest::newRow("small") << QSize(700, 480) << 0.0;
        // The remaining space of a 1366x768 screen at twice the scale.
        QTest::newRow("half a laptop") << QSize(683, 384) << 0.0;
        QTest::newRow("large letters") << QSize(1366, 768) << 18.0;
        QTest::newRow("larger letters") << QSize(1366, 768) << 20.0;
        QTest::newRow("narrow and larger letters") << QSize(700, 768) << 20.0;
        QTest::newRow("small and larger letters") << QSize(700, 480) << 20.0;
    }
    void everythingFits() {
        QFETCH(QSize, size);
        QFETCH(double, points);
        if (points > 0) {
            QFont large = font_;
            large.setPointSizeF(points);
            QApplication::setFont(large);
        }
        Shown shown(size);
        const QString row = QTest::currentDataTag();
        const auto picture = [&](const QString& page) {
            keepPicture(shown.window, "room-" + QString(row).replace(' ', '-') + "-" + page);
        };
        QCOMPARE(shown.lack(), QString());
        picture("start");
        shown.window.tabs().showTrace(baseline_);
        QVERIFY(shown.wait());
        QVERIFY(shown.window.tabs().currentTrace()->guide().card().isVisible());
        QCOMPARE("timeline:" + shown.lack(), QString("timeline:"));
        picture("timeline");
        QTabWidget& tables = shown.window.tabs().currentTrace()->tables();
        for (int index = 0; index < tables.count(); ++index) {
            if (!tables.isTabVisible(index)) continue;
            tables.setCurrentIndex(index);
            QVERIFY(shown.wait());
            const QString title = tables.tabText(index);
            QCOMPARE(title + ":" + shown.lack(), title + ":");
            picture(QString(title).replace(' ', '-'));
            // No table makes the page wider than the window.
            QVERIFY2(areaOf(tables).widget()->width() <= size.width(),
                     qPrintable(title + QString(" %1").arg(tables.minimumSizeHint().width())));
        }
        shown.window.tabs().currentTrace()->timeline().state().selection().setEvent({EventKind::Kernel, 0});
        QCOMPARE("details:" + shown.lack(), QString("details:"));
        picture("details");
        shown.window.tabs().showComparison(baseline_, candidate_);
        QVERIFY(shown.wait());
        QCOMPARE("comparison:" + shown.lack(), QString("comparison:"));
        picture("comparison");
        CompareTables& compared = shown.comparison().tables();
        for (int index = 0; index < compared.count(); ++index) {
            if (!compared.isTabVisible(index)) continue;
            compared.setCurrentIndex(index);
            QVERIFY(shown.wait());
            const QString title = compared.tabText(index);
            QCOMPARE(title + ":" + shown.lack(), title + ":");
        }
        QCOMPARE(shown.window.size(), size);
    }

    /// Qt reads the screen properties before the program begins.
    void everythingFitsAndIsSharpOnAHighDensityScreen() {
        if (qEnvironmentVariableIsSet("QT_SCALE_FACTOR")) QSKIP("This is that program.");
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_SCALE_FACTOR", "2");
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::MergedChannels);
        for (const char* what :
             {"everythingFits:half a laptop", "everythingFits:small", "iconsAreDrawnForTheirPixels"}) {
            program.start(QApplication::applicationFilePath(), {"tst_SmallWindow", QString(what)});
            QVERIFY(program.waitForFinished(120'000));
            QVERIFY2(program.exitCode() == 0, program.readAll().constData());
        }
    }

    void iconsAreDrawnForTheirPixels() {
        Shown shown({900, 600});
        const double ratio = shown.window.devicePixelRatioF();
        int icons = 0;
        for (const QToolButton* button : shown.window.findChildren<QToolButton*>()) {
            if (button->icon().isNull() || !button->isVisible()) continue;
            for (const QSize size : {QSize(18, 18), QSize(33, 33), QSize(57, 57)}) {
                const QPixmap drawn = button->icon().pixmap(size, ratio);
                QCOMPARE(drawn.size(), size * ratio);
                ++icons;
            }
        }
        QVERIFY(icons >= 20);
    }

    void searchStaysInANarrowWindow() {
        Shown shown({700, 480});
        shown.window.tabs().showTrace(baseline_);
        QVERIFY(shown.wait());
        SearchBar& bar = shown.window.searchBar();
        QVERIFY(bar.isVisible() && bar.edit().width() >= 160);
        QTest::keyClicks(&bar.edit(), "nccl");
        QTRY_VERIFY(!bar.countText().isEmpty() && shown.wait());
        QVERIFY(bar.isVisible() && bar.edit().width() >= 160);
        QVERIFY(bar.geometry().right() < 700);
        QCOMPARE(shown.lack(), QString());
    }

    void questionWithLongNamesUsesMoreLines() {
        Shown shown({700, 480});
        shown.window.tabs().showTrace(baseline_);
        QVERIFY(shown.wait());
        OfferBar& bar = child<OfferBar>(shown.window);
        const QString name(50, QLatin1Char('x'));
        bar.offer(QStringLiteral("Compare %1.json.gz with %1.json.gz?").arg(name), QStringLiteral("Compare"));
        QTRY_COMPARE(shown.window.size(), QSize(700, 480));
        QTRY_VERIFY(bar.height() > 2 * bar.fontMetrics().height());
        QCOMPARE(shown.lack(), QString());
        shown.window.resize(1366, 768);
        QTRY_VERIFY(bar.height() < 3 * bar.fontMetrics().height());
        bar.hide();
    }

    void clickTargetsGrowWithTheFont() {
        QFont large = font_;
        large.setPointSizeF(20);
        QApplication::setFont(large);
        Shown shown({700, 768});
        shown.window.tabs().showTrace(baseline_);
        QVERIFY(shown.wait());
        const int letters = QFontMetrics(large).height();
        const QTabBar& documents = *shown.window.tabs().tabBar();
        const QWidget* close = documents.tabButton(0, QTabBar::RightSide);
        QVERIFY(close);
        QVERIFY2(close->width() >= letters * 9 / 10 && close->height() >= letters * 9 / 10,
                 qPrintable(QString("%1 of %2").arg(close->height()).arg(letters)));
        // Not all tables fit, so scroll buttons are shown.
        int scrollers = 0;
        for (const QToolButton* button :
             shown.window.tabs().currentTrace()->tables().tabBar()->findChildren<QToolButton*>()) {
            if (!button->isVisible()) continue;
            ++scrollers;
            QVERIFY2(button->width() >= letters, qPrintable(QString::number(button->width())));
        }
        QCOMPARE(scrollers, 2);
        keepPicture(shown.window, "grown");
    }

    void firstFindingIsComplete_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("points");
        QTest::newRow("small") << QSize(700, 480) << 0.0;
        QTest::newRow("laptop") << QSize(1366, 768) << 0.0;
        QTest::newRow("laptop, larger letters") << QSize(1366, 768) << 20.0;
        QTest::newRow("narrow, larger letters") << QSize(700, 768) << 20.0;
    }
    void firstFindingIsComplete() {
        QFETCH(QSize, size);
        QFETCH(double, points);
        if (points > 0) {
            QFont large = font_;
            large.setPointSizeF(points);
            QApplication::setFont(large);
        }
        Shown shown(size);
        shown.window.tabs().showTrace(baseline_);
        QVERIFY(shown.wait());
        const ExplanationPanel& card = shown.window.tabs().currentTrace()->guide().card();
        const FindingButton& first = *card.findings().front();
        QTRY_COMPARE(first.lines(), first.linesIn(first.width()));
        QVERIFY(first.lines() > 1 || size.width() > 700);
        QCOMPARE(seenOf(first), first.rect());
        QVERIFY(shown.window.tabs().currentTrace()->timeline().places().tracksArea().height() >= 60);
        QCOMPARE(shown.window.size(), size);
    }

    void smallComparisonScrollsAndClausesAndTabLeadIntoIt() {
        Shown shown({700, 480});
        shown.window.tabs().showComparison(baseline_, candidate_);
        QVERIFY(shown.wait());
        CompareView& view = shown.comparison();
        QCOMPARE(shown.window.size(), QSize(700, 480));
        QTRY_VERIFY(view.height() > areaOf(view).viewport()->height());
        // The complete answer and the compared runs come first.
        QCOMPARE(seenOf(view.headline()), view.headline().rect());
        QCOMPARE(seenOf(view.alignment()), view.alignment().rect());
        QTRY_VERIFY(view.alignment().y() >= view.headline().geometry().bottom());
        QVERIFY(!view.headline().shownHeadline().contains(QChar(0x2026)));
        // The scroll bar reaches everything.
        QScrollBar& bar = *areaOf(view).verticalScrollBar();
        QVERIFY(bar.isVisible());
        for (const QWidget* part : {static_cast<QWidget*>(&child<WaterfallChart>(view)),
                                    static_cast<QWidget*>(&view.steps()), static_cast<QWidget*>(&view.tables())}) {
            bar.setValue(part->mapTo(&view, QPoint()).y());
            QCOMPARE(seenOf(*part), part->rect());
        }
        // A chart step leads to the timelines, which become visible.
        bar.setValue(0);
        TimelineView& timeline = view.baseline().timeline();
        QVERIFY(seenOf(timeline).height() < timeline.height());
        view.steps().setFocus();
        QTest::keyClick(&view.steps(), Qt::Key_Right);
        QTRY_COMPARE(seenOf(timeline), timeline.rect());
        // So does keyboard navigation through the window.
        bar.setValue(0);
        view.alignment().setFocus();
        for (int tabs = 0; tabs < 60; ++tabs) {
            QWidget* focus = QApplication::focusWidget();
            if (focus && view.isAncestorOf(focus))
                QVERIFY2(!seenOf(*focus).isEmpty(), focus->metaObject()->className());
            QTest::keyClick(focus ? focus : &shown.window, Qt::Key_Tab);
        }
    }

    void largeWindowScrollsNothing() {
        Shown shown({1366, 768});
        shown.window.tabs().showTrace(baseline_);
        shown.window.tabs().showComparison(baseline_, candidate_);
        QVERIFY(shown.wait());
        CompareView& view = shown.comparison();
        QTRY_COMPARE(view.size(), areaOf(view).viewport()->size());
        QVERIFY(!areaOf(view).verticalScrollBar()->isVisible());
        QVERIFY(view.alignment().x() > view.headline().x());
        shown.window.tabs().setCurrentIndex(0);
        QVERIFY(shown.wait());
        const TimelineView& timeline = shown.window.tabs().currentTrace()->timeline();
        QTRY_COMPARE(areaOf(timeline).widget()->size(), areaOf(timeline).viewport()->size());
    }

  private:
    SampleCopies samples_;
    TracePtr baseline_, candidate_;
    QFont font_;
};

LANESCOPE_TEST(TestSmallWindow, QApplication)
#include "tst_SmallWindow.moc"
