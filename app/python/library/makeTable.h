// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/python/library/Columns.h"
#include "model/compare/CompareSelection.h"
#include "model/format/Result.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/Trace.h"

namespace lanescope::python {

/// What a caller asks for beside the name of a thing: names with values. Whoever makes the thing
/// takes each that it knows; what is left over is a mistake.
class Options {
  public:
    /// `pairs` is name, value, name, value and so on, then null; may be null itself.
    explicit Options(const char* const* pairs);

    /// The value of an option; empty if it was not given.
    std::string take(std::string_view name);
    /// Every value of an option that may be given many times.
    std::vector<std::string> takeAll(std::string_view name);
    /// A whole number above 0, `otherwise` if it was not given.
    Result<int64_t> takeCount(std::string_view name, int64_t otherwise);
    /// Fails if an option is left that nobody took.
    Result<void> checkAllTaken(std::string_view what) const;

  private:
    std::vector<std::pair<std::string, std::string>> given_;
};

/// A trace that is open, and the file that it was opened from.
struct OpenTrace {
    std::filesystem::path path;
    TracePtr trace;
};

/// A table of a trace:
///
/// - "events": those of one kind; option `kind`.
/// - "nccl": every NCCL operation.
/// - "steps": the steps that a comparison takes, with their parts; options `range`, `steps`,
///   `align`.
/// - "stats": a report of `lanescope stats`; options `report`, `by`, `range`, `range_name`.
/// - "sql": the rows of a query; options `query`, `rows`, `seconds`, and `program`, the path of
///   `lanescope`, which is asked in a process of its own.
///
/// Fails with a sentence, as the command line does, for options that make no sense.
Result<TablePtr> makeTable(const OpenTrace& trace, std::string_view name, Options& options);

/// A table of a comparison by its name.
Result<TablePtr> makeTable(const report::ComparisonReport& comparison, std::string_view name);

/// The options `range`, `steps` and `align`, as those of `lanescope compare`.
Result<CompareSelection> takeSelection(Options& options);

/// A comparison of the trace, as the baseline, with other files: options `candidate`, many times;
/// those of `takeSelection`, `spread`, many times; and `top`.
Result<report::ComparisonReport> compareWith(const OpenTrace& trace, Options& options);

/// What is wrong with the trace: options of `takeSelection` without `align`, and `mute`, many
/// times.
Result<report::ExplanationReport> explainTrace(const OpenTrace& trace, Options& options);

/// As many rows from the first on as people want to look at, with the title of each column and
/// its values as numbers.
ReportTable previewOf(const Table& table, int64_t most);

/// A table for an HTML page, which is escaped, whatever is in it.
std::string asHtml(const ReportTable& table, int64_t rowCount);

}  // namespace lanescope::python
