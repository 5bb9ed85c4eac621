// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/explain/StepGrid.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// Returns a tool tip: `heading`, the parts of a time, longest first, each with a swatch of its colour, then `notes`.
/// The lines may contain names of the trace.
QString partsTip(const QStringList& heading, const analysis::StepParts& parts, const Theme& theme,
                 const QStringList& notes = {});

/// Returns the parts as lines without colours: "CPU-bound idle: 12.33 ms, 69.6 %".
QStringList partLines(const analysis::StepParts& parts);

/// Returns "+4.80 ms vs. median: +4.70 ms CPU-bound idle"; without the part if the step is as long as the median.
QString excessText(const analysis::RunSummary& run, explain::StepPlace place);

/// The legend of all places that show parts of a step: a stacked bar and the parts, longest first, with their colours.
/// Parts that do not fit are counted; the tool tip has all of them.
class PartsLegend : public QWidget {
    Q_OBJECT
  public:
    explicit PartsLegend(QWidget* parent = nullptr);

    /// Shows the parts of a time; `note` is shown at the end. Empty parts show nothing.
    void setParts(const QString& title, const analysis::StepParts& parts, const QString& note = {});
    void setTheme(const Theme& theme);
    bool hasContent() const { return parts_.sum() > 0; }

    QString title() const { return title_; }
    QString note() const { return note_; }
    /// Returns the place of the stacked bar.
    QRect barArea() const;
    /// Returns the parts whose name is visible, in their order.
    std::vector<analysis::StepPart> shownParts() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    /// An entry of the legend; its place is relative to the end of the bar.
    struct Entry {
        analysis::StepPart part = analysis::StepPart::Compute;
        QString text;
        int left = 0;
    };
    QFont strong() const;
    std::vector<Entry> entries(int room) const;
    int swatch() const { return fontMetrics().height() * 2 / 3; }
    int noteWidth() const;

    QString title_, note_;
    analysis::StepParts parts_;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views
