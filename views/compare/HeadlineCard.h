#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "views/theme/Theme.h"

class QLabel;

namespace lanescope {

/// The outcome of a comparison in words: one large sentence and a few smaller ones.
class HeadlineCard : public QWidget {
    Q_OBJECT
  public:
    explicit HeadlineCard(QWidget* parent = nullptr);

    /// The first sentence is the headline. `lostNs` gives it its colour: lost, gained or neither.
    void setSentences(const std::vector<std::string>& sentences, int64_t lostNs);
    void setTheme(const Theme& theme);
    QString headline() const;

  private:
    void updateColors();

    Theme theme_ = Theme::light();
    int64_t lostNs_ = 0;
    QLabel* headline_;
    QLabel* reasons_;
};

}  // namespace lanescope
