// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/Finder.h"
#include "app/viewer/GoToBar.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "model/index/openTrace.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/app/viewer/roomCheck.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparedTimelines.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/DetailsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/jobs/LazyTab.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/topology/TopologyPanel.h"

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

/// Reason why the text of a widget is not fully readable; empty if it is.
QString unreadableReason(const QWidget& widget) {
    const auto isLow = [&](int needed) { return widget.height() < needed; };
    const int textHeight = widget.fontMetrics().height();
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        if (label->text().isEmpty()) return {};
        if (label->wordWrap()) {
            const int needed = label->heightForWidth(label->width());
            return isLow(needed) ? "wrapped label too low: " + label->text() : QString();
        }
        const bool isNarrow = label->width() < label->sizeHint().width();
        if (!isNarrow && !isLow(textHeight)) return {};
        return QStringLiteral("label of %1x%2, %3x%4 needed: %5")
            .arg(label->width())
            .arg(label->height())
            .arg(label->sizeHint().width())
            .arg(textHeight)
            .arg(label->text());
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        if (button->text().isEmpty()) return {};
        const bool isNarrow = button->width() < button->sizeHint().width();
        return isNarrow || isLow(textHeight) ? "button: " + button->text() : QString();
    }
    if (qobject_cast<const QLineEdit*>(&widget) || qobject_cast<const QComboBox*>(&widget))
        return isLow(textHeight) ? "line: " + widget.accessibleName() : QString();
    return {};
}

QStringList clippedTexts(const QWidget& window) {
    QStringList cut;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        if (const QString what = unreadableReason(*widget); !what.isEmpty()) cut << what;
    }
    return cut;
}

/// Vertical centre of the text in an area, without lines at its edges; -1 without text.
double middleOfText(QWidget& widget, QRect area) {
    area.adjust(3, 3, -3, -3);
    const QImage image = widget.grab(area).toImage();
    const QRgb background = image.pixel(0, 0);
    int top = -1, bottom = -1;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixel(x, y) != background) {
                top = top < 0 ? y : top;
                bottom = y;
            }
    return top < 0 ? -1 : area.top() + (top + bottom) / 2.0;
}

/// Bars without content are hidden, unlike the pages of background tabs.
bool isInInvisibleBar(const QWidget& widget) {
    for (const QWidget* each = &widget; each; each = each->parentWidget())
        if (each->isHidden() && !qobject_cast<const QStackedWidget*>(each->parentWidget())) return true;
    return false;
}

}  // namespace

class tst_SmallWindow : public QObject {
    Q_OBJECT

    SampleCopies samples_;
    TracePtr baseline_, candidate_;
    QFont font_;

  private slots:
    void initTestCase() {
        registerIcons();
        font_ = QApplication::font();
        baseline_ = *openTrace(samples_("nvlink").toStdString());
        candidate_ = *openTrace(samples_("no-p2p").toStdString());
        registerIcons();
        font_ = QApplication::font();
    }

    void cleanup() { QApplication::setFont(font_); }

