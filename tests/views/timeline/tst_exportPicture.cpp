// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSvgRenderer>
#include <QtWidgets>

#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/exportPicture.h"

using namespace lanescope;
using namespace lanescope::views;

class tst_exportPicture : public QObject {
    Q_OBJECT

  private slots:
    void pngShowsTheView() {
        QTemporaryDir folder;
        ShownTimeline shown(simulatedTraining());
        const QString path = folder.filePath("picture.PNG");
        QVERIFY(exportPicture(shown.view, path.toStdString()).has_value());
        const QImage picture(path);
        QCOMPARE(picture.size(), shown.view.size());
        const QImage canvas = shown.canvas()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        const QRect area(shown.canvas()->pos(), shown.canvas()->size());
        QCOMPARE(picture.copy(area).convertToFormat(QImage::Format_RGB32), canvas);
    }

    void svgIsValidAndContainsText() {
        QTemporaryDir folder;
        ShownTimeline shown(SmallTrace().trace);
        const QString path = folder.filePath("picture.svg");
        QVERIFY(exportPicture(shown.view, path.toStdString()).has_value());
        QSvgRenderer renderer(path);
        QVERIFY(renderer.isValid());
        QCOMPARE(renderer.viewBox().size(), shown.view.size());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY(text.contains("cudaDeviceSynchronize"));
        QVERIFY(text.contains("GPU 0"));
    }

    void unwritablePathsAreExplained_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("says");
        QTest::newRow("other ending") << "picture.jpg"
                                      << ".png or .svg";
        QTest::newRow("no ending") << "picture"
                                   << ".png or .svg";
        QTest::newRow("no folder") << "missing/picture.png"
                                   << "Cannot write";
        QTest::newRow("no folder, SVG") << "missing/picture.svg"
                                        << "Cannot write";
    }
    void unwritablePathsAreExplained() {
        QFETCH(QString, name);
        QFETCH(QString, says);
        QTemporaryDir folder;
        ShownTimeline shown(SmallTrace().trace);
        const auto result = exportPicture(shown.view, folder.filePath(name).toStdString());
        QVERIFY(!result.has_value());
        const QString sentence = QString::fromStdString(result.error().sentence);
        QVERIFY2(sentence.contains(says) && sentence.contains(name), qPrintable(sentence));
        QVERIFY(QDir(folder.path()).isEmpty());
    }

    void failedWriteKeepsTheOldFile() {
        QTemporaryDir folder;
        const QString path = folder.filePath("picture.png");
        QVERIFY(QDir(folder.path()).mkdir("picture.png"));  // a folder of that name cannot be replaced
        ShownTimeline shown(SmallTrace().trace);
        QVERIFY(!exportPicture(shown.view, path.toStdString()).has_value());
        QVERIFY(QFileInfo(path).isDir());
        QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot).size(), 1);
    }
};

LANESCOPE_TEST(tst_exportPicture, QApplication)
#include "tst_exportPicture.moc"
