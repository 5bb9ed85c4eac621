// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/Finder.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/timeline/LabelColumn.h"
#include "views/timeline/TimelineNavigator.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    void openTrace() { showTrace(window, simulatedTraining({.steps = 3})); }
    void openComparison() {
        window.tabs().showComparison(simulatedTraining({.steps = 3}),
                                     simulatedTraining({.steps = 3, .kernelScale = 1.5}));
    }
};

void collect(const QMenu& menu, QList<QAction*>& actions) {
    for (QAction* action : menu.actions()) {
        if (action->menu()) {
            collect(*action->menu(), actions);
        } else if (!action->isSeparator()) {
            actions << action;
        }
    }
}

QList<QAction*> inMenus(const MainWindow& window) {
    QList<QAction*> actions;
    for (const QMenu* menu : window.actions().menus()) collect(*menu, actions);
    return actions;
}

QString textOf(const QWidget& sheet) {
    QString text;
    for (const QLabel* label : sheet.findChildren<QLabel*>()) text += label->text() + "\n";
    return text;
}

/// First column of the manual's tables of keys and mouse: keys as code ("Ctrl+P"), and gestures as
/// text ("Drag a name").
struct DocumentedInput {
    QStringList keys, gestures;
};

DocumentedInput documentedInput() {
    QFile page(LANESCOPE_SOURCE_DIR "/resources/manual/look.md");
    if (!page.open(QIODevice::ReadOnly)) return {};
    DocumentedInput input;
    bool isInTable = false;
    for (const QString& line : QString::fromUtf8(page.readAll()).split('\n')) {
        if (line.startsWith("| key |") || line.startsWith("| input |")) isInTable = true;
        if (!line.startsWith("| ")) isInTable = isInTable && line.startsWith("|-");
        if (!isInTable || line.startsWith("|-") || line.endsWith("| does |")) continue;
        const QString cell = line.section(" | ", 0, 0).mid(2).trimmed();
        static const QRegularExpression code("`([^`]+)`");
        auto keys = code.globalMatch(cell);
        if (!keys.hasNext()) input.gestures << cell;
        while (keys.hasNext()) input.keys << keys.next().captured(1);
    }
    return input;
}

/// A link on a page.
struct Link {
    QUrl target;
    int position = 0;  ///< Offset of its first letter.
};

std::vector<Link> linksOf(const QTextBrowser& page) {
    std::vector<Link> links;
    for (QTextBlock block = page.document()->begin(); block.isValid(); block = block.next())
        for (auto part = block.begin(); !part.atEnd(); ++part) {
            const QTextCharFormat format = part.fragment().charFormat();
            if (format.isAnchor() && !format.anchorHref().isEmpty())
                links.push_back({page.source().resolved(QUrl(format.anchorHref())), part.fragment().position()});
        }
    return links;
}

void click(QTextBrowser& page, const Link& link) {
    QTextCursor cursor(page.document());
    cursor.setPosition(link.position);
    page.setTextCursor(cursor);
    page.ensureCursorVisible();
    const QPoint place = page.cursorRect().center() + QPoint(3, 0);
    QTest::mouseMove(page.viewport(), place);
    QTest::mouseClick(page.viewport(), Qt::LeftButton, {}, place);
}

/// Returns true if the heading of that name exists and is visible.
bool showsHeading(const QTextBrowser& page, const QString& anchor) {
    for (QTextBlock block = page.document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || ManualWindow::anchorOf(block.text()) != anchor) continue;
        return page.viewport()->rect().intersects(page.cursorRect(QTextCursor(block)));
    }
    return false;
}

}  // namespace

