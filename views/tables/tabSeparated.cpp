// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/tabSeparated.h"

#include <QAbstractItemModel>
#include <QStringList>
#include <algorithm>
#include <vector>

namespace lanescope::views {
namespace {

QString cleaned(QString cell) {
    for (const QChar breaking : {QLatin1Char('\t'), QLatin1Char('\n'), QLatin1Char('\r')}) {
        cell.replace(breaking, QLatin1Char(' '));
    }
    return cell;
}

std::vector<int> rowNumbers(const QAbstractItemModel& model, const QModelIndexList& rows) {
    std::vector<int> numbers;
    for (const QModelIndex& index : rows) numbers.push_back(index.row());
    if (rows.isEmpty()) {
        for (int row = 0; row < model.rowCount(); ++row) numbers.push_back(row);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows) {
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
        cells << cleaned(model.headerData(column, Qt::Horizontal).toString());
    }
    lines << cells.join(QLatin1Char('\t'));
    for (const int row : rowNumbers(model, rows)) {
        cells.clear();
        for (int column = 0; column < model.columnCount(); ++column) {
            cells << cleaned(model.index(row, column).data().toString());
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace lanescope::views
