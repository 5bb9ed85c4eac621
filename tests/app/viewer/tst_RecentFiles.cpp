// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/AppSettings.h"
#include "app/viewer/StartPage.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::viewer;

class TestRecentFiles : public QObject {
    Q_OBJECT
  private slots:
    void lastOpenedFileIsFirstAndUnique() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        RecentFiles files(settings);
        files.add("/traces/a.lanescope");
        files.add("/traces/b.lanescope");
        files.add("/traces/a.lanescope");
        QCOMPARE(files.paths(), QStringList({"/traces/a.lanescope", "/traces/b.lanescope"}));
    }

    void recentFilesAreSaved() {
        QTemporaryDir folder;
        {
            AppSettings settings(folder.filePath("settings.ini"));
            RecentFiles(settings).add("/traces/a.lanescope");
        }
        AppSettings settings(folder.filePath("settings.ini"));
        QCOMPARE(RecentFiles(settings).paths(), QStringList({"/traces/a.lanescope"}));
    }

    void listIsBounded() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        RecentFiles files(settings);
        for (int i = 0; i < 30; ++i) files.add(QString("/traces/%1").arg(i));
        QCOMPARE(files.paths().size(), RecentFiles::maxFiles);
        QCOMPARE(files.paths().front(), QString("/traces/29"));
    }

    void menuFollowsAndReportsTheChoice() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        RecentFiles files(settings);
        QMenu menu;
        files.attach(&menu);
        QVERIFY(!menu.isEnabled());
        files.add("/traces/R&D.lanescope");
        QVERIFY(menu.isEnabled());
        QCOMPARE(menu.actions().front()->text(), QString("R&&D.lanescope – /traces"));
        QSignalSpy chosen(&files, &RecentFiles::chosen);
        menu.actions().front()->trigger();
        QCOMPARE(chosen.front().front().toString(), QString("/traces/R&D.lanescope"));
        menu.actions().back()->trigger();
        QVERIFY(files.paths().isEmpty());
        QVERIFY(!menu.isEnabled());
    }

    void comparisonIsOneEntryWithItsFolders() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        RecentFiles files(settings);
        files.add(QStringList{"/traces/a.sqlite", "/other/b.sqlite"});
        files.add("/traces/a.sqlite");
        QCOMPARE(files.paths().size(), 2);
        const QString entry = files.paths().back();
        QCOMPARE(RecentFiles::filesOf(entry), QStringList({"/traces/a.sqlite", "/other/b.sqlite"}));
        QCOMPARE(RecentFiles::textOf(entry), QString("a.sqlite with b.sqlite – /traces, /other"));
        QCOMPARE(RecentFiles::textOf(QDir::homePath() + "/runs/c.sqlite"), QString("c.sqlite – ~/runs"));
        // A removed file removes its comparisons.
        files.remove("/other/b.sqlite");
        QCOMPARE(files.paths(), QStringList({"/traces/a.sqlite"}));
    }

    void settingsRememberThemeAndPanels() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        QCOMPARE(settings.theme(), ThemeChoice::System);
        settings.setTheme(ThemeChoice::Dark);
        settings.setPanelVisible("details", false);
        AppSettings again(folder.filePath("settings.ini"));
        QCOMPARE(again.theme(), ThemeChoice::Dark);
        QVERIFY(!again.isPanelVisible("details"));
        QVERIFY(again.isPanelVisible("tables"));
    }
};

LANESCOPE_TEST(TestRecentFiles, QApplication)
#include "tst_RecentFiles.moc"
