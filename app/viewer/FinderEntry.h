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

}  // namespace lanescope::viewer

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

class ViewerActions;

/// Returns every enabled command of the menus, with its menu and keys.
std::vector<FinderEntry> commandEntries(const ViewerActions& actions);
/// Appends the tracks of a timeline; choosing one unfolds, scrolls to and highlights it.
void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline);

/// Returns the text of a command without mnemonics and dots.
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
    /// trace is requested before.
    void request(const TracePtr& trace, std::function<void(const Names&)> use);

  private:
    std::weak_ptr<const Trace> trace_;
    Names names_;
    views::LatestJob* job_;
};

/// Returns each name once, with the first of its kinds. O(events); any thread.
FinderNames distinctNames(const Trace& trace);

}  // namespace lanescope::viewer
