// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QWidget>

#include "model/notes/NotesFile.h"
#include "views/notes/MarkStore.h"
#include "views/tables/Panel.h"
#include "views/text/shownText.h"

namespace lanescope::views {

/// The marks as rows, ordered by time; their texts are editable. GUI thread.
class MarksModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Start, Duration, Track, Text, Count };

    explicit MarksModel(MarkStore& store, QObject* parent = nullptr);

    /// Returns null outside the rows.
    const Mark* markAt(int row) const;
    int rowOf(const std::string& id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : Count; }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    void adopt();

    MarkStore& store_;
    std::vector<Mark> rows_;
};

/// The marks of a trace as a list: double click or Enter goes there, F2 edits the text, Delete
/// removes. Copies as tab-separated text or as a Markdown table.
class MarksPanel : public Panel {
    Q_OBJECT
  public:
    /// `store` outlives the panel.
    explicit MarksPanel(MarkStore& store, QWidget* parent = nullptr);

    /// Sets the text next to the buttons: the place where the marks are saved, or an error.
    void setRemark(const QString& text, bool isTrouble);
    QString remark() const { return remark_->text(); }
    /// Copied text names the trace.
    void setTrace(TracePtr trace) override { title_ = toQString(trace->title); }

  public slots:
    // Copies the selected rows, or all if none is selected.
    void copyAsText() const;
    void copyAsMarkdown() const;
    void removeSelected();

  signals:
    void markActivated(const std::string& id);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void build();
    void followSelection();
    void updateEmpty();
    std::vector<Mark> chosen() const;

    MarkStore& store_;
    MarksModel* model_;
    QTableView* table_ = new QTableView(this);
    QLabel* empty_ = new QLabel(this);
    QLabel* remark_ = new PlainLabel(this);
    std::vector<QPushButton*> buttons_;  ///< Disabled without marks.
    QString title_;
    bool isFollowing_ = false;
};

}  // namespace lanescope::views
