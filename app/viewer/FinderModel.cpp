// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/FinderModel.h"

#include <QTimer>
#include <algorithm>

#include "views/text/toQString.h"

namespace lanescope::viewer {
namespace {

/// As many as take a few milliseconds.
constexpr size_t namesAtOnce = 20'000;
/// A command that fits as well as a name is the likelier wish.
constexpr int entryAdvantage = 30;

}  // namespace

FinderModel::FinderModel(QObject* parent) : QAbstractListModel(parent), more_(new QTimer(this)) {
    more_->setSingleShot(true);
    connect(more_, &QTimer::timeout, this, &FinderModel::matchNames);
}

void FinderModel::setEntries(std::vector<FinderEntry> entries) {
    beginResetModel();
    entries_ = std::move(entries);
    lowered_.clear();
    for (const FinderEntry& entry : entries_)
        lowered_.push_back(views::lowerAscii((entry.text + ' ' + entry.detail).toStdString()));
    names_.reset();
    matches_.clear();
    endResetModel();
}

void FinderModel::setNames(std::shared_ptr<const FinderNames> names,
                           std::function<void(const QString&)> search) {
    names_ = std::move(names);
    search_ = std::move(search);
    nextName_ = 0;
    if (!pattern_.isEmpty()) more_->start(0);
}

void FinderModel::setText(const QString& text) {
    pattern_ = views::FuzzyPattern(text.toStdString());
    matchEntries();
    nextName_ = 0;
    more_->stop();
    if (pattern_.isEmpty() || !names_) return emit updated();
    matchNames();
}

bool FinderModel::isSearching() const {
    return more_->isActive();
}

void FinderModel::matchEntries() {
    beginResetModel();
    matches_.clear();
    endResetModel();
    std::vector<Match> found;
    for (size_t i = 0; i < entries_.size(); ++i) {
        const int score = pattern_.isEmpty() ? 1 : pattern_.score(lowered_[i]);
        if (score > 0) found.push_back({score + entryAdvantage, i});
    }
    add(std::move(found));
}

void FinderModel::matchNames() {
    const size_t count = names_ ? names_->names.size() : 0;
    const size_t end = std::min(count, nextName_ + namesAtOnce);
    std::vector<Match> found;
    for (; nextName_ < end; ++nextName_) {
        const int score = pattern_.score(names_->lowered[nextName_]);
        if (score > 0) found.push_back({score, entries_.size() + nextName_});
    }
    add(std::move(found));
    if (nextName_ < count) more_->start(0);
    emit updated();
}

void FinderModel::add(std::vector<Match> found) {
    if (found.empty()) return;
    beginResetModel();
    matches_.insert(matches_.end(), found.begin(), found.end());
    const auto isBetter = [](const Match& one, const Match& other) {
        return one.score != other.score ? one.score > other.score : one.index < other.index;
    };
    const size_t kept = std::min(matches_.size(), mostShown);
    std::partial_sort(matches_.begin(), matches_.begin() + static_cast<std::ptrdiff_t>(kept),
                      matches_.end(), isBetter);
    matches_.resize(kept);
    endResetModel();
}

void FinderModel::activate(const QModelIndex& index) const {
    if (!index.isValid() || index.row() >= rowCount()) return;
    const size_t at = matches_[static_cast<size_t>(index.row())].index;
    // Copies: what is done may give the model other entries.
    if (at < entries_.size()) {
        const auto action = entries_[at].action;
        if (action) action();
    } else if (search_) {
        const auto search = search_;
        search(views::toQString(names_->names[at - entries_.size()].text));
    }
}

int FinderModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(matches_.size());
}

QVariant FinderModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const size_t at = matches_[static_cast<size_t>(index.row())].index;
    const bool isEntry = at < entries_.size();
    const auto* name = isEntry ? nullptr : &names_->names[at - entries_.size()];
    const QString text = isEntry ? entries_[at].text : views::toQString(name->text).simplified();
    const QString detail = isEntry ? entries_[at].detail : tr(name->kind);
    switch (role) {
        case Qt::DisplayRole:
            return text;
        case DetailRole:
            return detail;
        case KeyRole:
            return isEntry ? entries_[at].key : QString();
        case Qt::AccessibleTextRole:
            return text + ", " + detail +
                   (isEntry && !entries_[at].key.isEmpty() ? ", " + entries_[at].key : QString());
        default:
            return {};
    }
}

}  // namespace lanescope::viewer
