// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/icons.h"
#include "app/viewer/sampleTrace.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/explain/ExplanationCard.h"
#include "views/explain/StepStrip.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown {
    Shown(QSize size, TracePtr trace)
        : settings(folder.filePath("settings.ini")), window(settings) {
        window.resize(size);
        window.show();
        window.tabs().showTrace(std::move(trace));
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !window.isBusy(); }, 30'000);
    }
    TracePage& page() { return *window.tabs().currentTrace(); }
    TimelineView& timeline() { return page().timeline(); }
    /// How many tracks of a kind can be seen as high as a title needs.
    int seenOf(TrackKind kind) {
        const int title = QFontMetrics(timeline().font()).height();
        int seen = 0;
        for (uint32_t track = 0; track < page().trace()->tracks.size(); ++track)
            if (page().trace()->tracks[track].kind == kind &&
                timeline().trackArea(track).height() >= title)
                ++seen;
        return seen;
    }

    QTemporaryDir folder;
    AppSettings settings;
    MainWindow window;
};

}  // namespace

/// What is seen of a trace before anything is touched.
class TestFirstSight : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { registerIcons(); }

    void eightGpusAndTheirRanksFitOneScreen_data() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("small") << QSize(1366, 768);
        QTest::newRow("large") << QSize(1920, 1080);
    }
    void eightGpusAndTheirRanksFitOneScreen() {
        QFETCH(QSize, size);
        Shown shown(size, simulatedTraining({.steps = 12, .gpuCount = 8}));
        QVERIFY(shown.wait());
        keepPicture(shown.window, QString("first-sight-8-gpus-%1").arg(size.width()));
        QCOMPARE(shown.window.size(), size);
        QCOMPARE(shown.timeline().scrollPosition(), 0);
        QCOMPARE(shown.seenOf(TrackKind::Gpu), 8);
        QCOMPARE(shown.seenOf(TrackKind::Process), 8);
        QVERIFY(shown.page().guide().card().isVisible());
        QVERIFY(shown.page().guide().strip().isVisible());
        // Not too high either: the tracks have the larger part of what is not explanation.
        QVERIFY(shown.timeline().tracksArea().height() > size.height() / 3);
    }

    void aSampleIsOneClickFromTheStart() {
        QTemporaryDir folder;
        qputenv("XDG_CACHE_HOME", QFile::encodeName(folder.filePath("cache")));
        AppSettings settings(folder.filePath("settings.ini"));
        MainWindow window(settings);
        window.resize(1000, 700);
        window.show();
        keepPicture(window, "start-page");
        auto* sample = window.startPage().findChild<QPushButton*>("sample");
        QVERIFY(sample && sample->isVisible());
        QTest::mouseClick(sample, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 60'000));
        QVERIFY(window.tabs().currentTrace());
        QVERIFY(window.tabs().currentTrace()->trace()->kernels.size() > 0);
        QVERIFY(window.tabs().currentTrace()->guide().card().isVisible());
        // Written once: a second time the same file is there, and not another.
        const QString path = *sampleTrace(folder.filePath("again"));
        const QDateTime written = QFileInfo(path).lastModified();
        QCOMPARE(*sampleTrace(folder.filePath("again")), path);
        QCOMPARE(QFileInfo(path).lastModified(), written);
        QVERIFY(QFile(path).resize(10));
        QVERIFY(sampleTrace(folder.filePath("again")));
        QVERIFY(QFileInfo(path).size() > 1'000'000);
        QVERIFY(!sampleTrace("/proc/nowhere"));
    }

    void aGpuShowsItsStreamsByRoleAndNoCounterBeforeThem() {
        Shown shown({1366, 768}, simulatedTraining({.steps = 12, .gpuCount = 1}));
        QVERIFY(shown.wait());
        keepPicture(shown.window, "first-sight-1-gpu");
        const Trace& trace = *shown.page().trace();
        std::vector<std::string> seen;
        for (uint32_t track = 0; track < trace.tracks.size(); ++track)
            if (!shown.timeline().trackArea(track).isEmpty())
                seen.push_back(trace.tracks[track].title);
        QVERIFY(seen.size() >= 4);
        QCOMPARE(seen[0], std::string("GPU 0"));
        QCOMPARE(seen[1], std::string("Compute, default stream 7"));
        const auto placeOf = [&](const char* title) {
            return std::find(seen.begin(), seen.end(), title) - seen.begin();
        };
        QVERIFY(placeOf("Communication, stream 20") > placeOf("Compute, default stream 7"));
        QVERIFY(placeOf("python3") > placeOf("Communication, stream 20"));
        QVERIFY(placeOf("python3") < std::ssize(seen));
    }
};

LANESCOPE_TEST(TestFirstSight, QApplication)
#include "tst_FirstSight.moc"
