#pragma once

#include <QJsonObject>
#include <filesystem>

namespace lanescope {

/// Opens the file in the viewer's window, searches, drags a selection and looks at every summary,
/// and notes in `values` how long the event loop stood still at most, in milliseconds.
void measureStalls(const std::filesystem::path& path, QJsonObject& values);

}  // namespace lanescope
