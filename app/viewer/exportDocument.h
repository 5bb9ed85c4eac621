// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <filesystem>
#include <functional>
#include <string>

#include "model/format/Result.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope::views {
class EventsPanel;
class FlamePanel;
}  // namespace lanescope::views

namespace lanescope::viewer {

class DocumentPage;
class TracePage;

/// Writes the timelines of a document as a picture, PNG or SVG by the ending of `path`. A
/// comparison is written as shown in the window.
Result<void> exportDocumentPicture(DocumentPage& page, const std::filesystem::path& path);

/// Writes `table` as CSV, or as JSON if `path` ends so. Replaces an existing file only once the new one is complete.
Result<void> exportTableTo(const ReportTable& table, const std::filesystem::path& path);

/// Returns the page that `lanescope explain` or `lanescope compare` makes with `-f html`. Fails while the run is not
/// yet explained or compared, and for a document without such a page.
Result<std::string> reportOf(const DocumentPage& page);

/// Writes a file. Replaces an existing one only once the new one is complete.
Result<void> saveFile(const std::filesystem::path& path, const QByteArray& bytes);

/// Writes the visible flame graph: a picture if `path` ends in .svg, else folded text. Replaces an
/// existing file only once the new one is complete.
Result<void> exportFlameTo(const views::FlamePanel& panel, const std::filesystem::path& path);

/// Asks for a path, writes the file, and shows the result in the panel.
void askForFlame(views::FlamePanel& panel, bool isPicture);

/// Asks for a path and writes the events of the panel as CSV, off the GUI thread. A message reports an error.
void askForEvents(views::EventsPanel& panel, const TracePtr& trace);

/// Asks for the part of a trace to show in full, and for a file, and writes the page of `lanescope page` off the GUI
/// thread. `report` receives the result as a sentence, unless the user cancels. `folder` is proposed.
void sharePage(TracePage& page, const QString& folder, const std::function<void(const QString&)>& report);

}  // namespace lanescope::viewer
