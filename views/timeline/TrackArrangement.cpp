// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackArrangement.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <unordered_map>

#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

using Paths = std::vector<std::string> TrackArrangement::*;

constexpr std::pair<const char*, Paths> lists[] = {{"order", &TrackArrangement::order},
                                                   {"hidden", &TrackArrangement::hidden},
                                                   {"pinned", &TrackArrangement::pinned},
                                                   {"folded", &TrackArrangement::folded},
                                                   {"unfolded", &TrackArrangement::unfolded}};

constexpr std::pair<const char*, RowHeight> heights[] = {
    {"compact", RowHeight::Compact}, {"normal", RowHeight::Normal}, {"tall", RowHeight::Tall}};

}  // namespace

std::vector<std::string> trackPaths(std::span<const Track> tracks) {
    std::vector<std::string> paths;
    paths.reserve(tracks.size());
    std::unordered_map<std::string, int> uses;
    for (size_t i = 0; i < tracks.size(); ++i) {
        const int32_t parent = tracks[i].parent;
        std::string path;
        if (parent >= 0 && static_cast<size_t>(parent) < i) path = paths[parent] + "/";
        path += tracks[i].title;
        if (const int use = ++uses[path]; use > 1) path += "#" + std::to_string(use);
        paths.push_back(std::move(path));
    }
    return paths;
}

QByteArray toJson(const TrackArrangement& arrangement) {
    QJsonObject object;
    for (const auto& [key, list] : lists) {
        if ((arrangement.*list).empty()) continue;
        QJsonArray array;
        for (const std::string& path : arrangement.*list) array.append(toQString(path));
        object.insert(QLatin1String(key), array);
    }
    for (const auto& [name, height] : heights) {
        if (height == arrangement.height && height != RowHeight::Normal)
            object.insert(QStringLiteral("height"), QLatin1String(name));
    }
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<TrackArrangement> arrangementFromJson(const QByteArray& json) {
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isObject()) return std::nullopt;
    const QJsonObject object = document.object();
    TrackArrangement arrangement;
    for (const auto& [key, list] : lists) {
        for (const QJsonValue& value : object.value(QLatin1String(key)).toArray())
            if (value.isString()) (arrangement.*list).push_back(value.toString().toStdString());
    }
    const QString height = object.value(QStringLiteral("height")).toString();
    for (const auto& [name, value] : heights)
        if (height == QLatin1String(name)) arrangement.height = value;
    return arrangement;
}

}  // namespace lanescope::views
