#include "model/format/traceFingerprint.h"

#include <array>

#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

struct Question {
    const char* table;
    const char* sql;
};

constexpr std::array<Question, 8> questions{{
    {"CUPTI_ACTIVITY_KIND_KERNEL", "SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_MEMCPY"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_MEMSET"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_RUNTIME"},
    {"NVTX_EVENTS", "SELECT max(rowid) FROM NVTX_EVENTS"},
    {"LANESCOPE_NCCL_OPERATIONS", "SELECT max(rowid) FROM LANESCOPE_NCCL_OPERATIONS"},
    {"StringIds", "SELECT max(rowid) FROM StringIds"},
    {"TARGET_INFO_SESSION_START_TIME", "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"},
}};

/// 0 where the file does not say.
int64_t answerTo(const Database& database, const Question& question) {
    if (!database.hasTable(question.table)) return 0;
    auto statement = database.prepare(question.sql);
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row && statement->isInteger(0) ? statement->integer(0) : 0;
}

}  // namespace

int64_t traceFingerprint(const Database& database) {
    uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const Question& question : questions) {
        auto number = static_cast<uint64_t>(answerTo(database, question));
        for (int byte = 0; byte < 8; ++byte) {
            hash = (hash ^ (number & 0xff)) * 0x100000001b3ULL;
            number >>= 8;
        }
    }
    return static_cast<int64_t>(hash);
}

}  // namespace lanescope
