// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>
#include <QStringList>

namespace lanescope::views {

/// How lines are broken. Lengths in pixels.
struct LineRoom {
    int width = 0;
    int firstIndent = 0;  ///< So much of the first line is taken.
    qsizetype mostLines = 1;
};

/// `text` broken between words into lines that fit; the first is empty where its first word has no
/// room beside what stands there. A word may be of any length and lines may be few, so what has no
/// room ends in "…".
QStringList wrapWords(QString text, const QFontMetrics& metrics, const LineRoom& room);

}  // namespace lanescope::views
