#pragma once

#include <QQmlNetworkAccessManagerFactory>
#include <QtGlobal>

#if defined(CACHEDQML_LIBRARY)
#define CACHEDQML_EXPORT Q_DECL_EXPORT
#else
#define CACHEDQML_EXPORT Q_DECL_IMPORT
#endif

/// Lets the images of a QML engine come from the cache of this machine:
///
///     CachedNetworkAccessManagerFactory factory;
///     QQmlApplicationEngine engine;
///     engine.setNetworkAccessManagerFactory(&factory);
///
/// `Image { source: "https://…" }` and all others that Qt Quick loads in its thread for images are answered from the
/// cache, and AnimatedImage if its URL ends as a file of images does. Everything else is an ordinary request, and so is
/// an image that the daemon cannot have: of a type it does not take, at an address it refuses, with credentials in its
/// URL, or without a daemon.
///
/// `import Cached` sets one by itself, unless the engine has another.
class CACHEDQML_EXPORT CachedNetworkAccessManagerFactory : public QQmlNetworkAccessManagerFactory {
public:
    /// Qt calls it in each thread that needs a manager, at the same time too.
    QNetworkAccessManager *create(QObject *parent) override;

    /// Whether `sourceSize` of an Image asks for the smaller image that the cache keeps; true at first. Set it before
    /// the engine loads anything.
    bool usesSourceSize = true;
};
