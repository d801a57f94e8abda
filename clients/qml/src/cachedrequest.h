#pragma once

#include "feed.h"

#include <QFutureWatcher>
#include <QObject>
#include <QQmlParserStatus>
#include <QSize>
#include <QStringList>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

/// One image that a program wants, and what is known of it. CachedImage shows it.
class CachedRequest : public QObject, public QQmlParserStatus, private cachedqml::Feed::Listener {
    Q_OBJECT
    Q_INTERFACES(QQmlParserStatus)
    QML_ELEMENT
    /// An absolute URL of http or https. Empty: nothing is wanted.
    Q_PROPERTY(QUrl url MEMBER m_url WRITE setUrl NOTIFY urlChanged)
    /// The name of an account of the program, whose images are its own. Empty: those for everybody.
    Q_PROPERTY(QString account MEMBER m_account WRITE setAccount NOTIFY accountChanged)
    /// `Name: value` each, sent to the origin of an image of an account.
    Q_PROPERTY(QStringList headers MEMBER m_headers WRITE setHeaders NOTIFY headersChanged)
    /// The pixels that the longer side has at most, rounded up to 32, 64 and so on to 2048; 0: the whole image. If no
    /// smaller image can be made, the whole one comes.
    Q_PROPERTY(int side MEMBER m_side WRITE setSide NOTIFY sideChanged)
    /// Whether the image is wanted at all.
    Q_PROPERTY(bool active MEMBER m_active WRITE setActive NOTIFY activeChanged)
    Q_PROPERTY(Status status READ status NOTIFY changed)
    /// From 0 to 1; -1 while the origin has not sent the length.
    Q_PROPERTY(double progress READ progress NOTIFY changed)
    /// Why there is no image: a sentence for people, and a word for programs.
    Q_PROPERTY(QString error READ error NOTIFY changed)
    Q_PROPERTY(QString errorKind READ errorKind NOTIFY changed)
    /// Where an Image finds it: a file, or a URL that the cache answers if its directory is hidden. Empty until then.
    Q_PROPERTY(QUrl source READ source NOTIFY sourceChanged)

public:
    enum Status {
        /// Nothing is wanted.
        Null,
        /// Wanted, and no byte has come.
        Missing,
        InFlight,
        Cached,
        Failed
    };
    Q_ENUM(Status)

    explicit CachedRequest(QObject *parent = nullptr);
    ~CachedRequest() override { leave(); }

    Status status() const { return m_status; }
    double progress() const;
    QString error() const { return QString::fromUtf8(m_news.message); }
    QString errorKind() const { return QString::fromUtf8(m_news.kind); }
    QUrl source() const { return m_source; }
    void setUrl(const QUrl &url) { set(m_url, url, &CachedRequest::urlChanged); }
    void setAccount(const QString &account) { set(m_account, account, &CachedRequest::accountChanged); }
    void setHeaders(const QStringList &headers) { set(m_headers, headers, &CachedRequest::headersChanged); }
    void setSide(int side) { set(m_side, side, &CachedRequest::sideChanged); }
    void setActive(bool active) { set(m_active, active, &CachedRequest::activeChanged); }

    /// After a failure: asks the origin again, although the daemon remembers it.
    Q_INVOKABLE void retry();

signals:
    void urlChanged();
    void accountChanged();
    void headersChanged();
    void sideChanged();
    void activeChanged();
    void changed();
    void sourceChanged();

private:
    void classBegin() override { m_isComplete = false; }
    void componentComplete() override;
    template <typename Value> void set(Value &member, const Value &value, void (CachedRequest::*signal)()) {
        if (member == value) return;
        member = value;
        emit(this->*signal)();
        update();
    }
    QList<QByteArray> fields() const;
    /// Wants what the properties name.
    void update();
    void want(int side);
    void leave();
    void hear(const cachedqml::News &) override;
    void show(Status, const cachedqml::News &);

    QUrl m_url;
    QString m_account;
    QStringList m_headers;
    int m_side = 0;
    bool m_active = true;
    bool m_isComplete = true;
    Status m_status = Null;
    QUrl m_source;
    cachedqml::News m_news;
    QByteArray m_wanted;
    QFutureWatcher<cachedqml::News> m_retry;
    std::shared_ptr<cachedqml::Feed> m_feed;
};
