// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/jobs/LatestJob.h"
#include "views/tables/Panel.h"

namespace lanescope::views {

/// A panel that computes its content off the GUI thread, and only while it is visible.
class ComputedPanel : public Panel {
  public:
    bool isStale() const override { return isStale_; }

  protected:
    explicit ComputedPanel(QWidget* parent) : Panel(parent), job_(new LatestJob(this)) {}

    /// Starts `job` for the content, or shows at once that there is none.
    virtual void refresh(LatestJob::Older older) = 0;
    LatestJob* job() const { return job_; }

    /// Computes again because more than the range has changed. Discards a running job.
    void invalidate() {
        isStale_ = true;
        job_->cancel();
        if (isVisible()) refresh(LatestJob::Older::Void);
    }
    /// Computes for another range. While a range is being dragged, the previous content stays visible.
    void follow() {
        isStale_ = true;
        if (isVisible())
            refresh(LatestJob::Older::Published);
        else
            job_->cancel();
    }
    /// Call it when content is shown.
    void settle() {
        isStale_ = job_->isOutdated();
        if (!isStale_) emit updated();
    }
    void showEvent(QShowEvent* event) override {
        QWidget::showEvent(event);
        if (isStale_) refresh(LatestJob::Older::Void);
    }

  private:
    LatestJob* job_;
    bool isStale_ = false;
};

}  // namespace lanescope::views
