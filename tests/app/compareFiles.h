// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArrayList>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "tests/support/runProgram.h"

namespace lanescope {

inline test::Ended compareFiles(const QStringList& arguments) {
    return test::runLanescope(QStringList{"compare"} + arguments);
}

/// Returns the fields of each line; quoted fields may contain commas, but no line breaks.
inline QList<QByteArrayList> csvRows(const QByteArray& csv) {
    QList<QByteArrayList> rows;
    QByteArrayList row = {{}};
    bool isQuoted = false;
    for (const char letter : csv) {
        if (letter == '"') {
            isQuoted = !isQuoted;
        } else if (letter == '\n' && !isQuoted) {
            rows << row;
            row = {{}};
        } else if (letter == ',' && !isQuoted) {
            row << QByteArray();
        } else if (letter != '\r') {
            row.last() += letter;
        }
    }
    return rows;
}

inline QJsonObject jsonOf(const QStringList& arguments) {
    return QJsonDocument::fromJson(compareFiles(arguments + QStringList{"-f", "json"}).out).object();
}

inline QJsonObject candidateOf(const QJsonObject& document, int index = 0) {
    return document["candidates"].toArray()[index].toObject();
}

/// Returns the pair of workers of the answer.
inline QJsonObject criticalPair(const QJsonObject& candidate) {
    return candidate["workers"].toArray()[candidate["critical"].toInt()].toObject();
}

inline qint64 sumIn(const QJsonArray& objects, const QString& key) {
    qint64 sum = 0;
    for (const QJsonValue& object : objects) sum += object.toObject()[key].toInteger();
    return sum;
}

}  // namespace lanescope
