// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <QToolButton>
#include <QWidget>
#include <memory>
#include <span>
#include <vector>

#include "model/search/findEvents.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

class HitNavigator;

/// The search box: finds while typing, Enter and Shift+Enter go to the next and previous hit,
/// Escape clears and returns the focus.
class SearchBar : public QWidget {
    Q_OBJECT
  public:
    explicit SearchBar(QWidget* parent = nullptr);

    /// Sets the search that the box controls; null for none. Shows that document's own search.
    void setNavigator(HitNavigator* navigator);
    void setTheme(const views::Theme& theme);
    /// Sets the keyboard focus to the box and selects its text.
    void activate();
    QLineEdit& edit() const { return *edit_; }
    /// Searches this text and goes to the next hit.
    void searchFor(const QString& text);
    /// Returns, for example, "3 of 120", "no hits", or the error of an expression; empty without a search.
    QString countText() const { return countText_; }
    /// In a narrow window the box shrinks first, to half of its preferred width, then the count.
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  public slots:
    void next();
    void previous();

  signals:
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void searchNow();
    void showSearch();
    void updateCount();
    void showCount();
    int minCountWidth() const { return fontMetrics().horizontalAdvance(QStringLiteral("9,999 of 99,999")); }
    QString describeCount() const;

    QPointer<HitNavigator> navigator_;
    QLineEdit* edit_ = new QLineEdit(this);
    QAction* clear_;  // The style's own button is invisible on a dark background.
    QToolButton* expression_ = new QToolButton(this);
    QLabel* count_ = new QLabel(this);
    QString countText_;  ///< The full text; the label elides it.
    QToolButton* previous_ = new QToolButton(this);
    QToolButton* next_ = new QToolButton(this);
    QTimer* delay_ = new QTimer(this);
};

/// Searches traces off the GUI thread. Reports the first hits at once, the count so far from time
/// to time, and all hits at the end. A new search cancels the previous one. GUI thread.
class SearchJob : public QObject {
    Q_OBJECT
  public:
    /// A trace, and the time at which its search begins.
    struct Place {
        TracePtr trace;
        int64_t fromNs = 0;
    };

    using QObject::QObject;
    ~SearchJob() override;

    void start(std::vector<Place> places, SearchQuery query);
    void cancel();
    bool isRunning() const { return run_ != nullptr; }

  signals:
    /// Emitted with the first hits of the first trace from the start time of the search on, ordered by start. At most
    /// once per search, and not at all without such hits.
    void begun(const std::vector<lanescope::EventRef>& first);
    /// The number of hits so far.
    void counted(qint64 count);
    void finished(const std::vector<lanescope::SearchHitsPtr>& hits);
    /// Emitted in place of `finished` if memory does not suffice for all hits.
    void ranOutOfMemory();

  private:
    /// One search, on its thread.
    class Run;

    std::shared_ptr<Run> run_;
};

/// Searches the timelines of one document and steps through the hits in order of time on their
/// shared axis. Searches off the GUI thread, starting at the visible range; stepping through the
/// first hits works before the search has ended.
class HitNavigator : public QObject {
    Q_OBJECT
  public:
    struct Hit {
        views::TimelineView* timeline = nullptr;
        EventRef event;
        bool operator==(const Hit&) const = default;
    };

    /// The timelines outlive this.
    explicit HitNavigator(std::vector<views::TimelineView*> timelines, QObject* parent = nullptr);

    const QString& text() const { return text_; }
    PatternKind kind() const { return kind_; }
    /// Returns the error of the expression or of memory; empty for none.
    const QString& error() const { return error_; }
    /// Returns the number of hits; so far, while searching.
    qint64 count() const;
    /// Returns a hit of the last completed search. O(log n).
    Hit hit(qint64 index) const;
    /// Returns up to `maxHits` of the first timeline's first hits.
    std::span<const EventRef> firstHits(size_t maxHits) const;
    /// Returns the number of completed searches; hits are the same while it is constant.
    int generation() const { return generation_; }
    /// Returns -1 before the first step, and until the search has ended.
    qint64 current() const { return current_; }
    bool isSearching() const { return job_->isRunning(); }

    /// Searches for `text` everywhere; empty text clears.
    void search(const QString& text, PatternKind kind = PatternKind::Substring);
    /// Repeats the search for changed traces.
    void repeat();
    /// Reveals the next (+1) or previous (-1) hit, wrapping around; the first step goes to the first visible hit.
    /// During a search, steps reach only the hits found first; others are executed when it ends.
    void step(int direction);
    void show(qint64 index);

  signals:
    /// Emitted when hits, their number or the current one changed.
    void changed();

  private:
    void clear() { publish(std::vector<SearchHitsPtr>(timelines_.size())); }
    void begin(const std::vector<EventRef>& first);
    void publish(const std::vector<SearchHitsPtr>& found);
    /// Returns false if the step leaves the hits found first.
    bool stepThroughFirst(int direction);
    std::span<const EventRef> eventsOf(size_t timeline) const;
    int64_t axisTime(size_t timeline, EventRef event) const;
    /// Returns the number of hits of a timeline that start before `timeNs` of the axis, or also at it if `includesIt`.
    qint64 countBefore(size_t timeline, int64_t timeNs, bool includesIt) const;
    /// Returns the rank of a hit among those of all timelines.
    qint64 rankOf(size_t timeline, size_t index) const;
    qint64 firstVisible() const;

    std::vector<views::TimelineView*> timelines_;
    QString text_;
    PatternKind kind_ = PatternKind::Substring;
    QString error_;
    std::vector<SearchHitsPtr> hits_;  ///< By timeline.
    std::vector<EventRef> first_;      ///< Hits of the first timeline, while searching.
    int firstStep_ = -1;               ///< The last one shown.
    qint64 countSoFar_ = 0;
    qint64 current_ = -1;
    int generation_ = 0;
    int pendingStep_ = 0;
    SearchJob* job_ = new SearchJob(this);
};

}  // namespace lanescope::viewer
