#pragma once

#include <QByteArray>
#include <QFuture>
#include <QHash>
#include <QList>
#include <QObject>
#include <QSocketNotifier>
#include <QString>

#include <cached.h>

#include <memory>

namespace cachedqml {

/// What is known of an image: cached_image with texts of its own, which outlive the next call with the handle.
struct News {
    int state = CACHED_MISSING;
    int httpStatus = 0;
    qint64 received = 0;
    /// -1 while unknown.
    qint64 total = -1;
    quint64 identity = 0;
    QByteArray path, mediaType, kind, message;
};

struct Closer {
    void operator()(cached *handle) const { cached_close(handle); }
};
using Handle = std::unique_ptr<cached, Closer>;

/// All images that one thread wants, over one handle of libcached, in the event loop of that thread.
///
/// QML has a thread for images, so a program with one engine has at most two of these. Not even a wrong use of it
/// waits: no function but open() does.
class Feed final : public QObject {
public:
    /// Gets the news of the images that it added.
    class Listener {
    public:
        virtual void hear(const News &) = 0;

    protected:
        ~Listener() = default;
    };

    /// The feed of the calling thread. The last holder closes it.
    static std::shared_ptr<Feed> ofThread();
    ~Feed() override;

    /// Wants an image for a listener, and returns what the directory says of it, without waiting.
    News add(const QByteArray &url, Listener *, const QList<QByteArray> &headers = {});
    /// Wants it no longer for this listener. Nothing happens if the listener did not add it.
    void drop(const QByteArray &url, Listener *);
    /// As drop(), but the daemon still learns that a cached image is used, so that it asks the origin about a stale one.
    void settle(const QByteArray &url, Listener *);
    /// A descriptor of a cached image, or a negative errno. Waits up to five seconds for the daemon if the directory of
    /// the cache is hidden from this program.
    int open(const QByteArray &url);

private:
    struct Wanted {
        QList<Listener *> listeners;
        /// Whether the daemon still has to answer, although nobody listens.
        bool isChecked = false;
    };

    Feed();
    void read();
    void forget(QHash<QByteArray, Wanted>::iterator);

    Handle cache;
    std::unique_ptr<QSocketNotifier> notifier;
    QHash<QByteArray, Wanted> wanted;
};

/// Asks the origin again, although the daemon remembers a failure, in a thread that waits a second at most. What comes of
/// it later is news for those who want the image; then this has no result.
QFuture<News> retry(const QByteArray &url, const QList<QByteArray> &headers);

/// `url#as=ACCOUNT&side=N`, as docs/lookup/file-names.md spells it: with neither, the URL as it is.
QByteArray variantOf(const QByteArray &url, const QString &account, int side);
/// The smallest side that images are made for and that is at least so many pixels; 0 if there is none.
int sideFor(int pixels);

} // namespace cachedqml
