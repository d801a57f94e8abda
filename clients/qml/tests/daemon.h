#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cached.h>
#include <csignal>

/// A daemon of this build with a directory of its own, which the environment of this process names too.
class Daemon {
public:
    Daemon() {
        QVERIFY2(place.isValid(), "there is no room for a cache");
        qputenv("CACHED_DIRECTORY", directory().toUtf8());
        qputenv("CACHED_SOCKET", place.filePath("cached.sock").toUtf8());
        qputenv("CACHED_START", "no");
        qputenv("MEMORY_PRESSURE_WATCH", "/dev/null");
        start();
    }
    ~Daemon() { kill(SIGTERM); }

    void start() {
        // The daemon refuses settings that it does not know, such as those of tests.
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const QString &name : environment.keys())
            if (name.startsWith("CACHED_TEST")) environment.remove(name);
        process.setProcessEnvironment(environment);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.setStandardOutputFile(place.filePath("log"), QIODevice::Append);
        process.start(qEnvironmentVariable("CACHED_TEST_PROGRAMS") + "/cached",
                      {"--allow-network", "127.0.0.0/8", "--socket", qEnvironmentVariable("CACHED_SOCKET")});
        QVERIFY2(process.waitForStarted(), qPrintable(process.errorString()));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(qEnvironmentVariable("CACHED_SOCKET")), 10000);
    }

    void kill(int signal) {
        if (process.state() == QProcess::NotRunning) return;
        ::kill(pid_t(process.processId()), signal);
        QVERIFY(process.waitForFinished(20000));
        QFile::remove(qEnvironmentVariable("CACHED_SOCKET"));
    }
    /// Stops it for a while, or lets it go on: it hangs.
    void signal(int signal) { ::kill(pid_t(process.processId()), signal); }

    /// Runs a command of cachectl to its end, while this process goes on.
    void run(const QStringList &words) {
        QProcess command;
        command.setProcessEnvironment(process.processEnvironment());
        command.start(qEnvironmentVariable("CACHED_TEST_PROGRAMS") + "/cachectl", words);
        QTRY_COMPARE(command.state(), QProcess::NotRunning);
        QCOMPARE(command.exitCode(), 0);
    }

    QString directory() const { return place.filePath("cache"); }
    bool has(const QString &url) const {
        char name[37];
        cached_name(url.toUtf8().constData(), name);
        return QFile::exists(directory() + '/' + name);
    }

private:
    QTemporaryDir place;
    QProcess process;
};
