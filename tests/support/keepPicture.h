// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QPixmap>
#include <QWidget>

namespace lanescope {

/// Writes what a widget looks like to the folder that `LANESCOPE_TEST_PICTURES` names, for whoever
/// wants to look at what a test holds; nothing without it.
inline void keepPicture(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("LANESCOPE_TEST_PICTURES");
    if (!folder.isEmpty()) widget.grab().save(QDir(folder).filePath(name + ".png"));
}

}  // namespace lanescope
