#include "views/compare/AlignmentBar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include "views/text/toQString.h"

namespace lanescope {

AlignmentBar::AlignmentBar(QWidget* parent)
    : QWidget(parent),
      names_(new QComboBox(this)),
      occurrenceLabel_(new QLabel(tr("number"), this)),
      occurrence_(new QSpinBox(this)),
      message_(new QLabel(this)) {
    names_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    names_->setMinimumContentsLength(26);
    names_->setMaxVisibleItems(20);
    names_->setToolTip(tr("Lay both runs on top of each other at this point"));
    occurrence_->setRange(1, 1'000'000);
    occurrence_->setToolTip(tr("Which range of this name, counted from the start of the run"));
    message_->setTextFormat(Qt::PlainText);
    message_->setWordWrap(true);
    message_->setForegroundRole(QPalette::BrightText);

    auto* controls = new QHBoxLayout;
    controls->addStretch();
    controls->addWidget(new QLabel(tr("Align at"), this));
    controls->addWidget(names_);
    controls->addWidget(occurrenceLabel_);
    controls->addWidget(occurrence_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(controls);
    layout->addWidget(message_);
    message_->hide();
    setRangeNames({});

    connect(names_, &QComboBox::currentIndexChanged, this, [this] {
        const QSignalBlocker blocker(occurrence_);
        occurrence_->setValue(1);
        updateOccurrence();
        emit alignmentChanged();
    });
    connect(occurrence_, &QSpinBox::valueChanged, this, &AlignmentBar::alignmentChanged);
}

void AlignmentBar::setRangeNames(const std::vector<std::string>& names) {
    const QSignalBlocker blocker(names_);
    names_->clear();
    names_->addItem(tr("start of the run"));
    for (const std::string& name : names) {
        const QString text = toQString(name);
        names_->addItem(text, text);
    }
    updateOccurrence();
}

QString AlignmentBar::rangeName() const {
    return names_->currentData().toString();
}

int AlignmentBar::occurrence() const {
    return occurrence_->value() - 1;
}

bool AlignmentBar::setAlignment(const QString& rangeName, int occurrence) {
    const int index = rangeName.isEmpty() ? 0 : names_->findData(rangeName);
    if (index < 0) return false;
    {
        const QSignalBlocker blockNames(names_);
        const QSignalBlocker blockOccurrence(occurrence_);
        names_->setCurrentIndex(index);
        occurrence_->setValue(occurrence + 1);
    }
    updateOccurrence();
    emit alignmentChanged();
    return true;
}

void AlignmentBar::setMessage(const QString& text) {
    message_->setText(text);
    message_->setVisible(!text.isEmpty());
}

QString AlignmentBar::message() const {
    return message_->text();
}

void AlignmentBar::updateOccurrence() {
    const bool isNeeded = !rangeName().isEmpty();
    occurrenceLabel_->setVisible(isNeeded);
    occurrence_->setVisible(isNeeded);
}

}  // namespace lanescope
