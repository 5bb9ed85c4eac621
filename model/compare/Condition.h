// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/format/Result.h"

namespace lanescope::compare {

/// What a condition is about.
enum class Subject : uint8_t {
    Step,
    Part,
    Kernel,
    Collective,
    Copy,
    Memset,
    Range,
    Slower,
    Faster,  ///< What the comparison found, spread between steps considered; no number.
};

/// Which of its numbers.
enum class Measure : uint8_t {
    Median,
    P95,
    Mean,
    Minimum,
    Maximum,    ///< Of the steps' times.
    Time,       ///< Summed durations per step, hidden ones too; of parts and ranges, step time.
    Exposed,    ///< What of it nothing else hides: its share of the step's time.
    Count,      ///< Of steps in the run; else how often per step.
    Bytes,      ///< Per step.
    Bandwidth,  ///< 10^9 bytes a second; of collectives the bus bandwidth.
};

/// In what a measure is counted. Thresholds hold nanoseconds, pieces, bytes or GB/s.
enum class Dimension : uint8_t { Time, Count, Bytes, Bandwidth };

/// What a verdict is about.
enum class VerdictScope : uint8_t {
    Step,
    Part,   ///< "slower in compute": one of the parts of that name, for certain.
    Range,  ///< "slower in range data": the idle time in it.
    Any,    ///< "slower in any": some part or range.
};

enum class Relation : uint8_t { Greater, GreaterOrEqual, Less, LessOrEqual };

/// With what the number is compared.
enum class ThresholdKind : uint8_t {
    Value,       ///< "70 ms": with the candidate's number itself.
    Difference,  ///< "+2 ms": with the candidate's less the baseline's.
    Percent,     ///< "3 %", "+3 %": with that difference in percent of the baseline's.
};

struct Threshold {
    ThresholdKind kind = ThresholdKind::Value;
    double number = 0;  ///< In the unit of the dimension, or percent.
};

/// One comparison with a number: "copy HtoD.bandwidth < 40 GB/s".
struct ConditionTest {
    Subject subject = Subject::Step;
    std::string name;  ///< Of what the subject has many: a kernel, a part. '*' stands for any text.
    VerdictScope scope = VerdictScope::Step;  ///< Of a verdict; `name` says which part or range.
    Measure measure = Measure::Median;
    Relation relation = Relation::Greater;
    Threshold threshold;
};

/// What `--fail-if` asks for: met if all of its tests hold.
struct Condition {
    std::string text;  ///< As it was written.
    std::vector<ConditionTest> tests;
};

/// Reads a condition; resources/manual/compare.md has the grammar. The error is one sentence that
/// holds the condition and the place in it, counted in characters from 1. Linear; any thread.
Result<Condition> parseCondition(std::string_view text);

/// In the order in which sentences list them.
std::span<const Subject> allSubjects();
/// Name of a subject or a measure in the grammar: "kernel", "p50".
std::string_view name(Subject subject);
std::string_view name(Measure measure);
Dimension dimensionOf(Measure measure);
/// What can be asked of the subject; the first is meant where a condition names none. Empty for
/// `Slower` and `Faster`.
std::span<const Measure> measuresOf(Subject subject);
/// Whether there are many of them, so that a condition must say which.
bool hasName(Subject subject);

/// The parts of a step that a condition calls `name`: one by its name or identifier, in any case
/// and with '_', '-' or spaces ("exposed_HtoD"), or several: "communication", "copies", "idle".
/// Empty if there is no such part.
std::vector<analysis::StepPart> partsCalled(std::string_view name);

/// All names that `partsCalled` knows, for a sentence: "compute, ..., copies and idle".
std::string partNames();

}  // namespace lanescope::compare
