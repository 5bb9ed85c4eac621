// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QStyledItemDelegate>

namespace lanescope::views {

/// A drop-down list whose rows are drawn like those of other lists, so that the style sheet colours the current one.
/// The default draws it like a menu, without the colours of the sheet.
class DropDown : public QComboBox {
  public:
    explicit DropDown(QWidget* parent = nullptr) : QComboBox(parent) { setItemDelegate(new QStyledItemDelegate(this)); }
};

}  // namespace lanescope::views
