// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/matchTracks.h"

#include <QStringList>
#include <algorithm>

#include "views/text/toQString.h"

namespace lanescope::views {

std::vector<bool> matchTracks(std::span<const Track> tracks, const QString& text) {
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    std::vector<bool> matches(tracks.size(), false);
    for (size_t i = 0; i < tracks.size(); ++i) {
        const QString name = toQString(tracks[i].title) + '\n' + toQString(tracks[i].subtitle);
        matches[i] = std::all_of(words.begin(), words.end(), [&](const QString& word) {
            return name.contains(word, Qt::CaseInsensitive);
        });
    }
    return matches;
}

}  // namespace lanescope::views
