// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/format/Result.h"

namespace lanescope::compare {

/// Subject of a condition.
enum class Subject : uint8_t {
    Step,
    Part,
    Kernel,
    Collective,
    Copy,
    Memset,
    Range,
    Mfu,  ///< In percent; by shapes if both runs report them, else by counters.
    Slower,
    Faster,  ///< Verdict of the comparison, with regard to the spread between steps; no number.
};

/// Number of the subject.
enum class Measure : uint8_t {
    Median,
    P95,
    Mean,
    Minimum,
    Maximum,    ///< Statistics of the steps' times.
    Time,       ///< Summed durations per step, including overlapped time; for parts and ranges, step time.
    Exposed,    ///< Time not overlapped by anything else: its share of the step's time.
    Count,      ///< Number of steps in the run; else count per step.
    Bytes,      ///< Per step.
    Bandwidth,  ///< 10^9 bytes per second; for collectives the bus bandwidth.
    Share,      ///< Percent, as a plain number.
};

/// Unit family of a measure. Thresholds contain nanoseconds, pieces, bytes or GB/s.
enum class Dimension : uint8_t { Time, Count, Bytes, Bandwidth };

/// Scope of a verdict.
enum class VerdictScope : uint8_t {
    Step,
    Part,   ///< "slower in compute": one of the parts of that name, for certain.
    Range,  ///< "slower in range data": the idle time in it.
    Any,    ///< "slower in any": some part or range.
};

enum class Relation : uint8_t { Greater, GreaterOrEqual, Less, LessOrEqual };

/// Reference of the comparison.
enum class ThresholdKind : uint8_t {
    Value,       ///< "70 ms": the candidate's number itself is compared.
    Difference,  ///< "+2 ms": the candidate's number minus the baseline's is compared.
    Percent,     ///< "3 %", "+3 %": that difference in percent of the baseline's is compared.
};

struct Threshold {
    ThresholdKind kind = ThresholdKind::Value;
    double number = 0;  ///< In the unit of the dimension, or percent.
};

/// One comparison with a number: "copy HtoD.bandwidth < 40 GB/s".
struct ConditionTest {
    Subject subject = Subject::Step;
    std::string name = {};                    ///< Name, for subjects with many: a kernel, a part. '*' matches any text.
    VerdictScope scope = VerdictScope::Step;  ///< For a verdict; `name` is the part or range.
    Measure measure = Measure::Median;
    Relation relation = Relation::Greater;
    Threshold threshold = {};
};

/// A `--fail-if` condition: met if all of its tests hold.
struct Condition {
    std::string text;  ///< Text as written by the user.
    std::vector<ConditionTest> tests;
};

/// Parses a condition (resources/manual/compare.md). Errors contain the character in it, from 1. Linear; any thread.
Result<Condition> parseCondition(std::string_view text);

/// Returns the name of a subject or a measure in the grammar: "kernel", "p50".
std::string_view name(Subject subject);
std::string_view name(Measure measure);
Dimension dimensionOf(Measure measure);
/// Returns the measures of a subject; the first is the default. Empty for `Slower` and `Faster`.
std::span<const Measure> measuresOf(Subject subject);
/// Returns true if there are many of the subject, so that a condition must name one.
bool hasName(Subject subject);

/// Returns the parts of a step called `name`: one by its name or identifier, in any case and with '_', '-' or spaces
/// ("exposed_HtoD"), or several: "communication", "copies", "idle". Empty if there is no such part.
std::vector<analysis::StepPart> partsCalled(std::string_view name);

/// Returns all names accepted by `partsCalled`, for a sentence: "compute, ..., copies and idle".
std::string partNames();

}  // namespace lanescope::compare
