#include "sourcesize.h"

#include "feed.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QPromise>
#include <QQuickItem>
#include <QQuickWindow>

#include <memory>

namespace cachedqml {

namespace {

/// Of QQuickImage::FillMode and QQuickImageBase::Status, which are private. The numbers are those that QML compiles in.
constexpr int preserveAspectCrop = 2;
constexpr int loading = 2;

/// The pixels that the longer side of an image needs; 0 if the whole image is needed.
int pixelsFor(const QQuickItem &image) {
    const QSize size = image.property("sourceSize").toSize();
    const int longer = qMax(size.width(), size.height());
    // The shape is not known yet. If the shorter side counts, an image twice as long as wide still has enough.
    const bool shorterCounts = size.width() <= 0 || size.height() <= 0 || image.property("fillMode").toInt() == preserveAspectCrop;
    return longer <= 0 ? 0 : shorterCounts ? longer * 2 : longer;
}

struct Search {
    QUrl source;
    int pixels = 0;
    bool needsWhole = false;

    void look(const QQuickItem &item) {
        if (item.inherits("QQuickImage") && item.property("status").toInt() == loading &&
            item.property("source").toUrl() == source) {
            const int needed = pixelsFor(item);
            needsWhole = needsWhole || needed == 0;
            pixels = qMax(pixels, needed);
        }
        for (const QQuickItem *child : item.childItems()) look(*child);
    }
};

int search(const QUrl &source) {
    Search search{source};
    for (const QWindow *window : QGuiApplication::topLevelWindows())
        if (const auto *quick = qobject_cast<const QQuickWindow *>(window)) search.look(*quick->contentItem());
    return search.needsWhole || search.pixels == 0 ? 0 : sideFor(search.pixels);
}

} // namespace

QFuture<int> sideOfSource(const QUrl &source) {
    const auto promise = std::make_shared<QPromise<int>>();
    promise->start();
    QObject *const application = QCoreApplication::instance();
    const auto answer = [promise, source](int side) {
        promise->addResult(side);
        promise->finish();
    };
    if (!qobject_cast<QGuiApplication *>(application)) answer(0);
    else QMetaObject::invokeMethod(application, [answer, source] { answer(search(source)); }, Qt::QueuedConnection);
    return promise->future();
}

} // namespace cachedqml
