// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/python/library/Columns.h"
#include "model/format/Result.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/Trace.h"

namespace lanescope::python {

/// Options of a request: names with values. The receiver takes each option that it supports; a
/// remaining one is an error.
class Options {
  public:
    /// `pairs` is name, value, name, value and so on, then null; may be null itself.
    explicit Options(const char* const* pairs);

    /// Removes and returns the value of an option; empty if it was not given.
    std::string take(std::string_view name);
    /// Removes and returns every value of a repeatable option.
    std::vector<std::string> takeAll(std::string_view name);
    /// Removes and returns a whole number above 0; `otherwise` if it was not given.
    Result<int64_t> takeCount(std::string_view name, int64_t otherwise);
    /// Fails if an unsupported option is left.
    Result<void> checkAllUsed(std::string_view what) const;

  private:
    std::vector<std::pair<std::string, std::string>> given_;
};

struct OpenTrace {
    std::filesystem::path path;
    TracePtr trace;
};

/// Returns a table of a trace:
///
/// - "events": those of one kind; option `kind`.
/// - "nccl": every NCCL operation.
/// - "steps": the steps that a comparison uses, with their parts; options `range`, `steps`,
///   `align`.
/// - "stats": a report of `lanescope stats`; options `report`, `by`, `range`, `range_name`.
/// - "sql": the rows of a query; options `query`, `rows`, `seconds`.
///
/// Fails with a sentence, like the command line, for invalid options.
Result<TablePtr> makeTable(const OpenTrace& trace, std::string_view name, Options& options);

/// Returns a table of a comparison by its name.
Result<TablePtr> makeTable(const report::ComparisonReport& comparison, std::string_view name);

/// Compares the trace, as the baseline, with other files: options `candidate`, repeatable; `range`, `steps` and
/// `align`, as in `lanescope compare`; `spread`, repeatable; and `top`.
Result<report::ComparisonReport> compareWith(const OpenTrace& trace, Options& options);

/// Returns the findings of the trace: options `range` and `steps`, and `mute`, repeatable.
Result<report::ExplanationReport> explainTrace(const OpenTrace& trace, Options& options);

/// Returns the first `maxRows` rows for display, with the title of each column and its values as numbers.
ReportTable previewOf(const Table& table, int64_t maxRows);

/// Returns a table for an HTML page, fully escaped.
std::string asHtml(const ReportTable& table, int64_t rowCount);

}  // namespace lanescope::python
