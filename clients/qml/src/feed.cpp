#include "feed.h"

#include <QPromise>
#include <QThreadPool>
#include <QUrl>

#include <cerrno>

namespace cachedqml {

namespace {

News copy(const cached_image &image) {
    // A QByteArray of nullptr is empty.
    return {image.state,    image.http_status, image.received, image.total, image.identity,
            QByteArray(image.path), QByteArray(image.media_type), QByteArray(image.kind), QByteArray(image.message)};
}

/// A request with pointers into the texts that it was made of.
struct Request {
    cached_request value = CACHED_REQUEST_INIT;
    QList<const char *> fields;

    Request(const QByteArray &url, const QList<QByteArray> &headers, cached_priority priority) {
        value.url = url.constData();
        value.priority = priority;
        if (headers.isEmpty()) return;
        for (const QByteArray &header : headers) fields << header.constData();
        fields << nullptr;
        value.headers = fields.constData();
    }
};

/// How long a daemon may be away, in milliseconds, until an image is loaded without it.
constexpr int patience = 5000;

} // namespace

std::shared_ptr<Feed> Feed::ofThread() {
    static thread_local std::weak_ptr<Feed> current;
    std::shared_ptr<Feed> feed = current.lock();
    // The last holder can let go while the feed calls it.
    if (!feed) current = feed = std::shared_ptr<Feed>(new Feed, [](Feed *last) { last->deleteLater(); });
    return feed;
}

Feed::Feed() : cache(cached_open(nullptr, nullptr)) {
    if (!cache) return; // Memory or descriptors are short: every image fails.
    cached_set_patience(cache.get(), patience);
    notifier = std::make_unique<QSocketNotifier>(cached_fd(cache.get()), QSocketNotifier::Read);
    connect(notifier.get(), &QSocketNotifier::activated, this, &Feed::read);
}

Feed::~Feed() = default;

News Feed::add(const QByteArray &url, Listener *listener, const QList<QByteArray> &headers) {
    News failure;
    failure.state = CACHED_FAILED;
    failure.kind = QByteArrayLiteral("noDaemon");
    failure.message = QByteArrayLiteral("the cache cannot be opened: memory or descriptors are short");
    if (!cache) return failure;
    const bool isNew = !wanted.contains(url);
    Wanted &want = wanted[url];
    want.listeners << listener;
    cached_image image = CACHED_IMAGE_INIT;
    cached_peek(cache.get(), url.constData(), &image);
    News news = copy(image);
    if (!isNew) return news;
    const Request request(url, headers, CACHED_VISIBLE);
    if (const int result = cached_add(cache.get(), &request.value); result < 0) {
        wanted.remove(url);
        if (news.state == CACHED_HERE) return news;
        failure.kind = QByteArrayLiteral("invalidURL");
        failure.message = "the image cannot be asked for: " + QByteArray(strerror(-result));
        return failure;
    }
    return news;
}

void Feed::drop(const QByteArray &url, Listener *listener) {
    const auto place = wanted.find(url);
    if (place == wanted.end() || place->listeners.removeAll(listener) == 0) return;
    if (place->listeners.isEmpty() && !place->isChecked) forget(place);
}

void Feed::settle(const QByteArray &url, Listener *listener) {
    const auto place = wanted.find(url);
    if (place != wanted.end()) place->isChecked = true;
    drop(url, listener);
}

void Feed::forget(QHash<QByteArray, Wanted>::iterator place) {
    const QByteArray url = place.key();
    wanted.erase(place);
    cached_drop(cache.get(), url.constData());
}

int Feed::open(const QByteArray &url) {
    return cache ? cached_open_file(cache.get(), url.constData()) : -EMFILE;
}

void Feed::read() {
    cached_image image = CACHED_IMAGE_INIT;
    while (cached_next(cache.get(), &image) == 1) {
        const QByteArray url(image.url);
        const News news = copy(image);
        const auto place = wanted.find(url);
        if (place == wanted.end()) continue;
        if (news.state != CACHED_MISSING) place->isChecked = false;
        const QList<Listener *> listeners = place->listeners;
        if (listeners.isEmpty() && !place->isChecked) forget(place);
        for (Listener *listener : listeners) {
            // Those before it can have dropped it.
            const auto now = wanted.constFind(url);
            if (now != wanted.constEnd() && now->listeners.contains(listener)) listener->hear(news);
        }
        image = CACHED_IMAGE_INIT;
    }
}

QFuture<News> retry(const QByteArray &url, const QList<QByteArray> &headers) {
    const auto promise = std::make_shared<QPromise<News>>();
    promise->start();
    QThreadPool::globalInstance()->start([promise, url, headers] {
        const Handle cache(cached_open(nullptr, nullptr));
        const Request request(url, headers, CACHED_VISIBLE);
        cached_image image = CACHED_IMAGE_INIT;
        if (cache && cached_refresh(cache.get(), &request.value, 1000, &image) >= 0) promise->addResult(copy(image));
        promise->finish();
    });
    return promise->future();
}

QByteArray variantOf(const QByteArray &url, const QString &account, int side) {
    if (account.isEmpty() && side <= 0) return url;
    QByteArray fragment;
    if (!account.isEmpty()) fragment = "as=" + QUrl::toPercentEncoding(account);
    if (side > 0) fragment += (fragment.isEmpty() ? "side=" : "&side=") + QByteArray::number(side);
    const auto hash = url.indexOf('#');
    return (hash < 0 ? url : url.left(hash)) + '#' + fragment;
}

int sideFor(int pixels) {
    for (int side = 32; side <= 2048; side *= 2)
        if (side >= pixels) return side;
    return 0;
}

} // namespace cachedqml
