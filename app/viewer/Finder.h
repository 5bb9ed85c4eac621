// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "views/text/typedText.h"

namespace lanescope::views {
class LatestJob;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// One item that can be found by name, and its action.
struct FinderEntry {
    QString text;
    QString detail;  ///< The kind of the item: "command", "stream", "kernel".
    QString key;     ///< The keys of the same command; may be empty.
    std::function<void()> action;
};

/// Thousands of names that share one action.
struct FinderNames {
    struct Name {
        std::string text;
        const char* kind = "";  ///< "kernel", "NVTX range", "CUDA API call".
    };
    std::vector<Name> names;
    std::vector<std::string> lowered;  ///< By name, for matching.
};

class ViewerActions;

/// Returns every enabled command of the menus, with its menu and keys.
std::vector<FinderEntry> commandEntries(const ViewerActions& actions);
/// Appends the tracks of a timeline; choosing one unfolds, scrolls to and highlights it.
void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline);

/// Returns the text of a command without mnemonics and dots.
QString commandName(const QString& text);

/// The distinct names of kernels, NVTX ranges and CUDA API calls of a trace, gathered once off the
/// GUI thread. O(events) the first time.
class NameCatalog : public QObject {
    Q_OBJECT
  public:
    using Names = std::shared_ptr<const FinderNames>;

    explicit NameCatalog(QObject* parent = nullptr);

    /// Calls `use` on the GUI thread: at once if the names are known, else later, unless another
    /// trace is requested before.
    void request(const TracePtr& trace, std::function<void(const Names&)> use);

  private:
    std::weak_ptr<const Trace> trace_;
    Names names_;
    views::LatestJob* job_;
};

/// Returns each name once, with the first of its kinds. O(events); any thread.
FinderNames distinctNames(const Trace& trace);

/// Panel with an input line, placed over the upper middle of its parent. A child widget and not a window, because
/// windows are slow on a remote display. Escape or loss of the keyboard focus closes it.
class PopupPanel : public QFrame {
    Q_OBJECT
  public:
    explicit PopupPanel(QWidget* parent);

    QLineEdit& edit() const { return *edit_; }
    /// Shows the panel with the keyboard focus in an empty line.
    virtual void popUp();
    void dismiss();

  signals:
    /// Emitted when the panel was closed in any way; the receiver restores the focus.
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// Called on Enter.
    virtual void accept() = 0;
    /// Handles keys in addition to those of the line; returns true if handled.
    virtual bool pressKey(int) { return false; }
    virtual QSize preferredSize() const = 0;
    void place();

  private:
    QLineEdit* edit_;
};

/// The best matches of the typed text, at most some tens: commands and places first, then names.
/// Names are searched in pieces, so that typing never waits for them.
class FinderModel : public QAbstractListModel {
    Q_OBJECT
  public:
    static constexpr size_t maxShown = 60;
    enum Role { DetailRole = Qt::UserRole, KeyRole };

    explicit FinderModel(QObject* parent = nullptr);

    void setEntries(std::vector<FinderEntry> entries);
    /// May be set later than the entries; `search` is called with a chosen name.
    void setNames(std::shared_ptr<const FinderNames> names, std::function<void(const QString&)> search);
    /// Shows the matches; everything except names for an empty text.
    void setText(const QString& text);
    /// Returns true while names are still being searched.
    bool isSearching() const { return more_->isActive(); }
    /// Runs the action of the row; does nothing for an invalid index.
    void activate(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  signals:
    /// Emitted when the rows changed or more of the names have been searched.
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

/// Finds commands, tracks, marks and names by a few letters, with the keyboard only.
class Finder : public PopupPanel {
    Q_OBJECT
  public:
    explicit Finder(QWidget* parent);

    FinderModel& model() const { return *model_; }
    void popUp() override;

  protected:
    void accept() override;
    bool pressKey(int key) override;
    QSize preferredSize() const override;

  private:
    void choose(const QModelIndex& index);
    void followModel();

    FinderModel* model_ = new FinderModel(this);
    QListView* list_ = new QListView(this);
    QLabel* remark_ = new QLabel(this);
};

}  // namespace lanescope::viewer