    void everythingFits_data() {
        const test::Rows<QSize, double> row;
        row("laptop", QSize(1366, 768), 0.0);
        row("small", QSize(700, 480), 0.0);
        // The remaining space of a 1366x768 screen at twice the scale.
        row("half a laptop", QSize(683, 384), 0.0);
        row("large letters", QSize(1366, 768), 18.0);
        row("larger letters", QSize(1366, 768), 20.0);
        row("narrow and larger letters", QSize(700, 768), 20.0);
        row("small and larger letters", QSize(700, 480), 20.0);
    }
    void everythingFits() {
        const auto [size, points] = test::row<QSize, double>();
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
        QVERIFY(shown.opened(baseline_) && shown.window.tabs().currentTrace()->guide().card().isVisible());
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
                QCOMPARE(button->icon().pixmap(size, ratio).size(), size * ratio);
                ++icons;
            }
        }
        QVERIFY(icons >= 20);
    }

    void searchStaysInANarrowWindow() {
        Shown shown({700, 480});
        QVERIFY(shown.opened(baseline_));
        SearchBar& bar = shown.window.searchBar();
        QVERIFY(bar.isVisible() && bar.edit().width() >= 160);
        QTest::keyClicks(&bar.edit(), "nccl");
        QTRY_VERIFY(!bar.countText().isEmpty() && shown.wait());
        QVERIFY(bar.isVisible() && bar.edit().width() >= 160 && bar.geometry().right() < 700);
        QCOMPARE(shown.lack(), QString());
    }

    void questionWithLongNamesUsesMoreLines() {
        Shown shown({700, 480});
        QVERIFY(shown.opened(baseline_));
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
        QVERIFY(shown.opened(baseline_));
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
        const test::Rows<QSize, double> row;
        row("small", QSize(700, 480), 0.0);
        row("laptop", QSize(1366, 768), 0.0);
        row("laptop, larger letters", QSize(1366, 768), 20.0);
        row("narrow, larger letters", QSize(700, 768), 20.0);
    }
    void firstFindingIsComplete() {
        const auto [size, points] = test::row<QSize, double>();
        if (points > 0) {
            QFont large = font_;
            large.setPointSizeF(points);
            QApplication::setFont(large);
        }
        Shown shown(size);
        QVERIFY(shown.opened(baseline_));
        const ExplanationPanel& card = shown.window.tabs().currentTrace()->guide().card();
        const FindingButton& first = *card.findings().front();
        QTRY_COMPARE(seenOf(first), first.rect());
        if (points == 0 || size.width() > 700) QVERIFY(first.sizeHint().width() <= first.width());
        // Its gain is always complete: the picture equals that of a wide button as far as the gain reaches.
        QFont strong = first.font();
        strong.setWeight(QFont::DemiBold);
        const QRect gain(0, 0, QFontMetrics(strong).horizontalAdvance(first.text().gain) + 20, first.height());
        FindingButton wide(first.text());
        wide.setFont(first.font());
        wide.setPalette(first.palette());
        wide.resize(first.sizeHint().width() + 100, first.height());
        const auto pictureOf = [&gain](const FindingButton& button) {
            QImage image(gain.size(), QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::white);
            const_cast<FindingButton&>(button).render(&image, {}, gain, {});
            return image;
        };
        QCOMPARE(pictureOf(first), pictureOf(wide));
        // The window lays itself out again after the guide has its text.
        QTRY_VERIFY(shown.window.tabs().currentTrace()->timeline().places().tracksArea().height() >= 60);
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
        showTrace(shown.window, baseline_);
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

    void narrowWindowKeepsTheSearchAndTheTimeline() {
        ShownWindow shown(simulatedTraining({.steps = 2}));
        MainWindow& window = shown.window;
        QVERIFY(shown.wait());
        const TracePage* page = window.tabs().currentTrace();
        QTRY_COMPARE(window.searchBar().edit().width(), 320);
        QVERIFY(!child<DetailsPanel>(*page).isVisible());
        window.resize(800, 500);
        QVERIFY(window.searchBar().isVisible() && window.searchBar().edit().width() >= 160);
        page->timeline().state().selection().setEvent({EventKind::Kernel, 0});
        QVERIFY(child<DetailsPanel>(*page).isVisible());
    }

    void everyTextIsComplete_data() {
        test::rows<double>(
            "factor",
            {{"as it is", 1.0}, {"a quarter larger", 1.25}, {"half as large again", 1.5}, {"twice as large", 2.0}});
    }
    void everyTextIsComplete() {
        QFETCH(double, factor);
        QFont larger = font_;
        larger.setPointSizeF(font_.pointSizeF() * factor);
        QApplication::setFont(larger);
        ShownWindow shown(QSize(1600, 1000));
        MainWindow& window = shown.window;
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QApplication::processEvents();
        QCOMPARE(clippedTexts(window).join("; "), QString());
        showTrace(window, simulatedTraining({.steps = 2}));
        QVERIFY(shown.wait());
        QTabWidget& tables = window.tabs().currentTrace()->tables();
        for (int index = 0; index < tables.count(); ++index) {
            tables.setCurrentIndex(index);
            QVERIFY(shown.wait());
            // A layout needs several passes to settle where heights follow widths.
            QVERIFY2(QTest::qWaitFor([&] { return clippedTexts(window).isEmpty(); }),
                     qPrintable(tables.tabText(index) + ": " + clippedTexts(window).join(", ")));
        }
        TimelineNavigator(window.tabs().currentTrace()->timeline().state()).scrollToTrack(0);
        window.tabs().currentTrace()->timeline().commands().hideTrack();
        child<Finder>(window).popUp();
        QApplication::processEvents();
        QCOMPARE(clippedTexts(window).join("; "), QString());
        child<GoToBar>(window).popUp();
        QTest::keyClicks(&child<GoToBar>(window).edit(), "soon");
        QTest::keyClick(&child<GoToBar>(window).edit(), Qt::Key_Return);
        QApplication::processEvents();
        QCOMPARE(clippedTexts(window).join("; "), QString());
    }

    void everyControlHasAnAccessibleName() {
        ShownWindow shown(simulatedTraining({.steps = 2}), QSize(1600, 1000));
        MainWindow& window = shown.window;
        QVERIFY(shown.wait());
        child<Finder>(window).popUp();
        QStringList nameless;
        for (QWidget* widget : window.findChildren<QWidget*>()) {
            const bool canHaveFocus = (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
            const bool isReached = widget->isEnabled() && canHaveFocus && !widget->focusProxy();
            // Tabs and lists in a background page exist as well.
            if (!isReached || isInInvisibleBar(*widget)) continue;
            QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(widget);
            const QString name = interface ? interface->text(QAccessible::Name) : QString();
            if (name.isEmpty())
                nameless << QString(widget->metaObject()->className()) + " in " +
                                widget->parentWidget()->metaObject()->className();
        }
        nameless.removeDuplicates();
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join("; ")));
    }

    void topologyRowsAreAlignedWithHeadingsAndAboveTheScrollBar() {
        TopologyPanel panel;
        panel.setStyleSheet(windowStyle(Theme::light()));
        panel.setTrace(simulatedMachine({.gpuCount = 2, .steps = 2, .linksPerGpu = 18}));
        panel.resize(1400, 500);
        panel.show();
        QVERIFY(QTest::qWaitFor([&] { return !panel.isStale(); }, 60'000));
        const auto* view = panel.findChild<QTableView*>("matrix");
        QTRY_VERIFY(view && view->isVisible() && view->height() > 0);
        for (int row = 0; row < 2; ++row) {
            const QRect cell = view->visualRect(view->model()->index(row, 1 - row));
            const QHeaderView& header = *view->verticalHeader();
            const QRect heading(0, header.sectionViewportPosition(row), header.width(), header.sectionSize(row));
            const double cellMiddle = middleOfText(*view->viewport(), cell);
            const double headingMiddle = middleOfText(*header.viewport(), heading);
            QVERIFY(cellMiddle > 0 && headingMiddle > 0);
            QVERIFY2(std::abs(cellMiddle - headingMiddle) <= 1,
                     qPrintable(QString("%1 %2").arg(cellMiddle).arg(headingMiddle)));
        }
        panel.resize(420, 500);
        QTRY_VERIFY(view->horizontalScrollBar()->maximum() > 0);
        QTRY_VERIFY(view->rowViewportPosition(1) + view->rowHeight(1) <= view->viewport()->height());
    }
};

LANESCOPE_TEST(tst_SmallWindow, QApplication)
#include "tst_SmallWindow.moc"
