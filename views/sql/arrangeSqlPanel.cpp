// SPDX-License-Identifier: GPL-3.0-or-later
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "views/sql/SqlPanel.h"
#include "views/tables/ReportView.h"

namespace lanescope::views {

void SqlPanel::arrange() {
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(8, 5, 8, 5);
    buttons->setSpacing(8);
    for (QWidget* button : {static_cast<QWidget*>(run_), static_cast<QWidget*>(stop_),
                            static_cast<QWidget*>(samples_), static_cast<QWidget*>(earlier_)})
        buttons->addWidget(button);
    buttons->addWidget(status_, 1);

    auto* question = new QWidget(this);
    auto* column = new QVBoxLayout(question);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(buttons);
    column->addWidget(editor_, 1);

    auto* right = new QSplitter(Qt::Vertical, this);
    right->addWidget(question);
    right->addWidget(answer_);
    right->setStretchFactor(0, 0);
    right->setStretchFactor(1, 1);
    right->setSizes({130, 220});
    right->setChildrenCollapsible(false);

    split_ = new QSplitter(Qt::Horizontal, this);
    split_->addWidget(tables_);
    split_->addWidget(right);
    split_->setStretchFactor(0, 0);
    split_->setStretchFactor(1, 1);
    split_->setSizes({280, 1000});
    split_->setChildrenCollapsible(false);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(split_);
}

}  // namespace lanescope::views
