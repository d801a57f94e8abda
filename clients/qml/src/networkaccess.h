#pragma once

#include "feed.h"

#include <QFile>
#include <QFutureWatcher>
#include <QNetworkAccessManager>
#include <QNetworkReply>

namespace cachedqml {

/// Answers requests for images from the cache, and makes all others as usual.
class Manager final : public QNetworkAccessManager {
public:
    Manager(bool usesSourceSize, QObject *parent);

    /// A request as if there were no cache.
    QNetworkReply *ordinary(const QNetworkRequest &request) {
        return QNetworkAccessManager::createRequest(GetOperation, request, nullptr);
    }

    const std::shared_ptr<Feed> feed;
    /// Whether this is the manager of Qt Quick's thread for images.
    const bool isForImages;
    const bool usesSourceSize;

protected:
    QNetworkReply *createRequest(Operation, const QNetworkRequest &, QIODevice *) override;

private:
    bool isImage(Operation, const QNetworkRequest &) const;
};

/// The answer to a request for an image.
class Reply final : public QNetworkReply, private Feed::Listener {
public:
    Reply(Manager *, const QNetworkRequest &);
    ~Reply() override { leave(); }

    /// Qt Quick closes the reply of an Image that goes away.
    void close() override;
    void abort() override;
    qint64 bytesAvailable() const override;
    bool isSequential() const override { return true; }

protected:
    qint64 readData(char *, qint64) override;

private:
    /// Wants the image, made for this side if it is not 0.
    void start(int side);
    void hear(const News &) override;
    void serve(const News &);
    void fail(const News &);
    /// Goes on without the cache.
    void passThrough();
    void finish();
    void leave();

    Manager *const manager;
    /// The manager can be gone before.
    const std::shared_ptr<Feed> feed;
    const QByteArray original;
    /// What is wanted: the original or a variant of it. Empty if nothing is.
    QByteArray wanted;
    QFutureWatcher<int> side;
    QFile file;
    QNetworkReply *inner = nullptr;
};

} // namespace cachedqml
