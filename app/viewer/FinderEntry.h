// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::viewer {

/// One thing that can be found by its name and then done or gone to.
struct FinderEntry {
    QString text;
    QString detail;  ///< What kind of thing it is: "command", "stream", "kernel".
    QString key;     ///< The keys that do the same; may be empty.
    std::function<void()> action;
};

/// Names by the thousand, which share an action.
struct FinderNames {
    struct Name {
        std::string text;
        const char* kind = "";  ///< "kernel", "NVTX range", "CUDA API call".
    };
    std::vector<Name> names;
    std::vector<std::string> lowered;  ///< By name, for matching.
};

}  // namespace lanescope::viewer

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

class ViewerActions;

/// Every command of the menus that can be done now, with its menu and keys.
std::vector<FinderEntry> commandEntries(const ViewerActions& actions);
/// Appends the tracks of a timeline; choosing one unfolds, scrolls to and lights it.
void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline);

/// The text of a command as it is read: without mnemonics and dots.
QString commandName(const QString& text);

}  // namespace lanescope::viewer

namespace lanescope::views {
class LatestJob;
}

namespace lanescope::viewer {

/// The distinct names of kernels, NVTX ranges and CUDA API calls of a trace, gathered once off the
/// GUI thread. O(events) the first time.
class NameCatalog : public QObject {
    Q_OBJECT
  public:
    using Names = std::shared_ptr<const FinderNames>;

    explicit NameCatalog(QObject* parent = nullptr);

    /// Calls `use` on the GUI thread: at once if the names are known, else later, unless another
    /// trace is asked for before.
    void request(const TracePtr& trace, std::function<void(const Names&)> use);
    bool isGathering() const;

  private:
    std::weak_ptr<const Trace> trace_;
    Names names_;
    views::LatestJob* job_;
};

/// Each name once, with the first of the kinds that bears it. O(events); any thread.
FinderNames distinctNames(const Trace& trace);

}  // namespace lanescope::viewer
