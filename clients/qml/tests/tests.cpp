// The library in a Qt Quick program, against a daemon of this build and an origin on loopback.
#include "daemon.h"
#include "origin.h"

#include "cachedqml.h"

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QQmlComponent>
#include <QQmlContext>
#include <QQmlEngine>
#include <QQuickItem>
#include <QQuickWindow>
#include <QSignalSpy>

/// A window with one component of QML in it.
class Scene {
public:
    enum { Null, Ready, Loading, Error };

    explicit Scene(const QByteArray &body, const QVariantMap &values = {}, bool hasFactory = true) {
        if (hasFactory) engine.setNetworkAccessManagerFactory(&factory);
        for (auto value = values.begin(); value != values.end(); ++value)
            engine.rootContext()->setContextProperty(value.key(), value.value());
        QQmlComponent component(&engine);
        component.setData("import QtQuick\n" + body, QUrl());
        root.reset(component.create());
        if (!root) qFatal("%s", qPrintable(component.errorString()));
        if (auto *window = qobject_cast<QQuickWindow *>(root.get())) window->show();
    }
    QVariant get(const char *name) const { return root->property(name); }
    int status() const { return get("status").toInt(); }

    CachedNetworkAccessManagerFactory factory;
    QQmlEngine engine;
    std::unique_ptr<QObject> root;
};

/// An Image that remembers whether it has shown a part of the progress.
static const QByteArray image = R"(
    Image {
        source: url
        property bool hasRing: false
        onProgressChanged: () => { if (progress > 0 && progress < 1) hasRing = true }
    })";

static const QByteArray cachedImage = R"(
    import Cached
    CachedImage { url: address; width: 64; height: 64; property var seen: []; onStatusChanged: seen.push(status) }
)";

class Tests : public QObject {
    Q_OBJECT

    std::unique_ptr<Daemon> daemon;
    std::unique_ptr<Origin> origin;

    QString serve(const char *path, qint64 gate = -1, const QByteArray &body = Origin::picture(300, 200)) {
        origin->answers[path] = {200, "image/png", body, gate};
        return origin->url(path);
    }

private slots:
    void init() {
        daemon = std::make_unique<Daemon>();
        origin = std::make_unique<Origin>();
    }
    void cleanup() {
        daemon.reset();
        origin.reset();
    }

