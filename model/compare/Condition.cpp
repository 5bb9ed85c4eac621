// SPDX-License-Identifier: Apache-2.0
#include "model/compare/Condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>

#include "model/format/optionValues.h"
#include "model/format/text.h"
#include "model/text/formatValue.h"

namespace lanescope::compare {

using namespace analysis;
using namespace compare;

bool isWordCharacter(char c) { return isLetter(c) || isDigit(c) || c == '_'; }
bool endsBareName(char c) {
    return isSpace(c) || c == '.' || c == '<' || c == '>' || c == '=' || c == '"' || c == '\'';
}

/// Returns the word or character at `at`, for a sentence.
std::string_view pieceAt(std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && isWordCharacter(text[end])) ++end;
    if (end > at) return text.substr(at, end - at);
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    return text.substr(at, end - at);
}

/// Reads the tokens of a condition for the parser, since a token depends on the allowed ones. Spaces mean nothing.
class ConditionScanner {
  public:
    explicit ConditionScanner(std::string_view text) : text_(text) {}

    bool isAtEnd() { return position() == text_.size(); }
    /// Consumes `symbol` if it comes next; if `isTight`, only directly after the previous token.
    bool take(std::string_view symbol, bool isTight = false) {
        if (!isTight) skipSpaces();
        if (!text_.substr(at_).starts_with(symbol)) return false;
        at_ += symbol.size();
        return true;
    }

    /// Consumes the next letters, digits and '_'; empty for anything else.
    std::string_view takeWord() {
        const std::string_view word = peekWord();
        at_ += word.size();
        return word;
    }

    /// Returns the next word without consuming it.
    std::string_view peekWord() {
        skipSpaces();
        size_t end = at_;
        while (end < text_.size() && isWordCharacter(text_[end])) ++end;
        return text_.substr(at_, end - at_);
    }

    /// Consumes a name: in double or single quotes, where a backslash escapes, or without up to a space, '.', '<', '>',
    /// '='. Empty if there is none. Fails for an unclosed quote and for a quoted name without a letter.
    Result<std::string> takeName() {
        const size_t start = position();
        const char quote = next();
        std::string result;
        if (quote != '"' && quote != '\'') {
            while (at_ < text_.size() && !endsBareName(text_[at_])) result += text_[at_++];
            return result;
        }
        for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            result += text_[at_];
        }
        if (at_ >= text_.size()) return failAt(start, "this quote is not closed");
        ++at_;
        if (result.empty()) return failAt(start, "this name is empty");
        return result;
    }

    /// Consumes digits with or without a fraction: "3", "0.25".
    Result<double> takeNumber() {
        const size_t start = position();
        size_t end = start;
        while (end < text_.size() && isDigit(text_[end])) ++end;
        if (end > start && end + 1 < text_.size() && text_[end] == '.' && isDigit(text_[end + 1]))
            for (++end; end < text_.size() && isDigit(text_[end]);) ++end;
        if (end == start) return failExpecting("a number such as +3%, 2.5 ms or 1000");
        double number = 0;
        const auto [stop, error] =
            std::from_chars(text_.data() + start, text_.data() + end, number, std::chars_format::fixed);
        if (error != std::errc() || stop != text_.data() + end) return failAt(start, "this number is too large");
        at_ = end;
        return number;
    }

    /// Consumes the next unit: letters, "GB/s", "%", "\u00b5s"; may be empty.
    std::string_view takeUnit() {
        constexpr std::string_view micro = "\u00b5";
        const size_t start = position();
        if (take("%")) return text_.substr(start, 1);
        if (text_.substr(at_).starts_with(micro)) at_ += micro.size();
        while (isLetter(next()) || (next() == '/' && at_ > start)) ++at_;
        return text_.substr(start, at_ - start);
    }

    /// Returns the position of the next token in bytes, for errors.
    size_t position() {
        skipSpaces();
        return at_;
    }

    /// Returns the error "In the condition "...", at character 7: " plus `what`. Characters, not bytes.
    [[nodiscard]] tl::unexpected<Error> failAt(size_t position, std::string_view what) const {
        return fail("In the condition \"{}\", at character {}: {}.", printable(text_),
                    displayWidth(text_.substr(0, position)) + 1, what);
    }

    /// Returns an error at the next token, which quotes it.
    [[nodiscard]] tl::unexpected<Error> failExpecting(std::string_view expected) {
        const size_t at = position();
        if (at == text_.size()) return failAt(at, fmt::format("it ends where {} is expected", expected));
        return failAt(at, fmt::format("expected {}, found \"{}\"", expected, printable(pieceAt(text_, at))));
    }

  private:
    void skipSpaces() {
        while (at_ < text_.size() && isSpace(text_[at_])) ++at_;
    }

    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    std::string_view text_;
    size_t at_ = 0;
};

