// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/arrowExport.h"

#include <array>
#include <cerrno>
#include <exception>
#include <utility>

namespace lanescope::python {

namespace {

const char* formatOf(ColumnType type) {
    switch (type) {
        case ColumnType::Int32:
        case ColumnType::Name: return "i";
        case ColumnType::UInt32: return "I";
        case ColumnType::Int64: return "l";
        case ColumnType::UInt64: return "L";
        case ColumnType::Float64: return "g";
        case ColumnType::Text: break;
    }
    return "u";
}

/// For a column's metadata; empty for none.
const char* unitOf(Unit unit) {
    switch (unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp: return "ns";
        case Unit::Bytes: return "bytes";
        case Unit::GigabytesPerSecond: return "GB/s";
        case Unit::TeraflopsPerSecond: return "TFLOP/s";
        case Unit::Percent: return "%";
        case Unit::Text:
        case Unit::Count:
        case Unit::Identifier: break;
    }
    return "";
}

/// Packs pairs of texts in Arrow's format: their number, then each with its length before it.
std::string packedMetadata(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string packed;
    const auto addNumber = [&packed](size_t number) {
        const auto value = static_cast<int32_t>(number);
        packed.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    addNumber(pairs.size());
    for (const auto& pair : pairs) {
        for (const std::string& text : {pair.first, pair.second}) {
            addNumber(text.size());
            packed += text;
        }
    }
    return packed;
}

/// Releases a part of a schema or an array, unless it was moved away.
struct ReleasePart {
    template <class Struct>
    void operator()(Struct* part) const {
        if (part->release != nullptr) part->release(part);
        delete part;
    }
};
template <class Struct>
using Part = std::unique_ptr<Struct, ReleasePart>;

template <class Struct>
Part<Struct> newPart() {
    return Part<Struct>(new Struct{});
}

/// The memory of an exported schema. Children are separate structs, so that a consumer may move one
/// away and keep it longer than the parent.
struct SchemaNode {
    std::string name, metadata;
    std::vector<Part<ArrowSchema>> children;
    std::vector<ArrowSchema*> pointers;
    Part<ArrowSchema> dictionary;
};

struct ArrayNode {
    std::vector<Part<ArrowArray>> children;
    std::vector<ArrowArray*> pointers;
    Part<ArrowArray> dictionary;
    std::array<const void*, 3> buffers{};
    std::shared_ptr<const void> memory;  ///< Owner of the buffers.
};

template <class Struct, class Node>
void release(Struct* that) {
    delete static_cast<Node*>(that->private_data);
    that->release = nullptr;
}

void fillSchema(ArrowSchema& out, const char* format, std::unique_ptr<SchemaNode> node, int64_t flags) {
    for (const auto& child : node->children) node->pointers.push_back(child.get());
    out = {.format = format,
           .name = node->name.c_str(),
           .metadata = node->metadata.empty() ? nullptr : node->metadata.data(),
           .flags = flags,
           .n_children = static_cast<int64_t>(node->children.size()),
           .children = node->pointers.data(),
           .dictionary = node->dictionary.get(),
           .release = release<ArrowSchema, SchemaNode>,
           .private_data = nullptr};
    out.private_data = node.release();
}

void exportColumnSchema(const ColumnInfo& column, ArrowSchema& out) {
    auto node = std::make_unique<SchemaNode>();
    node->name = column.name;
    if (const std::string unit = unitOf(column.unit); !unit.empty()) node->metadata = packedMetadata({{"unit", unit}});
    if (column.type == ColumnType::Name) {
        node->dictionary = newPart<ArrowSchema>();
        fillSchema(*node->dictionary, "u", std::make_unique<SchemaNode>(), arrowFlagNullable);
    }
    fillSchema(out, formatOf(column.type), std::move(node), arrowFlagNullable);
}

void fillArray(ArrowArray& out, std::unique_ptr<ArrayNode> node, size_t length, size_t offset, int64_t nullCount,
               int64_t bufferCount) {
    for (const auto& child : node->children) node->pointers.push_back(child.get());
    out = {.length = static_cast<int64_t>(length),
           .null_count = nullCount,
           .offset = static_cast<int64_t>(offset),
           .n_buffers = bufferCount,
           .n_children = static_cast<int64_t>(node->children.size()),
           .buffers = node->buffers.data(),
           .children = node->pointers.data(),
           .dictionary = node->dictionary.get(),
           .release = release<ArrowArray, ArrayNode>,
           .private_data = nullptr};
    out.private_data = node.release();
}

std::unique_ptr<ArrayNode> columnNode(const ColumnValues& values, ColumnType type, std::shared_ptr<const void> memory) {
    auto node = std::make_unique<ArrayNode>();
    node->buffers = {values.validity.data(), values.values.data(),
                     type == ColumnType::Text ? values.text.data() : nullptr};
    node->memory = std::move(memory);
    return node;
}

void exportColumn(const ColumnInfo& column, const std::shared_ptr<const ColumnValues>& values, const Batch& batch,
                  ArrowArray& out) {
    auto node = columnNode(*values, column.type, values);
    if (column.type == ColumnType::Name) {
        const std::shared_ptr<const Dictionary>& names = column.dictionary;
        node->dictionary = newPart<ArrowArray>();
        fillArray(*node->dictionary, columnNode(names->values, ColumnType::Text, names), names->texts.size(), 0, 0, 3);
    }
    // The nulls in a part of a column are not counted.
    const bool isPart = batch.offset != 0 && values->nullCount != 0;
    fillArray(out, std::move(node), batch.rows, batch.offset, isPart ? -1 : values->nullCount,
              column.type == ColumnType::Text ? 3 : 2);
}

void exportBatch(const Table& table, const Batch& batch, ArrowArray& out) {
    auto node = std::make_unique<ArrayNode>();
    for (size_t column = 0; column < table.columns().size(); ++column) {
        node->children.push_back(newPart<ArrowArray>());
        exportColumn(table.columns()[column], batch.columns[column], batch, *node->children.back());
    }
    fillArray(out, std::move(node), batch.rows, 0, 0, 1);
}

struct StreamNode {
    TablePtr table;
    int64_t row = 0;
    std::string error;
};

/// Runs the code that makes a part of a stream. The consumer may be a C program, so no exception may escape.
template <class Work>
int guarded(ArrowArrayStream* stream, const Work& work) noexcept {
    auto* node = static_cast<StreamNode*>(stream->private_data);
    try {
        node->error.clear();
        work(*node);
        return 0;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    } catch (const std::exception& error) {
        try {
            node->error = error.what();
        } catch (...) {
        }
        return EIO;
    }
}

int getSchema(ArrowArrayStream* stream, ArrowSchema* out) {
    return guarded(stream, [out](StreamNode& node) { exportSchema(*node.table, *out); });
}

int getNext(ArrowArrayStream* stream, ArrowArray* out) {
    return guarded(stream, [out](StreamNode& node) {
        *out = {};
        if (node.row >= node.table->rowCount()) return;
        const Batch batch = node.table->rows(node.row, rowsPerBatch);
        exportBatch(*node.table, batch, *out);
        node.row += static_cast<int64_t>(batch.rows);
    });
}

const char* getLastError(ArrowArrayStream* stream) {
    const std::string& error = static_cast<StreamNode*>(stream->private_data)->error;
    return error.empty() ? nullptr : error.c_str();
}

void releaseStream(ArrowArrayStream* stream) {
    delete static_cast<StreamNode*>(stream->private_data);
    stream->release = nullptr;
}

}  // namespace

void exportSchema(const Table& table, ArrowSchema& out) {
    auto node = std::make_unique<SchemaNode>();
    for (const ColumnInfo& column : table.columns()) {
        node->children.push_back(newPart<ArrowSchema>());
        exportColumnSchema(column, *node->children.back());
    }
    std::vector<std::pair<std::string, std::string>> facts{{"table", table.name()}};
    for (const std::string& note : table.notes()) facts.emplace_back("note", note);
    node->metadata = packedMetadata(facts);
    fillSchema(out, "+s", std::move(node), 0);
}

void exportStream(TablePtr table, ArrowArrayStream& out) {
    auto node = std::make_unique<StreamNode>();
    node->table = std::move(table);
    out = {.get_schema = getSchema,
           .get_next = getNext,
           .get_last_error = getLastError,
           .release = releaseStream,
           .private_data = node.release()};
}

}  // namespace lanescope::python
