// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "model/events/listEvents.h"

namespace lanescope::views {

/// Events as rows, fetched when they are looked at: either those of a window in order of start, of
/// which no list exists, or a list that was filtered or sorted. GUI thread.
class EventTableModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    /// Rows that a table shows at most; Qt's tables keep something for each.
    static constexpr int64_t mostRows = 1'000'000;

    explicit EventTableModel(QObject* parent = nullptr);

    /// Shows a window from its first event on, or from its last one backwards.
    void showWindow(TracePtr trace, const EventWindow& window, bool isDescending);
    void showList(TracePtr trace, std::vector<EventRef> events);
    EventRef eventAt(int row) const;
    /// -1 if the event is not there. Linear in a list, logarithmic in a window.
    int rowOf(EventRef event) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;
    /// Only tells: whoever owns the model shows other rows then.
    void sort(int column, Qt::SortOrder order) override;

  signals:
    void sortRequested(int column, Qt::SortOrder order);

  private:
    struct Page {
        int64_t number = -1;
        std::vector<EventRef> events;
    };
    const Page& page(int64_t number) const;

    TracePtr trace_;
    EventWindow window_;
    std::vector<EventRef> list_;
    bool isList_ = true;
    bool isDescending_ = false;
    int rows_ = 0;
    mutable Page pages_[4];
};

}  // namespace lanescope::views
