#pragma once

#include <QFuture>
#include <QUrl>

namespace cachedqml {

/// The side that is large enough for each Image with this source that is on a window now; 0 if one of them shows the
/// whole image, or none is found. The main thread answers, because a request of QML does not tell who made it.
QFuture<int> sideOfSource(const QUrl &);

} // namespace cachedqml
