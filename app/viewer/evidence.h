// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace lanescope::viewer {

class TracePage;

/// What a reader needs to believe it: of which trace, when, what the selected range (else what is
/// seen) holds, what is known of the selected event, and the query that gives the numbers back.
QString evidenceText(const TracePage& page);

/// Puts that on the clipboard with a picture of the timeline: as text, as picture, and as both in
/// HTML, whichever the other program takes.
void copyEvidence(TracePage& page);

}  // namespace lanescope::viewer
