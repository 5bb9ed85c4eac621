// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/Finder.h"
#include "app/viewer/GoToBar.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/SearchBar.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/windowStyle.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"
#include "views/topology/TopologyPanel.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

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

class TestTextFits : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        registerIcons();
        font_ = QApplication::font();
    }
    void cleanup() { QApplication::setFont(font_); }

    void narrowWindowKeepsTheSearchAndTheTimeline() {
        ShownWindow shown(simulatedTraining({.steps = 2}));
        MainWindow& window = shown.window;
        QVERIFY(shown.wait());
        const TracePage* page = window.tabs().currentTrace();
        QTRY_COMPARE(window.searchBar().edit().width(), 320);
        QVERIFY(!child<DetailsPanel>(*page).isVisible());
        window.resize(800, 500);
        QVERIFY(window.searchBar().isVisible());
        QVERIFY(window.searchBar().edit().width() >= 160);
        page->timeline().state().selection().setEvent({EventKind::Kernel, 0});
        QVERIFY(child<DetailsPanel>(*page).isVisible());
    }

    void everyTextIsComplete_data() {
        QTest::addColumn<double>("factor");
        QTest::newRow("as it is") << 1.0;
        QTest::newRow("a quarter larger") << 1.25;
        QTest::newRow("half as large again") << 1.5;
        QTest::newRow("twice as large") << 2.0;
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
        window.tabs().showTrace(simulatedTraining({.steps = 2}));
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

  private:
    QFont font_;
};

LANESCOPE_TEST(TestTextFits, QApplication)
#include "tst_TextFits.moc"
