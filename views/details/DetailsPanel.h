// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/trace/Trace.h"

namespace lanescope::views {

class FactSheet;

/// What is known about the selected event, with links along its flow: from GPU work to the call
/// that launched it, from a call to what it launched, and between streams that wait for each other.
class DetailsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit DetailsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// An invalid reference shows a hint instead.
    void setEvent(EventRef event);
    EventRef event() const { return event_; }
    FactSheet& sheet() const { return *sheet_; }

  signals:
    /// The user follows a link to another event.
    void eventActivated(EventRef event);

  protected:
    using QWidget::event;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();
    void addFlowLinks();
    void addLinks(const QString& heading, const std::vector<EventRef>& events);
    void addLinkTo(EventRef event);

    TracePtr trace_;
    EventRef event_;
    FactSheet* sheet_;
};

}  // namespace lanescope::views
