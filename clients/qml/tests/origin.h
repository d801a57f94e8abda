#pragma once

#include <QBuffer>
#include <QHash>
#include <QImage>
#include <QPointer>
#include <QRandomGenerator>
#include <QTcpServer>
#include <QTcpSocket>

/// An HTTP server on loopback that can hold back the rest of a body.
class Origin : public QTcpServer {
    Q_OBJECT

public:
    struct Answer {
        int status = 200;
        QByteArray type = "image/png", body;
        /// The bytes that are sent before the gate opens; -1: there is no gate.
        qint64 gate = -1;
    };

    Origin() {
        if (!listen(QHostAddress::LocalHost)) qFatal("the origin cannot listen: %s", qPrintable(errorString()));
        connect(this, &QTcpServer::newConnection, this, [this] {
            while (QTcpSocket *socket = nextPendingConnection()) serve(socket);
        });
    }

    QString url(const QString &path) const { return QStringLiteral("http://127.0.0.1:%1%2").arg(serverPort()).arg(path); }

    /// A picture that does not compress, of some 4 bytes a pixel.
    static QByteArray picture(int width, int height, const char *format = "PNG") {
        QImage image(width, height, QImage::Format_RGB32);
        for (int y = 0; y < height; y++)
            QRandomGenerator::global()->fillRange(reinterpret_cast<quint32 *>(image.scanLine(y)), width);
        QBuffer buffer;
        image.save(&buffer, format);
        return buffer.data();
    }

    void open(const QByteArray &path) {
        answers[path].gate = -1;
        for (const auto &[socket, rest] : held.take(path))
            if (socket) socket->write(rest);
    }

    QHash<QByteArray, Answer> answers;
    /// Each request: its path, and who asked.
    QList<QPair<QByteArray, QByteArray>> requests;
    /// Downloads that their client has ended before the gate opened.
    QList<QByteArray> ended;

    int count(const QByteArray &path, const QByteArray &agent = {}) const {
        return int(std::count_if(requests.begin(), requests.end(), [&](const auto &request) {
            return request.first == path && request.second.contains(agent);
        }));
    }

private:
    void serve(QTcpSocket *socket) {
        connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
            for (auto entry = held.begin(); entry != held.end(); ++entry)
                for (const auto &[other, rest] : entry.value())
                    if (other == socket) ended << entry.key();
        });
        connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
            QByteArray head = socket->property("head").toByteArray() + socket->readAll();
            for (qsizetype end; (end = head.indexOf("\r\n\r\n")) >= 0; head = head.mid(end + 4)) answer(socket, head.left(end));
            socket->setProperty("head", head);
        });
    }

    void answer(QTcpSocket *socket, const QByteArray &head) {
        const QByteArray path = head.split(' ').value(1);
        QByteArray agent;
        for (const QByteArray &line : head.split('\n'))
            if (line.toLower().startsWith("user-agent:")) agent = line.mid(11).trimmed();
        requests << qMakePair(path, agent);
        const Answer answer = answers.value(path, Answer{404, "text/plain", "none", -1});
        socket->write("HTTP/1.1 " + QByteArray::number(answer.status) + " answer\r\nContent-Type: " + answer.type +
                      "\r\nCache-Control: max-age=600\r\nContent-Length: " + QByteArray::number(answer.body.size()) + "\r\n\r\n");
        if (answer.gate < 0) {
            socket->write(answer.body);
        } else {
            socket->write(answer.body.left(answer.gate));
            held[path] << qMakePair(QPointer<QTcpSocket>(socket), answer.body.mid(answer.gate));
        }
    }

    QHash<QByteArray, QList<QPair<QPointer<QTcpSocket>, QByteArray>>> held;
};
