// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "app/viewer/ViewerOptions.h"
#include "model/format/Result.h"

namespace lanescope::viewer {

class DocumentPage;
class MainWindow;

/// Waits until all visible parts of the window are computed. Fails after ten minutes.
Result<void> waitUntilIdle(const MainWindow& window);

/// Shows a view in the current document: range, selection, step, tracks, table. Waits for what it needs; events are
/// processed meanwhile. Fails with a sentence about the first option that cannot be shown.
Result<void> applyView(MainWindow& window, const ViewOptions& view);

/// Returns the arguments of `lanescope-viewer` that open this document with its view; empty for a document that no
/// command opens.
QStringList argumentsOf(const DocumentPage& page);

/// Returns a command line for a POSIX shell; quotes arguments where necessary.
QString shellCommand(const QString& program, const QStringList& arguments);

}  // namespace lanescope::viewer
