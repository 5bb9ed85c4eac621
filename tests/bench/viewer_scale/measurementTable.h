// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonArray>
#include <QString>

namespace lanescope {

/// Returns the results of `measureViewer` for several files as a Markdown table, one column per
/// file, with the frame times of each as a histogram below.
QString measurementTable(const QJsonArray& files);

}  // namespace lanescope
