// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/runTest.h"
#include "views/timeline/OpaqueFill.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr QSize size{80, 60};

/// Paints the same rectangles in both ways, after applying `prepare` to each painter.
template <class Prepare>
void comparePictures(double ratio, QImage::Format format, Prepare prepare) {
    std::mt19937 random(7);
    QImage plain(size, format), quick(size, format);
    for (QImage* image : {&plain, &quick}) {
        image->fill(Qt::white);
        image->setDevicePixelRatio(ratio);
    }
    QPainter plainPainter(&plain), quickPainter(&quick);
    prepare(plainPainter);
    prepare(quickPainter);
    OpaqueFill fill(quickPainter);
    // Sixteenths of a pixel, so that many edges lie on the middle of one.
    const auto place = [&](int most) { return (int(random() % uint32_t(32 * most)) - 8 * most) / 16.0; };
    for (int i = 0; i < 3000; ++i) {
        const QRectF area(place(90), place(70), place(20), place(20));
        const QRgb color = QRgb(random()) | 0xff000000u;
        if (area.width() < 0 || area.height() < 0) continue;
        plainPainter.fillRect(area, QColor::fromRgb(color));
        fill.fill(area, color);
        QVERIFY2(
            plain == quick,
            qPrintable(QStringLiteral("%1 %2 %3 %4").arg(area.x()).arg(area.y()).arg(area.width()).arg(area.height())));
    }
}

}  // namespace

class TestOpaqueFill : public QObject {
    Q_OBJECT

  private slots:
    void paintsLikeThePainter_data() {
        QTest::addColumn<double>("ratio");
        QTest::addColumn<int>("format");
        QTest::newRow("plain") << 1.0 << int(QImage::Format_RGB32);
        QTest::newRow("alpha") << 1.0 << int(QImage::Format_ARGB32_Premultiplied);
        QTest::newRow("double") << 2.0 << int(QImage::Format_RGB32);
        QTest::newRow("one and a half") << 1.5 << int(QImage::Format_RGB32);
        QTest::newRow("one and a quarter") << 1.25 << int(QImage::Format_RGB32);
        QTest::newRow("16 bits") << 1.0 << int(QImage::Format_RGB16);
    }
    void paintsLikeThePainter() {
        QFETCH(double, ratio);
        QFETCH(int, format);
        comparePictures(ratio, QImage::Format(format), [](QPainter&) {});
    }

    void respectsTheClip() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) {
            painter.setClipRect(QRect(10, 5, 40, 30));
            painter.setClipRect(QRect(5, 20, 30, 100), Qt::IntersectClip);
        });
        comparePictures(2, QImage::Format_RGB32, [](QPainter& painter) { painter.setClipRect(QRect(3, 5, 20, 11)); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) {
            painter.setClipRegion(QRegion(5, 5, 20, 20).united(QRegion(40, 10, 20, 40)));
        });
    }

    void followsTheTransformation() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.translate(13, 7); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.scale(1.5, 3); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.rotate(30); });
    }

    void leavesTransparentFillsToThePainter() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.setOpacity(0.5); });
    }
};

LANESCOPE_TEST(TestOpaqueFill, QApplication)
#include "tst_OpaqueFill.moc"
