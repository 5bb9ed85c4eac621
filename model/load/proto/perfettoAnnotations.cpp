// SPDX-License-Identifier: Apache-2.0
// What packets say of an event beside its times.
#include "model/format/perfettoFields.h"
#include "model/load/proto/jsonMembers.h"
#include "model/load/proto/perfettoAsJson.h"

namespace lanescope {

namespace {

namespace pf = perfetto;

constexpr int deepestValue = 8;

/// Whether a text is a list of numbers, as sizes of grids are told.
bool isListOfNumbers(std::string_view text) {
    constexpr size_t longest = 256;
    return text.size() > 2 && text.size() < longest && text.front() == '[' && text.back() == ']' &&
           text.find_first_not_of("0123456789, ", 1) == text.size() - 1;
}

}  // namespace

void PerfettoAsJson::takeAnnotation(std::string_view annotation, const Sequence& sequence,
                                    Event& event) const {
    std::string_view name;
    for (ProtoFields fields(annotation); fields.next();) {
        if (fields.number() == pf::annotation::name) name = fields.bytes();
        if (fields.number() == pf::annotation::nameId)
            name = textIn(sequence.annotationNames, fields.value());
    }
    // Some writers put all arguments into one.
    const std::string value = valueOf(annotation, sequence, 0);
    const bool isAll = (name == "args" || name == "debug") && value.starts_with("{");
    event.hasCorrelation |=
        name == "correlation" || (isAll && value.find("\"correlation\"") != std::string::npos);
    if (!isAll)
        addMember(event.arguments, name, value);
    else if (value.size() > 2)
        event.arguments +=
            (event.arguments.empty() ? "" : ", ") + value.substr(1, value.size() - 2);
}

std::string PerfettoAsJson::valueOf(std::string_view annotation, const Sequence& sequence,
                                    int depth) const {
    if (depth >= deepestValue) return "null";
    const auto quoted = [](std::string_view text) {
        return isListOfNumbers(text) ? std::string(text) : jsonString(text);
    };
    std::string entries, values, value = "null";
    bool isObject = false, isList = false;
    for (ProtoFields fields(annotation); fields.next();) switch (fields.number()) {
            case pf::annotation::flag:
                value = fields.value() != 0 ? "true" : "false";
                break;
            case pf::annotation::number:
            case pf::annotation::pointer:
                value = fmt::format("{}", fields.value());
                break;
            case pf::annotation::integer:
                value = fmt::format("{}", fields.integer());
                break;
            case pf::annotation::real:
                value = numberText(fields.real());
                break;
            case pf::annotation::text:
            case pf::annotation::json:
                value = quoted(fields.bytes());
                break;
            case pf::annotation::textId:
                value = quoted(textIn(sequence.texts, fields.value()));
                break;
            case pf::annotation::entries: {
                isObject = true;
                std::string_view name;
                for (ProtoFields of(fields.bytes()); of.next();) {
                    if (of.number() == pf::annotation::name) name = of.bytes();
                    if (of.number() == pf::annotation::nameId)
                        name = textIn(sequence.annotationNames, of.value());
                }
                addMember(entries, name, valueOf(fields.bytes(), sequence, depth + 1));
                break;
            }
            case pf::annotation::values:
                isList = true;
                values +=
                    (values.empty() ? "" : ", ") + valueOf(fields.bytes(), sequence, depth + 1);
                break;
            default:
                break;
        }
    if (isObject) return "{" + entries + "}";
    return isList ? "[" + values + "]" : value;
}

}  // namespace lanescope
