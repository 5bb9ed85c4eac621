// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/compare/StepParts.h"
#include "model/format/parseDuration.h"
#include "model/gate/Condition.h"
#include "model/gate/ConditionScanner.h"
#include "model/gate/partGroups.h"

namespace lanescope::gate {

namespace {

struct UnitEntry {
    std::string_view name;
    Dimension dimension;
    double factor;
};

constexpr std::array<UnitEntry, 11> units{{
    {"B", Dimension::Bytes, 1},
    {"kB", Dimension::Bytes, 1e3},
    {"MB", Dimension::Bytes, 1e6},
    {"GB", Dimension::Bytes, 1e9},
    {"KiB", Dimension::Bytes, 1024.0},
    {"MiB", Dimension::Bytes, 1024.0 * 1024},
    {"GiB", Dimension::Bytes, 1024.0 * 1024 * 1024},
    {"MB/s", Dimension::Bandwidth, 1e-3},
    {"GB/s", Dimension::Bandwidth, 1},
    {"TB/s", Dimension::Bandwidth, 1e3},
    {"", Dimension::Count, 1},
}};

/// How much of the dimension's own unit one of `unit` is; nothing if it has no such unit.
std::optional<double> factorOf(std::string_view unit, Dimension dimension) {
    if (dimension == Dimension::Time) return nsPerUnit(unit);
    for (const UnitEntry& entry : units)
        if (entry.name == unit && entry.dimension == dimension) return entry.factor;
    return std::nullopt;
}

/// "a, b or c".
template <class Range, class NameOf>
std::string alternatives(const Range& range, NameOf nameOf) {
    std::string text;
    size_t index = 0;
    for (const auto& element : range) {
        if (index > 0) text += index + 1 == std::size(range) ? " or " : ", ";
        text += nameOf(element);
        ++index;
    }
    return text;
}

std::string_view unitsOf(Dimension dimension) {
    switch (dimension) {
        case Dimension::Time:
            return "ns, us, ms, s, min, h or %";
        case Dimension::Bytes:
            return "B, kB, MB, GB, KiB, MiB, GiB or %";
        case Dimension::Bandwidth:
            return "MB/s, GB/s, TB/s or %";
        case Dimension::Count:
            break;
    }
    return "nothing or %";
}

class ConditionParser {
  public:
    explicit ConditionParser(std::string_view text) : scanner_(text) {}

    Result<std::vector<ConditionTest>> parse() {
        std::vector<ConditionTest> tests;
        do {
            const Result<ConditionTest> test = parseTest();
            if (!test) return fail(test.error());
            tests.push_back(*test);
        } while (takeAnd());
        if (!scanner_.isAtEnd()) return scanner_.failExpecting("\"and\" or the end");
        return tests;
    }

  private:
    bool takeAnd() {
        if (scanner_.peekWord() != "and") return false;
        scanner_.takeWord();
        return true;
    }

    Result<ConditionTest> parseTest() {
        const std::string_view word = scanner_.peekWord();
        const std::span<const Subject> subjects = allSubjects();
        const auto subject =
            std::find_if(subjects.begin(), subjects.end(),
                         [word](Subject candidate) { return name(candidate) == word; });
        if (subject == subjects.end())
            return scanner_.failExpecting(
                alternatives(subjects, [](Subject candidate) { return name(candidate); }));
        scanner_.takeWord();
        ConditionTest test;
        test.subject = *subject;
        if (measuresOf(*subject).empty()) {
            const Result<void> scoped = parseScope(test);
            if (!scoped) return fail(scoped.error());
            return test;
        }
        if (hasName(*subject)) {
            const Result<void> named = parseName(test);
            if (!named) return fail(named.error());
        }
        Result<void> done = parseMeasure(test);
        if (done) done = parseRelation(test);
        if (done) done = parseThreshold(test);
        if (!done) return fail(done.error());
        return test;
    }

    Result<void> parseName(ConditionTest& test) {
        const size_t start = scanner_.position();
        const Result<std::string> taken = scanner_.takeName();
        if (!taken) return fail(taken.error());
        if (taken->empty())
            return scanner_.failExpecting(fmt::format("the name of a {} after \"{}\"",
                                                      name(test.subject), name(test.subject)));
        test.name = *taken;
        if (test.subject != Subject::Part || !partsCalled(test.name).empty()) return {};
        return scanner_.failAt(
            start, fmt::format("no part of a step is called \"{}\"; there are {}", test.name,
                               partNames()));
    }

