#pragma once

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

#include "model/compare/Comparison.h"
#include "views/theme/Theme.h"

class QLabel;

namespace lanescope {

/// The outcome of a comparison in words: one large sentence and a few smaller ones.
class HeadlineCard : public QWidget {
    Q_OBJECT
  public:
    explicit HeadlineCard(QWidget* parent = nullptr);

    /// The first sentence is the headline, coloured by `verdict`; of the others the most telling
    /// are shown. All are cut to the width there is, and in full as a tool tip.
    void setSentences(const std::vector<std::string>& sentences, Verdict verdict);
    void setTheme(const Theme& theme);
    /// In full.
    QString headline() const { return headlineText_; }
    /// As shown, one a line.
    QString reasons() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void updateColors();
    void updateTexts();

    Theme theme_ = Theme::light();
    Verdict verdict_ = Verdict::None;
    QString headlineText_;
    QStringList sentences_;  // the reasons in full
    QLabel* headline_;
    QLabel* reasons_;
};

}  // namespace lanescope
