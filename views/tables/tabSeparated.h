// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QModelIndexList>
#include <QString>

class QAbstractItemModel;

namespace lanescope::views {

/// Rows of a view as text that spreadsheets take from the clipboard: a line of headers, then one
/// line a row, cells separated by tabs. Tabs and line breaks inside a cell become spaces. All rows
/// of `model` if `rows` is empty, in the order of the view.
QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows);

}  // namespace lanescope::views