namespace {

/// Returns lower case with '_' between words, so that all spellings of a name are equal.
std::string normalized(std::string_view name) {
    std::string result = lowerCase(std::string(name));
    for (char& letter : result)
        if (letter == ' ' || letter == '-') letter = '_';
    return result;
}

bool isExposedCopy(StepPart part) { return groupOf(part) == PartGroup::Copies && part != StepPart::Memset; }

bool isCommunication(StepPart part) { return groupOf(part) == PartGroup::Collectives; }

struct Group {
    std::string_view name;
    bool (*holds)(StepPart);
};

constexpr std::array<Group, 3> groups{
    {{"communication", isCommunication}, {"copies", isExposedCopy}, {"idle", isIdle}}};

struct SubjectEntry {
    Subject subject;
    std::string_view name;
    bool hasName;
    std::span<const Measure> measures;
};

constexpr std::array stepMeasures{Measure::Median,  Measure::P95,     Measure::Mean,
                                  Measure::Minimum, Measure::Maximum, Measure::Count};
constexpr std::array timeOnly{Measure::Time};
constexpr std::array shareOnly{Measure::Share};
constexpr std::array kernelMeasures{Measure::Time, Measure::Exposed, Measure::Count};
constexpr std::array memsetMeasures{Measure::Time, Measure::Exposed, Measure::Count, Measure::Bytes};
constexpr std::array transferMeasures{Measure::Time, Measure::Exposed, Measure::Count, Measure::Bytes,
                                      Measure::Bandwidth};

/// In the order of the enumeration.
constexpr std::array<SubjectEntry, 10> subjectList{{
    {Subject::Step, "step", false, stepMeasures},
    {Subject::Part, "part", true, timeOnly},
    {Subject::Kernel, "kernel", true, kernelMeasures},
    {Subject::Collective, "collective", true, transferMeasures},
    {Subject::Copy, "copy", true, transferMeasures},
    {Subject::Memset, "memset", false, memsetMeasures},
    {Subject::Range, "range", true, timeOnly},
    {Subject::Mfu, "mfu", false, shareOnly},
    {Subject::Slower, "slower", false, {}},
    {Subject::Faster, "faster", false, {}},
}};

const SubjectEntry& entryOf(Subject subject) { return subjectList[static_cast<size_t>(subject)]; }

constexpr std::array<std::string_view, 11> measureNames{"p50",     "p95",   "mean",  "min",       "max",  "time",
                                                        "exposed", "count", "bytes", "bandwidth", "share"};

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

/// Returns the factor from `unit` to the dimension's own unit; nullopt if it has no such unit.
std::optional<double> factorOf(std::string_view unit, Dimension dimension) {
    if (dimension == Dimension::Time) return nsPerUnit(unit);
    for (const UnitEntry& entry : units)
        if (entry.name == unit && entry.dimension == dimension) return entry.factor;
    return std::nullopt;
}

/// Returns "a, b or c".
std::string alternatives(const auto& range, auto nameOf) {
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
    return enumText(dimension, {"ns, us, ms, s, min, h or %", "nothing or %", "B, kB, MB, GB, KiB, MiB, GiB or %",
                                "MB/s, GB/s, TB/s or %"});
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
        } while (take("and"));
        if (!scanner_.isAtEnd()) return scanner_.failExpecting("\"and\" or the end");
        return tests;
    }

  private:
    bool take(std::string_view word) {
        if (scanner_.peekWord() != word) return false;
        scanner_.takeWord();
        return true;
    }

    Result<ConditionTest> parseTest() {
        const auto subject = std::ranges::find(subjectList, scanner_.peekWord(), &SubjectEntry::name);
        if (subject == subjectList.end())
            return scanner_.failExpecting(
                alternatives(subjectList, [](const SubjectEntry& each) { return each.name; }));
        scanner_.takeWord();
        ConditionTest test{.subject = subject->subject};
        Result<void> done;
        if (subject->measures.empty()) {
            done = parseScope(test);
        } else {
            if (subject->hasName) done = parseName(test);
            if (done) done = parseMeasure(test);
            if (done) done = parseRelation(test);
            if (done) done = parseThreshold(test);
        }
        if (!done) return fail(done.error());
        return test;
    }

    Result<void> parseName(ConditionTest& test, bool isPart, const std::string& expected) {
        const size_t start = scanner_.position();
        const Result<std::string> taken = scanner_.takeName();
        if (!taken) return fail(taken.error());
        if (taken->empty()) return scanner_.failExpecting(expected);
        test.name = *taken;
        if (!isPart || !partsCalled(test.name).empty()) return {};
        return scanner_.failAt(start, fmt::format("\"{}\" is not a part of a step; use {}", test.name, partNames()));
    }

    Result<void> parseName(ConditionTest& test) {
        return parseName(test, test.subject == Subject::Part,
                         fmt::format("the name of a {} after \"{}\"", name(test.subject), name(test.subject)));
    }

    /// "in compute", "in range data", "in any", or nothing.
    Result<void> parseScope(ConditionTest& test) {
        if (!take("in")) return {};
        test.scope = take("range") ? VerdictScope::Range : take("any") ? VerdictScope::Any : VerdictScope::Part;
        if (test.scope == VerdictScope::Any) return {};
        const bool isPart = test.scope == VerdictScope::Part;
        return parseName(test, isPart, isPart ? "a part of the step, range NAME or any" : "the name of a range");
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
            "{} of a {}", alternatives(measures, [](Measure measure) { return name(measure); }), name(test.subject)));
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
        const std::string_view word = scanner_.peekWord() == "and" ? std::string_view() : scanner_.takeUnit();
        if (const std::optional<double> factor = factorOf(word, dimension)) {
            test.threshold.number *= *factor;
            if (std::isfinite(test.threshold.number)) return {};
            return scanner_.failAt(unitPosition, "this number is too large");
        }
        const std::string is = word.empty() ? "there is none" : fmt::format("not \"{}\"", word);
        return scanner_.failAt(unitPosition,
                               fmt::format("the unit of {} is {}, {}", quantity(test), unitsOf(dimension), is));
    }

    /// "step.p50", "kernel time".
    static std::string quantity(const ConditionTest& test) {
        return fmt::format("{}{}{}", name(test.subject), hasName(test.subject) ? " NAME." : ".", name(test.measure));
    }

    ConditionScanner scanner_;
};

}  // namespace

