// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace lanescope::viewer {

/// A quiet question over a document, with one button to accept, maybe one for something else, and
/// one to send it away; without answers, a sentence.
class OfferBar : public QWidget {
    Q_OBJECT
  public:
    explicit OfferBar(QWidget* parent = nullptr);
    void offer(const QString& question, const QString& answer, const QString& other = {});
    QString question() const;

  signals:
    void accepted();
    void otherAccepted();

  private:
    QLabel* label_;
    QPushButton* accept_;
    QPushButton* other_;
};

}  // namespace lanescope::viewer
