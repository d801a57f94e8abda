// A grid of images from the cache: cached-grid URL..., or their list in standard input.
#include <cachedqml.h>

#include <QFile>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QTextStream>

int main(int count, char **words) {
    QGuiApplication application(count, words);
    QStringList urls = application.arguments().mid(1);
    if (urls.isEmpty()) {
        QTextStream input(stdin);
        while (!input.atEnd()) urls << input.readLine();
    }
    CachedNetworkAccessManagerFactory factory;
    QQmlApplicationEngine engine;
    engine.setNetworkAccessManagerFactory(&factory);
    engine.setInitialProperties({{QStringLiteral("urls"), urls}});
    engine.load(QUrl(QStringLiteral("qrc:/qt/qml/Grid/Main.qml")));
    return engine.rootObjects().isEmpty() ? 1 : application.exec();
}
