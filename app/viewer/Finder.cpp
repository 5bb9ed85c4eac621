// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/Finder.h"

#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/viewer/FinderDelegate.h"

namespace lanescope::viewer {

Finder::Finder(QWidget* parent)
    : PopupCard(parent),
      model_(new FinderModel(this)),
      list_(new QListView(this)),
      remark_(new QLabel(this)) {
    setAccessibleName(tr("Find a command, a track or a name"));
    edit().setPlaceholderText(tr("Command, track, kernel, range"));
    edit().setAccessibleName(tr("Find a command, a track or a name"));
    list_->setModel(model_);
    list_->setItemDelegate(new FinderDelegate(list_));
    list_->setAccessibleName(tr("What was found"));
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setUniformItemSizes(true);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    remark_->setForegroundRole(QPalette::PlaceholderText);
    remark_->setContentsMargins(12, 4, 12, 4);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(6);
    layout->addWidget(&edit());
    layout->addWidget(list_, 1);
    layout->addWidget(remark_);
    connect(&edit(), &QLineEdit::textChanged, model_, &FinderModel::setText);
    connect(model_, &FinderModel::updated, this, &Finder::followModel);
    connect(list_, &QListView::clicked, this, &Finder::choose);
}

void Finder::popUp() {
    PopupCard::popUp();
    model_->setText({});
}

void Finder::followModel() {
    // The best answer is the one that Enter takes, until the user goes to another.
    if (model_->rowCount() > 0) list_->setCurrentIndex(model_->index(0));
    const bool isEmpty = model_->rowCount() == 0;
    remark_->setText(isEmpty && !model_->isSearching() ? tr("Nothing has a name like that.")
                                                       : tr("↑ ↓ choose   Enter go   Esc close"));
}

void Finder::accept() {
    choose(list_->currentIndex());
}

void Finder::choose(const QModelIndex& index) {
    if (!index.isValid()) return;
    // Closed first: what is done may want the keyboard for itself.
    const QPersistentModelIndex chosen(index);
    dismiss();
    model_->activate(chosen);
}

bool Finder::pressKey(int key) {
    const int page = std::max(1, list_->height() / std::max(1, list_->sizeHintForRow(0)) - 1);
    int step = 0;
    if (key == Qt::Key_Down) step = 1;
    if (key == Qt::Key_Up) step = -1;
    if (key == Qt::Key_PageDown) step = page;
    if (key == Qt::Key_PageUp) step = -page;
    if (step == 0 || model_->rowCount() == 0) return step != 0;
    const int row = std::clamp(list_->currentIndex().row() + step, 0, model_->rowCount() - 1);
    list_->setCurrentIndex(model_->index(row));
    return true;
}

QSize Finder::wantedSize() const {
    const int line = fontMetrics().height();
    return {std::max(640, 40 * line), 16 * (line + 8) + 4 * line};
}

}  // namespace lanescope::viewer
