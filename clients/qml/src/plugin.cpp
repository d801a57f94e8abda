#include "cachedqml.h"

#include <QQmlEngine>
#include <QQmlEngineExtensionPlugin>

extern void qml_register_types_Cached();

/// `import Cached`: the types, and the cache for each Image of the engine.
class CachedPlugin : public QQmlEngineExtensionPlugin {
    Q_OBJECT
    Q_PLUGIN_METADATA(IID QQmlEngineExtensionInterface_iid)

public:
    explicit CachedPlugin(QObject *parent = nullptr) : QQmlEngineExtensionPlugin(parent) {
        // The linker keeps a library whose types are registered by its own initialisation only if it is named.
        volatile auto registration = &qml_register_types_Cached;
        Q_UNUSED(registration)
    }

    void initializeEngine(QQmlEngine *engine, const char *) override {
        // It has no state of its own, so one serves every engine, and none outlives it.
        static CachedNetworkAccessManagerFactory factory;
        if (!engine->networkAccessManagerFactory()) engine->setNetworkAccessManagerFactory(&factory);
    }
};

#include "plugin.moc"
