// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>

namespace lanescope {

/// Sends a complete double click. QTest::mouseDClick ends with the button down, and Qt then drops
/// mouse moves over the next window, which got no press.
inline void doubleClick(QWidget* widget, QPoint point) {
    QTest::mouseDClick(widget, Qt::LeftButton, {}, point);
    QTest::mouseRelease(widget, Qt::LeftButton, {}, point);
}

}  // namespace lanescope
