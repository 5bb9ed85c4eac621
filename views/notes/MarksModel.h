// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "model/notes/Mark.h"

namespace lanescope::views {

class MarkStore;

/// The marks as rows, in order of time; their texts can be edited. GUI thread.
class MarksModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column { Start, Duration, Track, Text, Count };

    explicit MarksModel(MarkStore& store, QObject* parent = nullptr);

    /// Null outside the rows.
    const Mark* markAt(int row) const;
    int rowOf(const std::string& id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    void takeOver();

    MarkStore& store_;
    std::vector<Mark> rows_;
};

}  // namespace lanescope::views
