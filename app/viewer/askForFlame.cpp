// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/askForFlame.h"

#include <QCoreApplication>
#include <QFileDialog>

#include "app/viewer/exportDocument.h"
#include "views/flame/FlamePanel.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {
namespace {

struct Translated {
    Q_DECLARE_TR_FUNCTIONS(FlameExport)
};

}  // namespace

Result<void> exportFlameTo(const views::FlamePanel& panel, const std::filesystem::path& path) {
    const std::string text = path.extension() == ".svg" ? panel.svg() : panel.folded();
    if (text.empty()) return fail("There is no flame graph to write.");
    return saveFile(path, QByteArray::fromStdString(text));
}

void askForFlame(views::FlamePanel& panel, bool isPicture) {
    const QString path = QFileDialog::getSaveFileName(
        &panel, isPicture ? Translated::tr("Save flame graph") : Translated::tr("Save folded text"),
        isPicture ? QStringLiteral("flame.svg") : QStringLiteral("flame.folded"),
        isPicture ? Translated::tr("Pictures (*.svg)")
                  : Translated::tr("Folded text (*.folded *.txt)"));
    if (path.isEmpty()) return;
    const Result<void> written = exportFlameTo(panel, path.toStdString());
    panel.say(written ? Translated::tr("Written: %1").arg(path)
                      : views::toQString(written.error().sentence));
}

}  // namespace lanescope::viewer
