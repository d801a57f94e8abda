#include "networkaccess.h"

#include "cachedqml.h"
#include "sourcesize.h"

#include <QCoreApplication>
#include <QPromise>
#include <QThread>

#include <fcntl.h>

QNetworkAccessManager *CachedNetworkAccessManagerFactory::create(QObject *parent) {
    return new cachedqml::Manager(usesSourceSize, parent);
}

namespace cachedqml {

namespace {

bool isMainThread() {
    return QCoreApplication::instance() && QThread::currentThread() == QCoreApplication::instance()->thread();
}

/// A failure of the cache, not of the image: without the cache, the image can come all the same.
bool isOfTheCache(const QByteArray &kind) {
    static const QList<QByteArray> kinds = {
        "noDaemon",   "notPermitted", "addressRefused", "notAnImage",   "notAccepted", "invalidURL",
        "storage",    "noRoom",       "obstructed",     "tooManyFiles", "damaged",     "shuttingDown",
    };
    return kinds.contains(kind);
}

QNetworkReply::NetworkError errorOf(const News &news) {
    switch (news.httpStatus) {
    case 0: break;
    case 401: return QNetworkReply::AuthenticationRequiredError;
    case 403: return QNetworkReply::ContentAccessDenied;
    case 404: return QNetworkReply::ContentNotFoundError;
    case 410: return QNetworkReply::ContentGoneError;
    case 503: return QNetworkReply::ServiceUnavailableError;
    default: return news.httpStatus >= 500 ? QNetworkReply::InternalServerError : QNetworkReply::UnknownContentError;
    }
    if (news.kind == "unresolved") return QNetworkReply::HostNotFoundError;
    if (news.kind == "unreachable") return QNetworkReply::ConnectionRefusedError;
    if (news.kind == "timeout" || news.kind == "deadline") return QNetworkReply::TimeoutError;
    if (news.kind == "truncated") return QNetworkReply::RemoteHostClosedError;
    if (news.kind == "tls") return QNetworkReply::SslHandshakeFailedError;
    if (news.kind == "redirect") return QNetworkReply::TooManyRedirectsError;
    return QNetworkReply::UnknownContentError;
}

} // namespace

// MARK: Manager

Manager::Manager(bool usesSourceSize, QObject *parent)
    : QNetworkAccessManager(parent), feed(Feed::ofThread()),
      isForImages(QByteArray(thread()->metaObject()->className()).startsWith("QQuickPixmap")),
      usesSourceSize(usesSourceSize) {}

QNetworkReply *Manager::createRequest(Operation operation, const QNetworkRequest &request, QIODevice *data) {
    if (isImage(operation, request)) return new Reply(this, request);
    return QNetworkAccessManager::createRequest(operation, request, data);
}

bool Manager::isImage(Operation operation, const QNetworkRequest &request) const {
    const QUrl url = request.url();
    if (operation != GetOperation || (url.scheme() != u"http" && url.scheme() != u"https")) return false;
    if (!url.userInfo().isEmpty() || !request.rawHeaderList().isEmpty()) return false;
    if (isForImages) return true;
    // AnimatedImage asks in the main thread, as do fonts and XMLHttpRequest; the attribute is not that of the latter.
    if (!request.attribute(QNetworkRequest::HttpPipeliningAllowedAttribute).toBool()) return false;
    static const QStringList types = {"gif", "webp", "png", "apng", "jpg", "jpeg", "avif", "heic", "jxl"};
    const QString name = url.fileName();
    return types.contains(name.mid(name.lastIndexOf(u'.') + 1).toLower());
}

// MARK: Reply

Reply::Reply(Manager *manager, const QNetworkRequest &request)
    : QNetworkReply(manager), manager(manager), feed(manager->feed), original(request.url().toEncoded()) {
    setRequest(request);
    setUrl(request.url());
    setOperation(QNetworkAccessManager::GetOperation);
    QNetworkReply::open(ReadOnly | Unbuffered);
    connect(&side, &QFutureWatcherBase::finished, this, [this] {
        if (isOpen() && !isFinished()) start(side.future().resultCount() ? side.result() : 0);
    });
    if (manager->isForImages && manager->usesSourceSize && !request.url().hasFragment()) {
        side.setFuture(sideOfSource(request.url()));
    } else {
        // Nothing may be emitted before the caller has connected.
        QMetaObject::invokeMethod(this, [this] { if (isOpen() && !isFinished()) start(0); }, Qt::QueuedConnection);
    }
}

void Reply::start(int side) {
    wanted = variantOf(original, {}, side);
    const News news = feed->add(wanted, this);
    // What the daemon says of a missing image follows.
    if (news.state != CACHED_MISSING) hear(news);
}

void Reply::hear(const News &news) {
    switch (news.state) {
    case CACHED_IN_FLIGHT: emit downloadProgress(news.received, news.total); break;
    case CACHED_HERE: serve(news); break;
    case CACHED_FAILED: {
        const bool hasOriginal = wanted != original && news.kind == "underivable";
        leave();
        if (hasOriginal) start(0);
        else if (isOfTheCache(news.kind)) passThrough();
        else fail(news);
        break;
    }
    default: break;
    }
}

void Reply::serve(const News &news) {
    // The main thread must not wait for a daemon to hand the file over.
    const int descriptor =
        isMainThread() ? ::open(news.path.constData(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : feed->open(wanted);
    feed->settle(wanted, this);
    wanted.clear();
    if (descriptor < 0 || !file.open(descriptor, ReadOnly | Unbuffered, QFileDevice::AutoCloseHandle)) return passThrough();
    const qint64 size = file.size();
    setHeader(QNetworkRequest::ContentLengthHeader, size);
    setHeader(QNetworkRequest::ContentTypeHeader, QString::fromUtf8(news.mediaType));
    setAttribute(QNetworkRequest::HttpStatusCodeAttribute, 200);
    setAttribute(QNetworkRequest::SourceIsFromCacheAttribute, true);
    emit metaDataChanged();
    emit downloadProgress(size, size);
    emit readyRead();
    finish();
}

void Reply::fail(const News &news) {
    if (news.httpStatus) setAttribute(QNetworkRequest::HttpStatusCodeAttribute, news.httpStatus);
    const NetworkError error = errorOf(news);
    setError(error, QString::fromUtf8(news.message));
    emit errorOccurred(error);
    finish();
}

void Reply::passThrough() {
    inner = manager->ordinary(request());
    inner->setParent(this);
    const auto takeHead = [this] {
        setUrl(inner->url());
        for (const auto &[name, value] : inner->rawHeaderPairs()) setRawHeader(name, value);
        for (const auto attribute : {QNetworkRequest::HttpStatusCodeAttribute, QNetworkRequest::RedirectionTargetAttribute})
            setAttribute(attribute, inner->attribute(attribute));
    };
    connect(inner, &QNetworkReply::metaDataChanged, this, [this, takeHead] {
        takeHead();
        emit metaDataChanged();
    });
    connect(inner, &QNetworkReply::downloadProgress, this, &QNetworkReply::downloadProgress);
    connect(inner, &QIODevice::readyRead, this, &QIODevice::readyRead);
    connect(inner, &QNetworkReply::finished, this, [this, takeHead] {
        takeHead();
        if (inner->error() != NoError) {
            setError(inner->error(), inner->errorString());
            emit errorOccurred(inner->error());
        }
        finish();
    });
}

void Reply::finish() {
    if (isFinished()) return;
    setFinished(true);
    emit finished();
}

void Reply::leave() {
    if (wanted.isEmpty()) return;
    feed->drop(wanted, this);
    wanted.clear();
}

void Reply::close() {
    leave();
    if (inner) inner->close();
    QNetworkReply::close();
}

void Reply::abort() {
    leave();
    if (isFinished()) return;
    if (inner) return inner->abort(); // It ends with the error, and so does this.
    setError(OperationCanceledError, QStringLiteral("the request was aborted"));
    emit errorOccurred(OperationCanceledError);
    finish();
}

qint64 Reply::bytesAvailable() const {
    if (inner) return inner->bytesAvailable();
    return file.isOpen() ? file.size() - file.pos() : 0;
}

qint64 Reply::readData(char *data, qint64 longest) {
    if (inner) return inner->read(data, longest);
    return file.isOpen() ? file.read(data, longest) : -1;
}

} // namespace cachedqml
