// SPDX-License-Identifier: Apache-2.0
#include "model/query/sampleQueries.h"

namespace lanescope {

namespace {

constexpr SampleQuery samples[] = {
    {"Kernels that take the most time", R"sql(SELECT s.value AS name, count(*) AS calls,
       sum(k.end - k.start) / 1e6 AS total_ms,
       round(avg(k.end - k.start) / 1e3, 2) AS mean_us,
       max(k.end - k.start) / 1e3 AS max_us
FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName
GROUP BY k.shortName ORDER BY total_ms DESC LIMIT 30)sql"},
    {"Memcpys by kind", R"sql(SELECT o.label AS kind, f.label AS "from", t.label AS "to",
       count(*) AS copies, sum(m.bytes) AS bytes,
       sum(m.end - m.start) / 1e6 AS total_ms,
       round(sum(m.bytes) * 1.0 / sum(m.end - m.start), 2) AS gb_per_s
FROM CUPTI_ACTIVITY_KIND_MEMCPY m
LEFT JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
LEFT JOIN ENUM_CUDA_MEM_KIND f ON f.id = m.srcKind
LEFT JOIN ENUM_CUDA_MEM_KIND t ON t.id = m.dstKind
GROUP BY m.copyKind, m.srcKind, m.dstKind ORDER BY total_ms DESC)sql"},
    {"Largest memcpys", R"sql(SELECT m.start, m.end, o.label AS kind, m.bytes,
       round(m.bytes * 1.0 / (m.end - m.start), 2) AS gb_per_s, m.streamId
FROM CUPTI_ACTIVITY_KIND_MEMCPY m
LEFT JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
WHERE m.end > m.start ORDER BY m.bytes DESC LIMIT 100)sql"},
    {"Slowest CUDA API calls", R"sql(SELECT r.start, r.end, s.value AS name,
       (r.end - r.start) / 1e6 AS ms, r.globalTid % 0x1000000 AS thread
FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId
ORDER BY r.end - r.start DESC LIMIT 100)sql"},
    {"NVTX ranges step by step", R"sql(SELECT n.start, n.end,
       coalesce(n.text, s.value) AS name, (n.end - n.start) / 1e6 AS ms,
       n.globalTid % 0x1000000 AS thread
FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
WHERE n.end IS NOT NULL AND coalesce(n.text, s.value) LIKE '%step%'
ORDER BY n.start)sql"},
    {"Longest times without a kernel", R"sql(SELECT * FROM (
  SELECT lag("end") OVER busy AS start, start AS "end",
         (start - lag("end") OVER busy) / 1e6 AS ms, deviceId, globalPid
  FROM CUPTI_ACTIVITY_KIND_KERNEL
  WINDOW busy AS (PARTITION BY globalPid, deviceId, streamId ORDER BY start))
WHERE ms > 0 ORDER BY ms DESC LIMIT 100)sql"},
    {"What was lost or is doubtful",
     R"sql(SELECT severity, code, timestamp, count, sentence FROM LANESCOPE_HEALTH
ORDER BY severity DESC)sql"},
};

}  // namespace

std::span<const SampleQuery> sampleQueries() {
    return samples;
}

}  // namespace lanescope
