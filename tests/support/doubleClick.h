// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>

namespace lanescope {

/// A whole double click. QTest::mouseDClick ends with the button down, and Qt then drops the moves
/// of the mouse over the next window, which never saw it pressed.
inline void doubleClick(QWidget* widget, QPoint point) {
    QTest::mouseDClick(widget, Qt::LeftButton, {}, point);
    QTest::mouseRelease(widget, Qt::LeftButton, {}, point);
}

}  // namespace lanescope