    void anImageComesFromTheCacheWithItsProgress() {
        const QString url = serve("/a.png", 50'000);
        Scene scene(image, {{"url", url}});
        QTRY_VERIFY(scene.get("hasRing").toBool());
        const double progress = scene.get("progress").toDouble();
        QVERIFY2(progress > 0 && progress < 0.5, qPrintable(QString::number(progress)));
        origin->open("/a.png");
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QCOMPARE(scene.get("implicitWidth").toInt(), 300);
        QVERIFY(daemon->has(url));
        QCOMPARE(origin->requests.size(), 1);
        QVERIFY(!origin->requests.first().second.contains("Mozilla"));
    }

    void theSecondStartShowsNoProgressAndNeedsNoOrigin() {
        const QString url = serve("/a.png");
        { Scene scene(image, {{"url", url}}); QTRY_COMPARE(scene.status(), int(Scene::Ready)); }
        origin->close();
        Scene scene(image, {{"url", url}});
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QVERIFY(!scene.get("hasRing").toBool());
    }

    void aCachedImageNeedsNoDaemon() {
        const QString url = serve("/a.png");
        { Scene scene(image, {{"url", url}}); QTRY_COMPARE(scene.status(), int(Scene::Ready)); }
        daemon->kill(SIGKILL);
        Scene scene(image, {{"url", url}});
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QCOMPARE(origin->requests.size(), 1);
    }

    void aFailureOfTheOriginIsAnError() {
        Scene scene(image, {{"url", origin->url("/none.png")}});
        QTest::ignoreMessage(QtWarningMsg, QRegularExpression(".*404.*"));
        QTRY_COMPARE(scene.status(), int(Scene::Error));
        QCOMPARE(origin->requests.size(), 1);
    }

    void anImageThatGoesAwayEndsItsDownload() {
        const QString url = serve("/a.png", 50'000);
        Scene scene("Item { property alias shown: loader.active\n Loader { id: loader; sourceComponent: Component {" + image + "} } }",
                    {{"url", url}});
        QTRY_COMPARE(origin->requests.size(), 1);
        QVERIFY(origin->ended.isEmpty());
        scene.root->setProperty("shown", false);
        QTRY_COMPARE(origin->ended, QList<QByteArray>{"/a.png"});
    }

    void twoImagesOfOneAddressShareADownload() {
        const QString url = serve("/a.png", 50'000);
        Scene first(image, {{"url", url}}), second(image, {{"url", url}});
        QTRY_VERIFY(first.get("hasRing").toBool() && second.get("hasRing").toBool());
        origin->open("/a.png");
        QTRY_VERIFY(first.status() == Scene::Ready && second.status() == Scene::Ready);
        QCOMPARE(origin->requests.size(), 1);
    }

    void anImageOfATypeThatTheDaemonRefusesStillComes() {
        origin->answers["/a.ppm"] = {200, "image/x-portable-pixmap", Origin::picture(20, 20, "PPM"), -1};
        Scene scene(image, {{"url", origin->url("/a.ppm")}});
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QCOMPARE(origin->count("/a.ppm", "Mozilla"), 1);
    }

    void otherRequestsDoNotUseTheCache() {
        origin->answers["/data.png"] = {200, "image/png", Origin::picture(8, 8), -1};
        origin->answers["/Part.qml"] = {200, "text/plain", "import QtQuick\nItem { property int answer: 42 }", -1};
        Scene scene(R"(
            Item {
                property string text
                property alias loaded: loader.item
                Loader { id: loader; source: base + "/Part.qml" }
                FontLoader { source: base + "/font.ttf" }
                Component.onCompleted: {
                    const request = new XMLHttpRequest
                    request.onload = () => text = request.status
                    request.open("GET", base + "/data.png")
                    request.send()
                }
            })", {{"base", origin->url("")}});
        QTest::ignoreMessage(QtWarningMsg, QRegularExpression(".*FontLoader.*"));
        QTest::ignoreMessage(QtWarningMsg, QRegularExpression(".*Unable to load font.*"));
        QTRY_COMPARE(scene.get("text").toString(), QStringLiteral("200"));
        QTRY_VERIFY(scene.get("loaded").value<QObject *>());
        QTRY_COMPARE(origin->count("/font.ttf"), 1);
        for (const auto &[path, agent] : origin->requests) QVERIFY2(agent.contains("Mozilla"), path);
        QVERIFY(!daemon->has(origin->url("/data.png")));
    }

    void anAnimationComesFromTheCache() {
        const QString url = serve("/a.webp");
        Scene scene("AnimatedImage { source: url }", {{"url", url}});
        QTRY_VERIFY(daemon->has(url));
        QCOMPARE(origin->count("/a.webp", "Mozilla"), 0);
    }

    void withoutADaemonImagesComeAsUsual() {
        daemon->kill(SIGKILL);
        const QString url = serve("/a.png");
        Scene scene(image, {{"url", url}});
        QTRY_COMPARE_WITH_TIMEOUT(scene.status(), int(Scene::Ready), 20'000);
        QCOMPARE(origin->count("/a.png", "Mozilla"), 1);
    }

    void sourceSizeAsksForASmallerImage() {
        const QString url = serve("/a.png", 500'000, Origin::picture(1000, 500));
        Scene scene("Window { width: 200; height: 200; property alias status: inner.status; property alias progress: inner.progress\n"
                    "Image { id: inner; source: url; sourceSize: Qt.size(100, 100); fillMode: Image.PreserveAspectFit } }", {{"url", url}});
        // The progress is that of the original.
        QTRY_VERIFY(scene.get("progress").toDouble() > 0.1 && scene.get("progress").toDouble() < 0.9);
        origin->open("/a.png");
        QTRY_COMPARE_WITH_TIMEOUT(scene.status(), int(Scene::Ready), 20'000);
        QVERIFY(daemon->has(url + "#side=128"));
    }

    void anImageWithoutSourceSizeIsWhole() {
        const QString url = serve("/a.png", -1, Origin::picture(1000, 500));
        Scene scene("Window { property alias status: inner.status; property alias wide: inner.implicitWidth\n"
                    "Image { id: inner; source: url } }", {{"url", url}});
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QCOMPARE(scene.get("wide").toInt(), 1000);
    }

    void aKilledDaemonLosesNoImage() {
        const QString url = serve("/a.png", 50'000);
        Scene scene(image, {{"url", url}});
        QTRY_VERIFY(scene.get("hasRing").toBool());
        daemon->kill(SIGKILL);
        origin->open("/a.png");
        daemon->start();
        QTRY_COMPARE_WITH_TIMEOUT(scene.status(), int(Scene::Ready), 20'000);
        QVERIFY(daemon->has(url));
    }

    /// Also while the daemon hangs, and while it is gone.
    void objectsCanGoInEveryState() {
        const QByteArray both = "import Cached\nWindow { width: 10; height: 10\n"
                                "Image { source: url; sourceSize.width: 20 } CachedImage { url: address } }";
        QVariantMap values{{"url", serve("/a.png", 50'000)}, {"address", serve("/b.png", 50'000)}};
        for (const int signal : {0, SIGSTOP, SIGCONT, SIGKILL}) {
            if (signal == SIGKILL) daemon->kill(signal);
            else if (signal) daemon->signal(signal);
            for (int turns = 0; turns < 12; turns++) {
                Scene scene(both, values);
                for (int turn = 0; turn < turns * 3; turn++) QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
            }
        }
        // The cache is as good as before.
        daemon->start();
        origin->open("/a.png");
        Scene scene(image, {{"url", values["url"]}});
        QTRY_COMPARE_WITH_TIMEOUT(scene.status(), int(Scene::Ready), 20'000);
    }

    void addressesThatAreNoneAreErrors() {
        const QString longest = origin->url("/" + QString(9000, u'a'));
        for (const QString &url : {QStringLiteral("http://"), QStringLiteral("https:///a.png"), QStringLiteral("http://127.0.0.1:1/a.png"),
                                   longest, origin->url("/a.png#side=7")}) {
            Scene scene(image, {{"url", url}});
            QTRY_VERIFY2_WITH_TIMEOUT(scene.status() == Scene::Error, qPrintable(url.left(60)), 20'000);
            Scene other("import Cached\nCachedImage { url: address }", {{"address", url}});
            QTRY_VERIFY2_WITH_TIMEOUT(other.status() == 4, qPrintable(url.left(60)), 20'000);
            QVERIFY(!other.get("error").toString().isEmpty());
        }
    }

    // MARK: CachedImage

    void aCachedImageHasStates() {
        const QString url = serve("/a.png", 50'000);
        Scene scene(cachedImage, {{"address", url}}, false);
        QTRY_COMPARE(scene.status(), 2);
        QTRY_VERIFY(scene.get("progress").toDouble() > 0 && scene.get("progress").toDouble() < 0.5);
        QVERIFY(!scene.get("isReady").toBool());
        origin->open("/a.png");
        QTRY_VERIFY(scene.get("isReady").toBool());
        QCOMPARE(scene.status(), 3);
        QCOMPARE(scene.get("progress").toDouble(), 1.0);
        // The second has its picture from its first moment on.
        Scene again(cachedImage, {{"address", url}}, false);
        QCOMPARE(again.status(), 3);
    }

    void aFailureHasAReasonAndCanBeRetried() {
        const QString url = origin->url("/later.png");
        Scene scene(cachedImage, {{"address", url}}, false);
        QTRY_COMPARE(scene.status(), 4);
        QCOMPARE(scene.get("errorKind").toString(), QStringLiteral("http"));
        QVERIFY2(scene.get("error").toString().contains("404"), qPrintable(scene.get("error").toString()));
        serve("/later.png");
        QMetaObject::invokeMethod(scene.root.get(), "retry");
        QTRY_VERIFY(scene.get("isReady").toBool());
        QVERIFY(scene.get("error").toString().isEmpty());
    }

    void anAccountHasImagesOfItsOwn() {
        const QString url = serve("/a.png");
        Scene scene("import Cached\nCachedImage { url: address; account: 'ada@home'; side: 64; headers: ['Authorization: Bearer x'] }",
                    {{"address", url}}, false);
        QTRY_VERIFY_WITH_TIMEOUT(scene.get("isReady").toBool(), 20'000);
        QVERIFY(daemon->has(url + "#as=ada%40home&side=64"));
    }

    void anImageThatChangesIsShownAnew() {
        const QString url = serve("/a.png", -1, Origin::picture(30, 30));
        Scene scene("import Cached\nCachedImage { url: address }", {{"address", url}}, false);
        QTRY_COMPARE(scene.get("implicitWidth").toInt(), 30);
        serve("/a.png", -1, Origin::picture(50, 50));
        daemon->run({"fetch", "--refresh", url});
        QTRY_COMPARE(scene.get("implicitWidth").toInt(), 50);
    }

    void theModuleBringsTheCacheToPlainImages() {
        const QString url = serve("/a.png");
        Scene scene("import Cached\n" + image, {{"url", url}}, false);
        QTRY_COMPARE(scene.status(), int(Scene::Ready));
        QVERIFY(daemon->has(url));
    }

    // MARK: Many

    /// 300 images; those on the screen at the end come, although all others were passed on the way.
    void aGridScrolledToItsEndShowsItsEnd() {
        QStringList urls;
        for (int number = 0; number < 300; number++) urls << serve(qPrintable(QString("/%1.png").arg(number)), -1, Origin::picture(60, 60));
        const QByteArray grid = R"(
            Window {
                width: 700; height: 520
                property int ready: 0
                property int rings: 0
                property alias position: grid.contentY
                property alias end: grid.contentHeight
                GridView {
                    id: grid; anchors.fill: parent; cellWidth: 100; cellHeight: 100; cacheBuffer: 0; model: urls
                    delegate: Image {
                        width: 96; height: 96; source: modelData; sourceSize: Qt.size(96, 96)
                        property bool counts: false
                        onStatusChanged: () => { if (status === Image.Ready) { ready++; counts = true } }
                        onProgressChanged: () => { if (progress > 0 && progress < 1) rings++ }
                        Component.onDestruction: if (counts) ready--
                    }
                }
            })";
        Scene scene(grid, {{"urls", urls}});
        for (double y = 0; y < scene.get("end").toDouble() - 520; y += 200) {
            scene.root->setProperty("position", y);
            QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        }
        scene.root->setProperty("position", scene.get("end").toDouble() - 520);
        // 7 columns; 300 images have 43 rows, and 6 of them are visible.
        QTRY_VERIFY_WITH_TIMEOUT(scene.get("ready").toInt() >= 5 * 7, 20'000);
        Scene again(grid, {{"urls", urls.mid(290)}});
        QTRY_COMPARE(again.get("ready").toInt(), 10);
        QCOMPARE(again.get("rings").toInt(), 0);
    }

    void theExampleFetchesItsImages() {
        const QStringList urls = {serve("/a.png"), serve("/b.png"), origin->url("/none.png")};
        QProcess example;
        example.start(QCoreApplication::applicationDirPath() + "/cached-grid", urls);
        QTRY_COMPARE_WITH_TIMEOUT(origin->requests.size(), 3, 20'000);
        // It shows small images, and its window is there as long as nobody closes it.
        QTRY_VERIFY(daemon->has(urls[0] + "#side=512") && daemon->has(urls[1] + "#side=512"));
        QCOMPARE(example.state(), QProcess::Running);
        example.terminate();
        QVERIFY(example.waitForFinished());
    }

    void aScreenOf4KFills() {
        QStringList urls;
        for (int number = 0; number < 1000; number++) urls << serve(qPrintable(QString("/%1.png").arg(number)), -1, Origin::picture(16, 16));
        Scene scene("Window { width: 3840; height: 2160; property int ready: 0\n"
                    "Flow { anchors.fill: parent; Repeater { model: urls; Image { width: 90; height: 90; source: modelData\n"
                    "onStatusChanged: if (status === Image.Ready) ready++ } } } }", {{"urls", urls}});
        QTRY_COMPARE_WITH_TIMEOUT(scene.get("ready").toInt(), 1000, 60'000);
    }
};

QTEST_MAIN(Tests)
#include "tests.moc"
