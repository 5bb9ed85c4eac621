// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <memory>

#include "app/viewer/FinderEntry.h"
#include "views/text/fuzzyMatch.h"

class QTimer;

namespace lanescope::viewer {

/// What fits the typed text best, at most some tens: commands and places first, then names. Names
/// are gone through in pieces, so that typing never waits for them.
class FinderModel : public QAbstractListModel {
    Q_OBJECT
  public:
    static constexpr size_t mostShown = 60;
    enum Role { DetailRole = Qt::UserRole, KeyRole };

    explicit FinderModel(QObject* parent = nullptr);

    void setEntries(std::vector<FinderEntry> entries);
    /// May come later than the entries; `search` is called with a chosen name.
    void setNames(std::shared_ptr<const FinderNames> names,
                  std::function<void(const QString&)> search);
    /// Shows what fits; everything but names for an empty text.
    void setText(const QString& text);
    /// Names are still being gone through.
    bool isSearching() const;
    /// What the row stands for; does nothing for an index that is not valid.
    void activate(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  signals:
    /// The rows are others, or more of the names have been gone through.
    void updated();

  private:
    struct Match {
        int score = 0;
        size_t index = 0;  ///< Into the entries, then the names.
    };
    void matchEntries();
    void matchNames();
    void add(std::vector<Match> found);

    std::vector<FinderEntry> entries_;
    std::vector<std::string> lowered_;
    std::shared_ptr<const FinderNames> names_;
    std::function<void(const QString&)> search_;
    views::FuzzyPattern pattern_{""};
    std::vector<Match> matches_;
    size_t nextName_ = 0;
    QTimer* more_;
};

}  // namespace lanescope::viewer
