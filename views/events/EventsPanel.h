// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/events/listEvents.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/Panel.h"

namespace lanescope::views {

/// Events as rows, fetched when they are shown: either a window in order of start, without a list,
/// or a filtered or sorted list. GUI thread.
class EventTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// Max rows of a table; Qt's tables store data for each row.
    static constexpr int64_t maxRows = 1'000'000;

    using QAbstractTableModel::QAbstractTableModel;

    /// Shows a window from its first event, or from its last one backwards.
    void showWindow(TracePtr trace, const EventWindow& window, bool isDescending);
    void showList(TracePtr trace, std::vector<EventRef> events);
    EventRef eventAt(int row) const;
    /// Returns -1 if the event has no row. Linear in a list, logarithmic in a window.
    int rowOf(EventRef event) const;

    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : rows_; }
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// Only emits a signal: the owner of the model then sets other rows.
    void sort(int column, Qt::SortOrder order) override { emit sortRequested(column, order); }

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

/// The events of the selected range, else of the visible one, as a table that follows it. In order
/// of start it shows any range at once. Other orders and filters are computed off the GUI thread
/// from the first events of the range, and the panel reports how many. Inactive while hidden.
class EventsPanel : public Panel {
    Q_OBJECT
  public:
    explicit EventsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setVisibleRange(TimeRange range) override;
    void setRange(std::optional<TimeRange> range) override;
    /// Goes to the row of the event if it has one.
    void setEvent(EventRef event) override;

    /// Returns the request of the current or pending table.
    const EventRequest& request() const { return request_; }
    /// Returns the text next to the filter: the number of events and omissions.
    QString remark() const { return remark_->text(); }
    bool isStale() const override { return isStale_; }

  public slots:
    /// Copies the selected rows, or all if none is selected.
    void copySelection();
    void copyAll();

  signals:
    /// Emitted when the user went to another row.
    void eventSelected(lanescope::EventRef event);
    /// Emitted when the user asks to save the table in a file.
    void saveRequested();

  protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void build();
    void arrange();
    void sizeColumns();
    void fillWithNames();
    void fillKindsMenu();
    void updateKindsText();
    /// Cancels the running query, because the question changed.
    void invalidate();
    /// Repeats the question for another range.
    void follow();
    void refresh();
    void showEvents(const EventList& list, bool isSelected);
    void sortBy(int column, Qt::SortOrder order);
    void restoreSelection();
    void updateRemark(int64_t inRange, int64_t scanned, int64_t shown, bool isSelected);

    TracePtr trace_;
    TimeRange visible_;
    std::optional<TimeRange> selected_;
    EventRequest request_;
    EventRef event_;
    bool isStale_ = false;
    bool isSilent_ = false;
    LatestJob* job_ = new LatestJob(this);
    LatestJob* copyJob_ = new LatestJob(this);
    QTimer* timer_ = new QTimer(this);
    EventTableModel* model_ = new EventTableModel(this);
    QLineEdit* filterWords_ = new QLineEdit(this);
    QPushButton* kinds_ = new QPushButton(this);
    QPushButton* copy_ = new QPushButton(this);
    QPushButton* save_ = new QPushButton(this);
    QLabel* remark_ = new QLabel(this);
    QTableView* table_ = new QTableView(this);
};

}  // namespace lanescope::views
