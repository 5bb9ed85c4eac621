// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/viewer/FinderModel.h"
#include "app/viewer/PopupCard.h"

class QLabel;
class QListView;

namespace lanescope::viewer {

/// Finds commands, tracks, marks and names by a few letters, with the keyboard alone.
class Finder : public PopupCard {
    Q_OBJECT
  public:
    explicit Finder(QWidget* parent);

    FinderModel& model() const { return *model_; }
    QListView& list() const { return *list_; }
    void popUp() override;

  protected:
    void accept() override;
    bool pressKey(int key) override;
    QSize wantedSize() const override;

  private:
    void choose(const QModelIndex& index);
    void followModel();

    FinderModel* model_;
    QListView* list_;
    QLabel* remark_;
};

}  // namespace lanescope::viewer
