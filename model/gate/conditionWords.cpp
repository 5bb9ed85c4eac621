// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/gate/Condition.h"

namespace lanescope::gate {

namespace {

struct SubjectEntry {
    Subject subject;
    std::string_view name;
    bool hasName;
    std::span<const Measure> measures;
};

constexpr std::array stepMeasures{Measure::Median,  Measure::P95,     Measure::Mean,
                                  Measure::Minimum, Measure::Maximum, Measure::Count};
constexpr std::array timeOnly{Measure::Time};
constexpr std::array kernelMeasures{Measure::Time, Measure::Exposed, Measure::Count};
constexpr std::array memsetMeasures{Measure::Time, Measure::Exposed, Measure::Count,
                                    Measure::Bytes};
constexpr std::array transferMeasures{Measure::Time, Measure::Exposed, Measure::Count,
                                      Measure::Bytes, Measure::Bandwidth};

/// In the order of the enumeration.
constexpr std::array<SubjectEntry, 9> subjects{{
    {Subject::Step, "step", false, stepMeasures},
    {Subject::Part, "part", true, timeOnly},
    {Subject::Kernel, "kernel", true, kernelMeasures},
    {Subject::Collective, "collective", true, transferMeasures},
    {Subject::Copy, "copy", true, transferMeasures},
    {Subject::Memset, "memset", false, memsetMeasures},
    {Subject::Range, "range", true, timeOnly},
    {Subject::Slower, "slower", false, {}},
    {Subject::Faster, "faster", false, {}},
}};

const SubjectEntry& entryOf(Subject subject) {
    return subjects[static_cast<size_t>(subject)];
}

constexpr std::array<std::string_view, 10> measureNames{
    "p50", "p95", "mean", "min", "max", "time", "exposed", "count", "bytes", "bandwidth"};

}  // namespace

std::span<const Subject> allSubjects() {
    static constexpr std::array all{Subject::Step,       Subject::Part,   Subject::Kernel,
                                    Subject::Collective, Subject::Copy,   Subject::Memset,
                                    Subject::Range,      Subject::Slower, Subject::Faster};
    return all;
}

std::string_view name(Subject subject) {
    return entryOf(subject).name;
}

bool hasName(Subject subject) {
    return entryOf(subject).hasName;
}

std::span<const Measure> measuresOf(Subject subject) {
    return entryOf(subject).measures;
}

std::string_view name(Measure measure) {
    return measureNames[static_cast<size_t>(measure)];
}

Dimension dimensionOf(Measure measure) {
    switch (measure) {
        case Measure::Count:
            return Dimension::Count;
        case Measure::Bytes:
            return Dimension::Bytes;
        case Measure::Bandwidth:
            return Dimension::Bandwidth;
        case Measure::Median:
        case Measure::P95:
        case Measure::Mean:
        case Measure::Minimum:
        case Measure::Maximum:
        case Measure::Time:
        case Measure::Exposed:
            break;
    }
    return Dimension::Time;
}

}  // namespace lanescope::gate
