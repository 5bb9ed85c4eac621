// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace lanescope::views {

/// Plain text on as many lines as it needs. Splitters and docks ask a wrapped QLabel for its
/// minimum size only, which knows nothing of its width, and press it below the height of its text;
/// this one asks for that height.
class WrappedLabel : public QLabel {
  public:
    explicit WrappedLabel(QWidget* parent = nullptr);

    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
};

}  // namespace lanescope::views
