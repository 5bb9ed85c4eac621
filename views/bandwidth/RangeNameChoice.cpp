// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/RangeNameChoice.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QLineEdit>
#include <QSignalBlocker>

#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr int shownCharacters = 14;

}  // namespace

RangeNameChoice::RangeNameChoice(QWidget* parent) : QComboBox(parent) {
    setEditable(true);
    setInsertPolicy(QComboBox::NoInsert);
    setAccessibleName(tr("NVTX ranges that copies are summed up by"));
    setToolTip(tr("Name of the NVTX ranges; # stands for any number. Enter takes what is typed."));
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(shownCharacters);
    addItem(tr("Steps"));
    completer()->setCompletionMode(QCompleter::PopupCompletion);
    completer()->setFilterMode(Qt::MatchContains);
    lineEdit()->setAccessibleName(accessibleName());
    connect(this, &QComboBox::activated, this, &RangeNameChoice::takeText);
    connect(lineEdit(), &QLineEdit::editingFinished, this, &RangeNameChoice::takeText);
}

void RangeNameChoice::setNames(const std::vector<std::string>& names) {
    if (names == names_) return;
    names_ = names;
    const QSignalBlocker quiet(this);
    const QString text = currentText();
    clear();
    addItem(tr("Steps"));
    for (const std::string& name : names) addItem(toQString(name));
    setCurrentIndex(std::max(0, findText(text, Qt::MatchExactly | Qt::MatchCaseSensitive)));
    setEditText(text);
}

void RangeNameChoice::setRangeName(const QString& name) {
    setEditText(name.isEmpty() ? itemText(0) : name);
    takeText();
}

void RangeNameChoice::takeText() {
    const QString text = currentText().trimmed();
    const QString name = text == itemText(0) ? QString() : text;
    if (name.isEmpty()) setEditText(itemText(0));
    if (name == name_) return;
    name_ = name;
    emit rangeNameChanged();
}

}  // namespace lanescope::views
