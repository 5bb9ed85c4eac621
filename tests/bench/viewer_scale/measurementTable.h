// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonArray>
#include <QString>

namespace lanescope {

/// What `measureViewer` said of several files as a table in Markdown, a column a file, with the
/// frame times of each as a histogram below.
QString measurementTable(const QJsonArray& files);

}  // namespace lanescope
