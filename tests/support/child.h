// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>

namespace lanescope {

/// Returns the first child of a type at any depth, by its object name if given. It exists.
template <class T>
T& child(const QObject& parent, const QString& name = {}) {
    T* const found = name.isEmpty() ? parent.findChild<T*>() : parent.findChild<T*>(name);
    if (!found) qFatal("no %s \"%s\"", T::staticMetaObject.className(), qPrintable(name));
    return *found;
}

}  // namespace lanescope
