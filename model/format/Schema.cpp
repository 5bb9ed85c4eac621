#include "model/format/Schema.h"

#include "model/format/EnumTables.h"
#include "model/format/Memory.h"
#include "model/format/Sqlite.h"
#include "model/format/tableDefinitions.h"

namespace lanescope {

namespace {

Result<void> insertEnumRow(Statement& insert, const EnumRow& row) {
    insert.bind(1, row.id);
    insert.bind(2, row.name);
    insert.bind(3, row.label);
    return insert.run();
}

Result<void> createEnumTables(Database& database) {
    for (const EnumTable& table : enumTables()) {
        if (auto created = database.execute(table.createSql); !created) return created;
        auto insert = database.prepare(table.insertSql);
        if (!insert) return fail(insert.error());
        for (const EnumRow& row : table.rows)
            if (auto inserted = insertEnumRow(*insert, row); !inserted) return inserted;
    }
    return {};
}

Result<void> createMemoryEnumTables(Database& database) {
    if (auto created =
            database.execute("CREATE TABLE ENUM_CUDA_MEMCPY_OPER"
                             " (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
                             "CREATE TABLE ENUM_CUDA_MEM_KIND"
                             " (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);");
        !created)
        return created;
    auto copies =
        database.prepare("INSERT INTO ENUM_CUDA_MEMCPY_OPER (id, name, label) VALUES (?1, ?2, ?3)");
    if (!copies) return fail(copies.error());
    for (int id = 0; id < memcpyKindCount; ++id) {
        const MemcpyKind kind = memcpyKindFrom(id);
        if (auto done = insertEnumRow(*copies, {id, enumName(kind), longName(kind)}); !done)
            return done;
    }
    auto memory =
        database.prepare("INSERT INTO ENUM_CUDA_MEM_KIND (id, name, label) VALUES (?1, ?2, ?3)");
    if (!memory) return fail(memory.error());
    for (int id = 0; id < memoryKindCount; ++id) {
        const MemoryKind kind = memoryKindFrom(id);
        if (auto done = insertEnumRow(*memory, {id, enumName(kind), longName(kind)}); !done)
            return done;
    }
    return {};
}

Result<void> describeExport(Database& database) {
    auto insert = database.prepare("INSERT INTO META_DATA_EXPORT (name, value) VALUES (?1, ?2)");
    if (!insert) return fail(insert.error());
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"EXPORT_PRODUCT_NAME", "Lanescope"},
        {"EXPORT_PRODUCT_VERSION", LANESCOPE_VERSION},
        // The Nsight Systems export whose tables these are, for programs that ask.
        {"EXPORT_SCHEMA_VERSION", "3.25.0"},
        {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
        {"EXPORT_SCHEMA_VERSION_MINOR", "25"},
        {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
    };
    for (const auto& [name, value] : rows) {
        insert->bind(1, name);
        insert->bind(2, value);
        if (auto done = insert->run(); !done) return done;
    }
    return {};
}

}  // namespace

Result<void> createTraceTables(Database& database) {
    if (auto done = database.execute("BEGIN"); !done) return done;
    for (const char* sql : {nsightTablesSql, lanescopeTablesSql})
        if (auto done = database.execute(sql); !done) return done;
    if (auto done = createEnumTables(database); !done) return done;
    if (auto done = createMemoryEnumTables(database); !done) return done;
    if (auto done = describeExport(database); !done) return done;
    // The numbers of `traceApplicationId` and `traceSchemaVersion`; pragmas take no binds.
    static_assert(traceApplicationId == 1280201539 && traceSchemaVersion == 3);
    if (auto done = database.execute("PRAGMA application_id = 1280201539; PRAGMA user_version = 3");
        !done)
        return done;
    return database.execute("COMMIT");
}

}  // namespace lanescope
