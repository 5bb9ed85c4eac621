#pragma once

namespace lanescope {

/// Version of the stored summary: of its tables and of the rules that its figures follow. Raised
/// whenever the same events would give other figures.
inline constexpr int storedSummaryVersion = 5;

/// SQL that makes the tables anew; what an older version stored goes.
inline constexpr const char* createSummaryTablesSql = R"sql(
DROP TABLE IF EXISTS LANESCOPE_SUMMARY;
DROP TABLE IF EXISTS LANESCOPE_SUMMARY_WORKERS;
DROP TABLE IF EXISTS LANESCOPE_SUMMARY_STEPS;
DROP TABLE IF EXISTS LANESCOPE_SUMMARY_CONTRIBUTORS;
DROP TABLE IF EXISTS LANESCOPE_SUMMARY_OUTLIERS;
CREATE TABLE LANESCOPE_SUMMARY (
    name TEXT NOT NULL, value
);
CREATE TABLE LANESCOPE_SUMMARY_WORKERS (
    worker INTEGER NOT NULL, pid INTEGER NOT NULL, rank INTEGER, processName TEXT,
    gpuId INTEGER NOT NULL, gpuName TEXT, endedAbnormally INTEGER NOT NULL,
    foundSteps INTEGER NOT NULL, warmUpSteps INTEGER NOT NULL, isLastLeftOut INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_SUMMARY_STEPS (
    worker INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT, startNs INTEGER NOT NULL,
    wallNs INTEGER NOT NULL, compute INTEGER NOT NULL, exposed_communication INTEGER NOT NULL,
    exposed_ptop INTEGER NOT NULL, exposed_htod INTEGER NOT NULL, exposed_dtoh INTEGER NOT NULL,
    exposed_dtod INTEGER NOT NULL, exposed_other_copy INTEGER NOT NULL, memset INTEGER NOT NULL,
    data_loading_idle INTEGER NOT NULL, synchronization_idle INTEGER NOT NULL,
    launch_bound_idle INTEGER NOT NULL, other_idle INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_SUMMARY_CONTRIBUTORS (
    worker INTEGER NOT NULL, part TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    path TEXT NOT NULL, count INTEGER NOT NULL, exposedNs INTEGER NOT NULL,
    totalNs INTEGER NOT NULL, bytes INTEGER NOT NULL, busBytes INTEGER NOT NULL,
    firstPlace INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_SUMMARY_OUTLIERS (
    worker INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT, startNs INTEGER NOT NULL,
    wallNs INTEGER NOT NULL, excessNs INTEGER NOT NULL, part TEXT NOT NULL,
    partExcessNs INTEGER NOT NULL, contributor TEXT NOT NULL, path TEXT NOT NULL
);
)sql";

}  // namespace lanescope
