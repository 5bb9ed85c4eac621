// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/TraceSource.h"

namespace lanescope {

/// A kind of file that somebody may want to open. A format is added by a value of this in a file of
/// its own and by its name in `traceFormats.cpp`; CONTRIBUTING.md says how.
struct TraceFormat {
    std::string_view identifier;  ///< For programs: "nsight-sqlite".
    std::string_view name;  ///< For people, with its article: "an SQLite export of Nsight Systems".
    /// How names of such files usually end, for file dialogs; what a file is, its content says.
    std::array<std::string_view, 4> endings;
    /// Whether the file is of this format. At most one may say so of any file. Fails if the file
    /// looks like one of these, but cannot be looked at further: damaged, cut short, still being
    /// written.
    Result<bool> (*recognises)(TraceSource& source);
    /// Gives the builder what the file holds and leaves out what makes no sense. `progress` hears
    /// fractions in [0, 1]; what was read when it answers false does not matter. Null for a format
    /// that is known by name only.
    Result<void> (*read)(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress);
    /// Of a format that cannot be read: what to do with such a file, behind "{file} is {name}".
    std::string_view advice = {};
    /// Whether it is read, too, where gzip packed it.
    bool opensPacked = true;
};

/// Every format that this program knows, in no order that matters.
std::span<const TraceFormat* const> traceFormats();

/// The format of the file. Errors: that of a format that cannot look at the file; no format knows
/// it.
Result<const TraceFormat*> findFormat(TraceSource& source,
                                      std::span<const TraceFormat* const> formats);

/// Fails for a file of a format that is read from first to last and has no tables to ask: one
/// sentence says how to make one of our own of it. Of everything else others say what it is.
Result<void> refuseWithoutTables(TraceSource& source);

/// "A Lanescope trace, or an SQLite export of Nsight Systems": what can be opened, for help texts.
std::string readableFormats();
/// "*.sqlite *.sqlite.gz ...": what such files are usually called, for file dialogs.
std::string formatPatterns();

}  // namespace lanescope
