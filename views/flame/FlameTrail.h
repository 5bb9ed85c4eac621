// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "views/flame/FlameChart.h"

namespace lanescope::views {

/// Where a flame graph is zoomed to: the frames around it and itself, from the outermost on, in one
/// line. A click on one of them goes there. What has no room in the middle is left out.
class FlameTrail : public QWidget {
    Q_OBJECT

  public:
    explicit FlameTrail(QWidget* parent = nullptr);

    void setPlace(FlameTreePtr tree, uint32_t node);
    void setTheme(const Theme& theme);
    /// What is shown, as text: "all › train (train.py:10)".
    QString text() const;
    /// Where a frame stands; empty if it has no room.
    QRect rectOf(uint32_t node) const;

    QSize sizeHint() const override { return {200, fontMetrics().height() + 6}; }
    QSize minimumSizeHint() const override { return {60, fontMetrics().height() + 6}; }

  signals:
    void frameChosen(quint32 node);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Crumb {
        uint32_t node = noIndex;  ///< `noIndex` for what is left out.
        QString text;
        QRect area;
    };
    void layOut();
    const Crumb* crumbAt(QPoint position) const;

    FlameTreePtr tree_;
    uint32_t node_ = 0;
    Theme theme_ = Theme::light();
    std::vector<Crumb> crumbs_;
};

}  // namespace lanescope::views