    /// "in compute", "in range data", "in any", or nothing.
    Result<void> parseScope(ConditionTest& test) {
        if (scanner_.peekWord() != "in") return {};
        scanner_.takeWord();
        test.scope = VerdictScope::Part;
        if (scanner_.peekWord() == "range") test.scope = VerdictScope::Range;
        if (scanner_.peekWord() == "any") test.scope = VerdictScope::Any;
        if (test.scope != VerdictScope::Part) scanner_.takeWord();
        if (test.scope == VerdictScope::Any) return {};
        const size_t start = scanner_.position();
        const Result<std::string> taken = scanner_.takeName();
        if (!taken) return fail(taken.error());
        if (taken->empty())
            return scanner_.failExpecting(test.scope == VerdictScope::Range
                                              ? "the name of a range"
                                              : "a part of the step, range NAME or any");
        test.name = *taken;
        if (test.scope == VerdictScope::Range || !partsCalled(test.name).empty()) return {};
        return scanner_.failAt(
            start, fmt::format("no part of a step is called \"{}\"; there are {}", test.name,
                               partNames()));
    }

    Result<void> parseMeasure(ConditionTest& test) {
        const std::span<const Measure> measures = measuresOf(test.subject);
        test.measure = measures.front();
        if (!scanner_.take(".", true)) return {};
        const std::string_view word = scanner_.peekWord();
        const std::string_view wanted = word == "median" ? "p50" : word;
        for (const Measure measure : measures) {
            if (name(measure) != wanted) continue;
            scanner_.takeWord();
            test.measure = measure;
            return {};
        }
        return scanner_.failExpecting(fmt::format(
            "{} of a {}", alternatives(measures, [](Measure measure) { return name(measure); }),
            name(test.subject)));
    }

    Result<void> parseRelation(ConditionTest& test) {
        if (scanner_.take(">="))
            test.relation = Relation::GreaterOrEqual;
        else if (scanner_.take("<="))
            test.relation = Relation::LessOrEqual;
        else if (scanner_.take(">"))
            test.relation = Relation::Greater;
        else if (scanner_.take("<"))
            test.relation = Relation::Less;
        else
            return scanner_.failExpecting(">, >=, < or <=");
        return {};
    }

    Result<void> parseThreshold(ConditionTest& test) {
        const bool isNegative = scanner_.take("-");
        const bool hasSign = isNegative || scanner_.take("+");
        const Result<double> number = scanner_.takeNumber();
        if (!number) return fail(number.error());
        test.threshold.number = isNegative ? -*number : *number;
        test.threshold.kind = hasSign ? ThresholdKind::Difference : ThresholdKind::Value;
        const size_t unitPosition = scanner_.position();
        if (scanner_.take("%")) {
            test.threshold.kind = ThresholdKind::Percent;
            return {};
        }
        const Dimension dimension = dimensionOf(test.measure);
        const std::string_view word =
            scanner_.peekWord() == "and" ? std::string_view() : scanner_.takeUnit();
        if (const std::optional<double> factor = factorOf(word, dimension)) {
            test.threshold.number *= *factor;
            if (std::isfinite(test.threshold.number)) return {};
            return scanner_.failAt(unitPosition, "this number is too large");
        }
        const std::string is = word.empty() ? "there is none" : fmt::format("not \"{}\"", word);
        return scanner_.failAt(unitPosition, fmt::format("the unit of {} is {}, {}", quantity(test),
                                                         unitsOf(dimension), is));
    }

    /// "step.p50", "kernel time".
    static std::string quantity(const ConditionTest& test) {
        return fmt::format("{}{}{}", name(test.subject), hasName(test.subject) ? " NAME." : ".",
                           name(test.measure));
    }

    ConditionScanner scanner_;
};

}  // namespace

Result<Condition> parseCondition(std::string_view text) {
    Result<std::vector<ConditionTest>> tests = ConditionParser(text).parse();
    if (!tests) return fail(tests.error());
    return Condition{std::string(text), std::move(*tests)};
}

}  // namespace lanescope::gate