class tst_Commands : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { registerIcons(); }

    void everyCommandIsInAMenu() {
        Shown shown;
        const QList<QAction*> listed = inMenus(shown.window);
        for (QAction* action : shown.window.actions().findChildren<QAction*>())
            QVERIFY2(listed.contains(action), qPrintable(action->text()));
        QVERIFY(listed.size() > 30);
    }

    void sheetShowsEveryKeyOfTheMenus() {
        Shown shown;
        shown.openComparison();
        const ShortcutSheet sheet(shown.window.actions());
        const QString text = textOf(sheet);
        int count = 0;
        for (const QAction* action : inMenus(shown.window)) {
            if (action->shortcuts().isEmpty()) continue;
            QVERIFY2(text.contains(ShortcutSheet::keysOf(*action) + "\n"), qPrintable(action->text()));
            ++count;
        }
        QVERIFY(count > 25);
        QVERIFY2(text.contains("Outline the baseline"), "what only a comparison can do");
    }

    void noTwoCommandsShareAKey() {
        Shown shown;
        shown.openComparison();
        QHash<QKeySequence, QString> taken;
        for (const QAction* action : inMenus(shown.window)) {
            for (const QKeySequence& keys : action->shortcuts()) {
                QVERIFY2(!taken.contains(keys), qPrintable(action->text() + " and " + taken.value(keys)));
                taken.insert(keys, action->text());
            }
        }
    }

    void everythingOnTheSheetIsInTheManual() {
        Shown shown;
        const DocumentedInput documented = documentedInput();
        const auto containsKeysOfMenus = [&] {
            for (const QAction* action : inMenus(shown.window))
                for (const QKeySequence& keys : action->shortcuts())
                    QVERIFY2(documented.keys.contains(keys.toString(QKeySequence::PortableText)),
                             qPrintable(action->text() + ": " + keys.toString()));
        };
        shown.openTrace();
        containsKeysOfMenus();
        shown.openComparison();
        containsKeysOfMenus();

        QStringList ofMenus;
        for (const QAction* action : inMenus(shown.window)) ofMenus << ShortcutSheet::keysOf(*action);
        QStringList gestures;
        const ShortcutSheet sheet(shown.window.actions());
        for (const QLabel* label : sheet.findChildren<QLabel*>())
            if (label->foregroundRole() == QPalette::Link && !ofMenus.contains(label->text()))
                gestures << label->text();
        QCOMPARE(gestures, documented.gestures);
        QVERIFY(gestures.size() > 25);
    }

    void sheetFitsIntoTheWindow() {
        Shown shown;
        shown.openComparison();
        for (const QSize size : {QSize(1280, 720), QSize(1600, 1000), QSize(1920, 1080)}) {
            shown.window.resize(size);
            ShortcutSheet sheet(shown.window.actions(), &shown.window);
            sheet.show();
            QVERIFY(sheet.width() <= size.width());
            const auto* scroll = sheet.findChild<QScrollArea*>();
            QCOMPARE(scroll->horizontalScrollBar()->maximum(), 0);
        }
    }

    void everyKeyOfTheManualIsACommand() {
        Shown shown;
        QStringList taken;
        const auto collectKeys = [&] {
            for (const QAction* action : inMenus(shown.window))
                for (const QKeySequence& keys : action->shortcuts()) taken << keys.toString(QKeySequence::PortableText);
        };
        shown.openTrace();
        collectKeys();
        shown.openComparison();
        collectKeys();
        const QStringList keys = documentedInput().keys;
        QVERIFY(keys.size() > 70);
        for (const QString& key : keys) QVERIFY2(taken.contains(key), qPrintable(key));
    }

    void questionMarkOpensTheSheet() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        QTest::keyClick(&shown.timeline(), '?');
        auto* sheet = qobject_cast<ShortcutSheet*>(QApplication::activeModalWidget());
        QVERIFY(sheet);
        QTRY_VERIFY(sheet->isAncestorOf(QApplication::focusWidget()));
        QTest::keyClick(sheet, Qt::Key_Escape);
        QTRY_VERIFY(!QApplication::activeModalWidget());
    }

    void menuExplainsTheColours() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        const auto isOn = [&](const QString& name) {
            for (const QAction* action : shown.window.actions().timelineActions())
                if (commandName(action->text()) == name) return action->isChecked();
            return false;
        };
        for (const char* part : {"By name", "Highlight slices of one name"}) QVERIFY2(isOn(part), part);
        QTest::keyClick(&shown.timeline(), Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(shown.timeline().state().options().colorMode(), ColorMode::Kind);
        QVERIFY(isOn("By kind") && !isOn("By name"));
        QTest::keyClick(&shown.timeline(), Qt::Key_2, Qt::ControlModifier);
        QVERIFY2(isOn("By kind"), "asked for again it stays");
        QTest::keyClick(&shown.timeline(), Qt::Key_X);
        QVERIFY(!shown.timeline().state().selection().isHighlighting());
        QVERIFY(!isOn("Highlight slices of one name"));
    }

    void sliceColoursAreSharedByDocumentsAndSaved() {
        Shown shown;
        shown.openTrace();
        TimelineView& first = shown.timeline();
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        const auto modesAre = [](const DocumentPage& page, ColorMode mode) {
            for (const TimelineView* timeline : page.timelines())
                if (timeline->state().options().colorMode() != mode || timeline->state().selection().isHighlighting())
                    return false;
            return true;
        };
        QTest::keyClick(&shown.timeline(), Qt::Key_X);
        for (const auto& [key, mode] :
             {std::pair(Qt::Key_3, ColorMode::Stream), std::pair(Qt::Key_4, ColorMode::NcclOperation),
              std::pair(Qt::Key_5, ColorMode::PythonLine), std::pair(Qt::Key_6, ColorMode::PythonFunction),
              std::pair(Qt::Key_1, ColorMode::Name), std::pair(Qt::Key_2, ColorMode::Kind)}) {
            QTest::keyClick(&shown.timeline(), key, Qt::ControlModifier);
            QCOMPARE(first.state().options().colorMode(), mode);
            QVERIFY2(AppSettings(shown.folder.filePath("settings.ini")).colorMode() == mode, "kept at once");
        }
        MainWindow next(shown.settings);
        showTrace(next, simulatedTraining({.steps = 3}));
        QVERIFY(modesAre(*next.tabs().currentDocument(), ColorMode::Kind));
        next.tabs().showComparison(simulatedTraining({.steps = 3}), simulatedTraining({.steps = 3}));
        QVERIFY(modesAre(*next.tabs().currentDocument(), ColorMode::Kind));
        for (const QAction* action : next.actions().timelineActions()) {
            if (commandName(action->text()) == "By kind") QVERIFY(action->isChecked());
            if (commandName(action->text()) == "By name") QVERIFY(!action->isChecked());
        }
    }

    void unknownColourModeMeansByName() {
        Shown shown;
        QSettings(shown.folder.filePath("settings.ini"), QSettings::IniFormat).setValue("colours/mode", "by the moon");
        QVERIFY(AppSettings(shown.folder.filePath("settings.ini")).colorMode() == ColorMode::Name);
    }

    void colourBlindPaletteIsSaved() {
        Shown shown;
        shown.openTrace();
        const auto shade = [&] {
            return shown.timeline().state().options().theme().colorOf(SliceCategory::Kernel).rgb();
        };
        const QRgb standard = shade();
        shown.window.actions().colorBlindSafe->trigger();
        QVERIFY(shade() != standard);
        QCOMPARE(shown.settings.palette(), Palette::ColorBlindSafe);
        {
            MainWindow next(shown.settings);
            QVERIFY(next.actions().colorBlindSafe->isChecked());
        }
        shown.window.setThemeChoice(ThemeChoice::Dark);
        QVERIFY(shown.window.actions().colorBlindSafe->isChecked());
        shown.window.actions().colorBlindSafe->trigger();
        shown.window.setThemeChoice(ThemeChoice::Light);
        QCOMPARE(shade(), Theme::light().colorOf(SliceCategory::Kernel).rgb());
    }

    void everyTableHasACommand() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        QTabWidget& tables = shown.window.tabs().currentTrace()->tables();
        shown.window.actions().showTables->setChecked(false);
        const QList<QAction*> commands = shown.window.tabs().currentTrace()->commands();
        QVERIFY(commands.size() > tables.count());
        for (int index = 0; index < tables.count(); ++index) {
            commands[index]->trigger();
            QCOMPARE(tables.currentIndex(), index);
            QVERIFY(tables.isVisible());
        }
        QVERIFY(shown.window.actions().showTables->isChecked());
        QTest::keyClick(&shown.timeline(), Qt::Key_F8);
        QCOMPARE(tables.currentIndex(), 0);
        QTest::keyClick(&shown.timeline(), Qt::Key_F8, Qt::ShiftModifier);
        QCOMPARE(tables.currentIndex(), tables.count() - 1);
    }

    void keysDoTheirMenuCommands() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        TimelineView& timeline = shown.timeline();
        const auto visibleNs = [&] { return timeline.state().range().axis().range().durationNs(); };
        QTest::keyClick(&timeline, Qt::Key_0);  // from the steady steps at opening
        const int64_t all = visibleNs();
        QTest::keyClick(&timeline, Qt::Key_W);
        QVERIFY(visibleNs() < all);
        QTest::keyClick(&timeline, Qt::Key_0, Qt::ControlModifier);
        QCOMPARE(visibleNs(), all);
        QTest::keyClick(&timeline, Qt::Key_Plus, Qt::ControlModifier);
        QCOMPARE(timeline.state().tracks().rowHeight(), RowHeight::Tall);
        QTest::keyClick(&timeline, Qt::Key_Minus, Qt::ControlModifier);
        QTest::keyClick(&timeline, Qt::Key_Minus, Qt::ControlModifier);
        QCOMPARE(timeline.state().tracks().rowHeight(), RowHeight::Compact);
        TimelineNavigator(timeline.state()).scrollToTrack(0);
        QTest::keyClick(&timeline, Qt::Key_P);
        QCOMPARE(timeline.state().tracks().arrangement().pinned.size(), 1u);
        QTest::keyClick(&timeline, Qt::Key_H);
        QCOMPARE(timeline.state().tracks().arrangement().hidden.size(), 1u);
        QTest::keyClick(&timeline, Qt::Key_H, Qt::ShiftModifier);
        QVERIFY(timeline.state().tracks().arrangement().hidden.empty());
        QTest::keyClick(&timeline, Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(!timeline.state().tracks().arrangement().folded.empty());
    }

    void cursorKeysInTheLabelsWalkTracksInsteadOfSlices() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        auto* labels = shown.timeline().findChild<LabelColumn*>();
        labels->setFocus(Qt::TabFocusReason);
        QTest::keyClick(labels, Qt::Key_Down);
        QTest::keyClick(labels, Qt::Key_Right);
        QVERIFY(!shown.timeline().state().selection().event().isValid());
        QTest::keyClick(labels, Qt::Key_P);
        QCOMPARE(shown.timeline().state().tracks().arrangement().pinned.size(), 1u);
    }

    void typedTextIsNoCommand() {
        Shown shown;
        shown.openTrace();
        QVERIFY(shown.waitForFocus());
        const TrackArrangement before = shown.timeline().state().tracks().arrangement();
        QTest::keyClick(&shown.timeline(), Qt::Key_T);
        QWidget* line = QApplication::focusWidget();
        QVERIFY(line != &shown.timeline());
        QTest::keyClicks(line, "php 0/?");
        QVERIFY(shown.timeline().state().tracks().arrangement() == before);
        QTest::keyClick(line, Qt::Key_Escape);
        QVERIFY(shown.timeline().hasFocus());
    }

    void withoutDocumentItsCommandsAreOff() {
        Shown shown;
        for (const QAction* action : shown.window.actions().timelineActions())
            QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
        QVERIFY(shown.window.actions().finder->isEnabled());
    }

    void f1OpensTheManualOnceAndEscapeClosesIt() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        MainWindow window(settings);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_F1);
        auto* manual = window.findChild<ManualWindow*>();
        QVERIFY(manual && manual->isVisible());
        QVERIFY2(!manual->isModal(), "one reads it next to the timeline");
        QTRY_COMPARE(QApplication::activeWindow(), manual);
        window.activateWindow();
        QTRY_COMPARE(QApplication::activeWindow(), &window);
        QTest::keyClick(&window, Qt::Key_F1);
        QTRY_COMPARE(QApplication::activeWindow(), manual);
        QCOMPARE(window.findChildren<ManualWindow*>().size(), 1);
        QTest::keyClick(manual, Qt::Key_Escape);
        QTRY_VERIFY(!window.findChild<ManualWindow*>());
        window.activateWindow();
        QTRY_COMPARE(QApplication::activeWindow(), &window);
        QTest::keyClick(&window, Qt::Key_F1);
        QVERIFY(window.findChild<ManualWindow*>());
    }

    void everySourcePageIsInTheManual() {
        const ManualWindow manual;
        QStringList shown;
        for (int row = 0; row < manual.contents().count(); ++row) {
            const QUrl url = manual.contents().item(row)->data(Qt::UserRole).toUrl();
            QFile inside(":" + url.path());
            QFile source(LANESCOPE_SOURCE_DIR + url.path());
            QVERIFY2(inside.open(QIODevice::ReadOnly), qPrintable(url.toString()));
            QVERIFY2(source.open(QIODevice::ReadOnly), qPrintable(url.toString()));
            QCOMPARE(inside.readAll(), source.readAll());
            shown << url.fileName();
        }
        for (const QString& page : QDir(LANESCOPE_SOURCE_DIR "/resources/manual").entryList({"*.md"}))
            QVERIFY2(shown.contains(page), qPrintable(page));
    }

    void clickOnALinkGoesToItsHeading() {
        ManualWindow manual;
        manual.show();
        QVERIFY(QTest::qWaitForWindowExposed(&manual));
        QTextBrowser& page = manual.page();
        QList<QUrl> reached;
        for (int row = 0; row < manual.contents().count(); ++row) {
            const QUrl start = manual.contents().item(row)->data(Qt::UserRole).toUrl();
            page.setSource(start);
            const std::vector<Link> links = linksOf(page);
            for (const Link& link : links) {
                if (reached.contains(link.target)) continue;
                reached << link.target;
                page.setSource(start);
                click(page, link);
                QCOMPARE(page.source(), link.target);
                QVERIFY2(!page.toPlainText().isEmpty(), qPrintable(link.target.toString()));
                if (link.target.hasFragment())
                    QVERIFY2(showsHeading(page, link.target.fragment()), qPrintable(link.target.toString()));
            }
        }
        QVERIFY(reached.size() >= 10);
    }

    void listAndButtonsFollow() {
        ManualWindow manual;
        manual.show();
        QVERIFY(QTest::qWaitForWindowExposed(&manual));
        QListWidget& contents = manual.contents();
        QTest::mouseClick(contents.viewport(), Qt::LeftButton, {}, contents.visualItemRect(contents.item(2)).center());
        QCOMPARE(manual.page().source().fileName(), QString("look.md"));
        const auto buttons = manual.findChildren<QToolButton*>();
        QVERIFY(buttons[0]->isEnabled() && !buttons[1]->isEnabled());
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QCOMPARE(test::listed(manual.page().source().fileName(), contents.currentRow()), "README.md | 0");
        QTest::mouseClick(buttons[1], Qt::LeftButton);
        QCOMPARE(contents.currentRow(), 2);
    }

    void typedTextIsFoundOnThePage() {
        ManualWindow manual;
        manual.show();
        QVERIFY(QTest::qWaitForWindowActive(&manual));
        manual.contents().setCurrentRow(1);
        QTest::keyClick(&manual, Qt::Key_F, Qt::ControlModifier);
        QTRY_VERIFY(manual.search().hasFocus());
        QTest::keyClicks(&manual.search(), "--kill");
        QCOMPARE(manual.page().textCursor().selectedText(), QString("--kill"));
        const int first = manual.page().textCursor().position();
        QTest::keyClick(&manual.search(), Qt::Key_Return);
        QVERIFY(manual.page().textCursor().position() > first);
        QTest::keyClick(&manual.search(), Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(manual.page().textCursor().position(), first);
        // After the last hit, the search wraps around.
        manual.page().moveCursor(QTextCursor::End);
        QTest::keyClick(&manual, Qt::Key_F3);
        QCOMPARE(manual.page().textCursor().position(), first);
        QTest::keyClicks(&manual.search(), "joy");
        QVERIFY2(manual.message().contains("--killjoy"), qPrintable(manual.message()));
        QTest::keyClick(&manual.search(), Qt::Key_Escape);
        QTRY_VERIFY(manual.page().hasFocus());
        QVERIFY2(manual.isVisible(), "Escape left the line and not the window");
    }

    void externalLinksAreNotOpened() {
        ManualWindow manual;
        manual.show();
        const QUrl before = manual.page().source();
        for (const char* address : {"https://example.org/x", "file:///etc/passwd", "mailto:a@b.c"}) {
            emit manual.page().anchorClicked(QUrl(address));
            QCOMPARE(manual.page().source(), before);
            QVERIFY2(manual.message().contains("outside"), qPrintable(manual.message()));
        }
    }

    void linksHaveTheColourOfTheTheme() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        MainWindow window(settings);
        window.setThemeChoice(ThemeChoice::Light);
        ManualWindow manual(&window);
        manual.show();
        const auto colour = [&] {
            QTextCursor cursor(manual.page().document());
            cursor.setPosition(linksOf(manual.page()).front().position + 1);
            return cursor.charFormat().foreground().color();
        };
        const QColor light = colour();
        window.setThemeChoice(ThemeChoice::Dark);
        QTRY_VERIFY(colour() != light);
        window.setThemeChoice(ThemeChoice::Light);
    }
};

LANESCOPE_TEST(tst_Commands, QApplication)
#include "tst_Commands.moc"