std::vector<StepPart> partsCalled(std::string_view name) {
    const std::string wanted = normalized(name);
    std::vector<StepPart> found;
    for (const Group& group : groups) {
        if (group.name != wanted) continue;
        for (const StepPart part : allStepParts)
            if (group.holds(part)) found.push_back(part);
        return found;
    }
    for (const StepPart part : allStepParts)
        if (normalized(analysis::name(part)) == wanted || normalized(identifier(part)) == wanted) return {part};
    return found;
}

std::string partNames() {
    std::string text;
    for (const StepPart part : allStepParts) text += std::string(identifier(part)) + ", ";
    return text + "communication (exposed or waiting), copies (all that are exposed) and idle (all that is)";
}

std::string_view name(Subject subject) { return entryOf(subject).name; }

bool hasName(Subject subject) { return entryOf(subject).hasName; }

std::span<const Measure> measuresOf(Subject subject) { return entryOf(subject).measures; }

std::string_view name(Measure measure) { return measureNames[static_cast<size_t>(measure)]; }

Dimension dimensionOf(Measure measure) {
    switch (measure) {
        case Measure::Count:
        case Measure::Share: return Dimension::Count;
        case Measure::Bytes: return Dimension::Bytes;
        case Measure::Bandwidth: return Dimension::Bandwidth;
        case Measure::Median:
        case Measure::P95:
        case Measure::Mean:
        case Measure::Minimum:
        case Measure::Maximum:
        case Measure::Time:
        case Measure::Exposed: break;
    }
    return Dimension::Time;
}

Result<Condition> parseCondition(std::string_view text) {
    Result<std::vector<ConditionTest>> tests = ConditionParser(text).parse();
    if (!tests) return fail(tests.error());
    return Condition{std::string(text), std::move(*tests)};
}

}  // namespace lanescope::compare
