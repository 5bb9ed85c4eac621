// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/MainWindow.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/windowStyle.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::viewer;

namespace {

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

class TestManual : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { registerIcons(); }

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
        QCOMPARE(manual.page().source().fileName(), QString("README.md"));
        QCOMPARE(contents.currentRow(), 0);
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

LANESCOPE_TEST(TestManual, QApplication)
#include "tst_Manual.moc"
