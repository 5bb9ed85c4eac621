// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/debugArguments.h"

#include <fmt/format.h>

#include <cmath>

#include "model/format/text.h"

namespace lanescope {

namespace {

constexpr int maxValueDepth = 16;
/// Maximum for a list as text. Longer ones are not useful.
constexpr size_t maxListTextBytes = size_t{1} << 16;

using Texts = PacketSequence::Texts;

struct Value {
    JsonValue::Kind kind = JsonValue::Kind::Word;
    std::string text;
};

Value word(std::string text) { return {JsonValue::Kind::Word, std::move(text)}; }

std::string asJson(const Value& value) {
    return value.kind == JsonValue::Kind::String ? jsonQuoted(value.text) : value.text;
}

Value valueOf(std::string_view message, const PacketSequence& sequence, std::string& name, int depth);

/// The items of a list, or the members of a group, as JSON.
class Parts {
  public:
    void add(const Value& value, const std::string* name) {
        if (text_.size() > maxListTextBytes) return;
        if (!text_.empty()) text_ += ", ";
        if (name != nullptr) text_ += jsonQuoted(*name) + ": ";
        text_ += asJson(value);
        isAny_ = true;
    }
    bool isAny() const { return isAny_; }
    Value value(char open, char close) const {
        return {JsonValue::Kind::Nested, fmt::format("{}{}{}", open, text_, close)};
    }

  private:
    std::string text_;
    bool isAny_ = false;
};

/// Reads a NestedValue, which writers used before lists became arguments.
Value nestedValueOf(std::string_view message, int depth) {
    if (depth >= maxValueDepth) return word("");
    Parts parts;
    std::vector<std::string> keys;
    size_t next = 0;
    Value value = word("");
    bool isGroup = false;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        switch (field.number) {
            case 2:
                isGroup = true;
                if (keys.size() < maxListTextBytes) keys.emplace_back(field.bytes);
                break;
            case 3:
                if (next < keys.size()) parts.add(nestedValueOf(field.bytes, depth + 1), &keys[next++]);
                break;
            case 4: parts.add(nestedValueOf(field.bytes, depth + 1), nullptr); break;
            case 5: value = word(fmt::format("{}", field.signedValue())); break;
            case 6: value = word(fmt::format("{}", field.real())); break;
            case 7: value = word(field.value != 0 ? "true" : "false"); break;
            case 8: value = {JsonValue::Kind::String, std::string(field.bytes)}; break;
            default: break;
        }
    }
    return parts.isAny() ? parts.value(isGroup ? '{' : '[', isGroup ? '}' : ']') : value;
}

Value valueOf(std::string_view message, const PacketSequence& sequence, std::string& name, int depth) {
    Value value = word("");
    if (depth >= maxValueDepth) return value;
    Parts list, group;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        switch (field.number) {
            case 1: name = sequence.text(Texts::ArgumentNames, field.value); break;
            case 10: name = field.bytes; break;
            case 2: value = word(field.value != 0 ? "true" : "false"); break;
            case 3:
            case 7: value = word(fmt::format("{}", field.value)); break;
            case 4: value = word(fmt::format("{}", field.signedValue())); break;
            case 5: value = word(fmt::format("{}", field.real())); break;
            case 6: value = {JsonValue::Kind::String, std::string(field.bytes)}; break;
            case 17:
                value = {JsonValue::Kind::String, std::string(sequence.text(Texts::ArgumentValues, field.value))};
                break;
            case 8: value = nestedValueOf(field.bytes, depth + 1); break;
            case 9: value = {JsonValue::Kind::Nested, std::string(field.bytes)}; break;
            case 11: {
                std::string key;
                const Value member = valueOf(field.bytes, sequence, key, depth + 1);
                group.add(member, &key);
                break;
            }
            case 12: {
                std::string ignored;
                list.add(valueOf(field.bytes, sequence, ignored, depth + 1), nullptr);
                break;
            }
            default: break;
        }
    }
    if (group.isAny()) return group.value('{', '}');
    if (list.isAny()) return list.value('[', ']');
    return value;
}

}  // namespace

void takeDebugArgument(std::string_view message, const PacketSequence& sequence, KeptTexts& keeper,
                       std::vector<EventDecoder::Argument>& arguments) {
    constexpr size_t maxArguments = 256;
    if (arguments.size() >= maxArguments) return;
    std::string name;
    const Value value = valueOf(message, sequence, name, 0);
    EventDecoder::Argument argument;
    argument.key = keeper.kept(name);
    argument.value.kind = value.kind;
    argument.value.text = keeper.kept(value.text);
    arguments.push_back(argument);
}

}  // namespace lanescope
