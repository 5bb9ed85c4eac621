// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "model/search/NamePattern.h"
#include "model/search/SearchHits.h"
#include "model/search/findEvents.h"
#include "model/trace/Trace.h"

namespace lanescope::viewer {

/// Searches traces off the GUI thread. What is found first is told at once, how many there are so
/// far now and then, and everything at the end. A new search voids the one before. GUI thread.
class SearchJob : public QObject {
    Q_OBJECT
  public:
    /// A trace, and from when on it is searched first.
    struct Place {
        TracePtr trace;
        int64_t fromNs = 0;
    };

    explicit SearchJob(QObject* parent = nullptr);
    ~SearchJob() override;

    void start(std::vector<Place> places, SearchQuery query);
    void cancel();
    bool isRunning() const { return run_ != nullptr; }

  signals:
    /// The first hits of the first trace from its `fromNs` on, in order of start. Once a search, if
    /// there are any.
    void begun(const std::vector<lanescope::EventRef>& first);
    /// How many hits there are so far.
    void counted(qint64 count);
    /// The hits of each trace.
    void finished(const std::vector<lanescope::SearchHitsPtr>& hits);
    /// In place of `finished`: there is no memory for all hits.
    void ranOutOfMemory();

  private:
    /// One search, on its thread.
    class Run;

    std::shared_ptr<Run> run_;
};

}  // namespace lanescope::viewer

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

class SearchJob;

/// Searches the timelines of one document and steps through what was found, in order of time on the
/// axis that they share. Searches off the GUI thread, from what is on the screen on; the first hits
/// can be stepped through before the search has ended.
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
    /// Why nothing is found: a sentence on the expression or on memory, or empty.
    const QString& error() const { return error_; }
    /// How many hits there are; so far, while searching.
    qint64 count() const;
    /// Of those of the last search that ended. O(log n).
    Hit hit(qint64 index) const;
    /// The first of the first timeline's hits, at most `most`.
    std::span<const EventRef> firstHits(size_t most) const;
    /// Counts the searches that have ended; hits are the same as long as it is.
    int generation() const { return generation_; }
    /// -1 before the first step, and until the search has ended.
    qint64 current() const { return current_; }
    bool isSearching() const;

    /// Finds `text` everywhere; empty text clears.
    void search(const QString& text, PatternKind kind = PatternKind::Substring);
    /// Searches once more, for traces that have become others.
    void repeat();
    /// Reveals the next (+1) or previous (-1) hit, round and round; the first step goes to the
    /// first hit on the screen. While a search runs steps reach the hits that were found first;
    /// others are taken when it ends.
    void step(int direction);
    /// Reveals the hit at `index`.
    void show(qint64 index);

  signals:
    /// Hits, their number or the current one changed.
    void changed();

  private:
    void clear();
    void begin(const std::vector<EventRef>& first);
    void publish(const std::vector<SearchHitsPtr>& found);
    /// False if the step leads out of what was found first.
    bool stepThroughFirst(int direction);
    std::span<const EventRef> eventsOf(size_t timeline) const;
    int64_t axisTime(size_t timeline, EventRef event) const;
    /// How many hits of a timeline start before `timeNs` of the axis, or also at it.
    qint64 countBefore(size_t timeline, int64_t timeNs, bool includesIt) const;
    /// Where a hit stands among those of all timelines.
    qint64 rankOf(size_t timeline, size_t index) const;
    qint64 firstVisible() const;

    std::vector<views::TimelineView*> timelines_;
    QString text_;
    PatternKind kind_ = PatternKind::Substring;
    QString error_;
    std::vector<SearchHitsPtr> hits_;  ///< By timeline.
    std::vector<EventRef> first_;      ///< Of the first timeline, while searching.
    int firstStep_ = -1;               ///< Which of them was shown last.
    qint64 countSoFar_ = 0;
    qint64 current_ = -1;
    int generation_ = 0;
    int pendingStep_ = 0;
    SearchJob* job_;
};

}  // namespace lanescope::viewer
