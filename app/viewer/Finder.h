// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QFrame>
#include <QStyledItemDelegate>
#include <memory>

#include "app/viewer/FinderEntry.h"
#include "views/text/typedText.h"

class QLineEdit;

namespace lanescope::viewer {

/// A card over the upper middle of its parent with a line to type into. It is no window of its own,
/// which is slow on a remote display. Escape, or the keyboard going elsewhere, closes it.
class PopupCard : public QFrame {
    Q_OBJECT
  public:
    explicit PopupCard(QWidget* parent);

    QLineEdit& edit() const { return *edit_; }
    /// Shows the card with the keyboard in an empty line.
    virtual void popUp();
    void dismiss();

  signals:
    /// Closed, by whichever way; the keyboard is to go back to where it was.
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// Enter was pressed.
    virtual void accept() = 0;
    /// Keys beside those of the line itself; true if it was one.
    virtual bool pressKey(int key);
    /// How wide and high the card would like to be.
    virtual QSize wantedSize() const = 0;
    void place();

  private:
    QLineEdit* edit_;
};

}  // namespace lanescope::viewer

class QTimer;

namespace lanescope::viewer {

/// What fits the typed text best, at most some tens: commands and places first, then names. Names
/// are gone through in pieces, so that typing never waits for them.
class FinderModel : public QAbstractListModel {
    Q_OBJECT
  public:
    static constexpr size_t mostShown = 60;
    enum Role { DetailRole = Qt::UserRole, KeyRole };

    explicit FinderModel(QObject* parent = nullptr);

    void setEntries(std::vector<FinderEntry> entries);
    /// May come later than the entries; `search` is called with a chosen name.
    void setNames(std::shared_ptr<const FinderNames> names,
                  std::function<void(const QString&)> search);
    /// Shows what fits; everything but names for an empty text.
    void setText(const QString& text);
    /// Names are still being gone through.
    bool isSearching() const;
    /// What the row stands for; does nothing for an index that is not valid.
    void activate(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  signals:
    /// The rows are others, or more of the names have been gone through.
    void updated();

  private:
    struct Match {
        int score = 0;
        size_t index = 0;  ///< Into the entries, then the names.
    };
    void matchEntries();
    void matchNames();
    void add(std::vector<Match> found);

    std::vector<FinderEntry> entries_;
    std::vector<std::string> lowered_;
    std::shared_ptr<const FinderNames> names_;
    std::function<void(const QString&)> search_;
    views::FuzzyPattern pattern_{""};
    std::vector<Match> matches_;
    size_t nextName_ = 0;
    QTimer* more_;
};

/// A row of the finder: the name, what it is, its keys at the right; never cut, only elided.
class FinderDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace lanescope::viewer

class QLabel;
class QListView;

namespace lanescope::viewer {

/// Finds commands, tracks, marks and names by a few letters, with the keyboard alone.
class Finder : public PopupCard {
    Q_OBJECT
  public:
    explicit Finder(QWidget* parent);

    FinderModel& model() const { return *model_; }
    QListView& list() const { return *list_; }
    void popUp() override;

  protected:
    void accept() override;
    bool pressKey(int key) override;
    QSize wantedSize() const override;

  private:
    void choose(const QModelIndex& index);
    void followModel();

    FinderModel* model_;
    QListView* list_;
    QLabel* remark_;
};

}  // namespace lanescope::viewer
