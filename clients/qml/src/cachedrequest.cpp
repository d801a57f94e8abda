#include "cachedrequest.h"

#include <QUrlQuery>

#include <unistd.h>

using cachedqml::News;

double CachedRequest::progress() const {
    if (m_status == Cached) return 1;
    if (m_status != InFlight) return 0;
    return m_news.total > 0 ? qMin(1.0, double(m_news.received) / double(m_news.total)) : -1;
}

CachedRequest::CachedRequest(QObject *parent) : QObject(parent) {
    connect(&m_retry, &QFutureWatcherBase::finished, this, [this] {
        if (!m_wanted.isEmpty() && m_retry.future().resultCount()) hear(m_retry.result());
    });
}

void CachedRequest::componentComplete() {
    m_isComplete = true;
    update();
}

QList<QByteArray> CachedRequest::fields() const {
    QList<QByteArray> all;
    for (const QString &header : m_headers) all << header.toUtf8();
    return all;
}

void CachedRequest::update() {
    if (!m_isComplete) return;
    leave();
    if (!m_active || m_url.isEmpty()) return show(Null, {});
    if (m_side > 2048) return want(0);
    want(m_side > 0 ? cachedqml::sideFor(m_side) : 0);
}

void CachedRequest::want(int side) {
    if (!m_feed) m_feed = cachedqml::Feed::ofThread();
    m_wanted = cachedqml::variantOf(m_url.toEncoded(), m_account, side);
    hear(m_feed->add(m_wanted, this, fields()));
}

void CachedRequest::leave() {
    if (m_wanted.isEmpty()) return;
    m_retry.setFuture({});
    m_feed->drop(m_wanted, this);
    m_wanted.clear();
}

void CachedRequest::retry() {
    if (m_status != Failed) return;
    show(Missing, {});
    m_retry.setFuture(cachedqml::retry(m_wanted, fields()));
}

void CachedRequest::hear(const News &news) {
    switch (news.state) {
    case CACHED_IN_FLIGHT: return show(InFlight, news);
    case CACHED_HERE: return show(Cached, news);
    case CACHED_FAILED:
        if (m_side > 0 && news.kind == "underivable") {
            leave();
            return want(0);
        }
        return show(Failed, news);
    default: return show(Missing, news);
    }
}

void CachedRequest::show(Status status, const News &news) {
    QUrl source;
    if (status == Cached) {
        if (!news.path.isEmpty() && ::access(news.path.constData(), R_OK) == 0) {
            source = QUrl::fromLocalFile(QString::fromUtf8(news.path));
            // Another file under the same name is another image to Qt's own cache. Its path ignores this.
            source.setFragment(QString::number(news.identity));
        } else {
            source = QUrl::fromEncoded(m_wanted);
        }
    }
    m_status = status;
    m_news = news;
    if (source != m_source) {
        m_source = source;
        emit sourceChanged();
    }
    emit changed();
}
