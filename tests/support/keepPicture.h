// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QPixmap>
#include <QWidget>

namespace lanescope {

/// Writes a picture of a widget to the folder in `LANESCOPE_TEST_PICTURES`, for inspection; does nothing without it.
inline void keepPicture(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("LANESCOPE_TEST_PICTURES");
    if (!folder.isEmpty()) widget.grab().save(QDir(folder).filePath(name + ".png"));
}

}  // namespace lanescope
