#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

class LatestJob;
class TimelineView;

/// Searches the timelines of one document and steps through what was found, in order of time on the
/// axis that they share. Searches off the GUI thread.
class HitNavigator : public QObject {
    Q_OBJECT
  public:
    struct Hit {
        TimelineView* timeline;
        EventRef event;
    };

    /// The timelines outlive this.
    explicit HitNavigator(std::vector<TimelineView*> timelines, QObject* parent = nullptr);

    const QString& text() const { return text_; }
    const std::vector<Hit>& hits() const { return hits_; }
    int count() const { return static_cast<int>(hits_.size()); }
    /// Counts the searches that have ended; hits are the same as long as it is.
    int generation() const { return generation_; }
    /// -1 before the first step.
    int current() const { return current_; }
    bool isSearching() const;

    /// Finds `text` everywhere; empty text clears.
    void search(const QString& text);
    /// Searches once more, for traces that have become others.
    void repeat();
    /// Reveals the next (+1) or previous (-1) hit, round and round; the first step goes to the
    /// first hit on the screen. While a search runs the step is taken when it ends.
    void step(int direction);
    /// Reveals the hit at `index`.
    void show(int index);

  signals:
    /// Hits or the current one changed.
    void changed();

  private:
    void publish(std::vector<std::vector<EventRef>> found);
    int firstVisible() const;

    std::vector<TimelineView*> timelines_;
    QString text_;
    std::vector<Hit> hits_;
    int current_ = -1;
    int generation_ = 0;
    int pendingStep_ = 0;
    LatestJob* job_;
};

}  // namespace lanescope
