/* What Node.js lacks: locks and extended attributes of files in the cache directory, and descriptors from the daemon.

   open(directory) returns a handle; peek(handle, url) returns the members of an Item, or { kind, message } of a failure.
   receive(url, socket) promises a descriptor of the image's file from the daemon, or a negative errno.
   Node-API version 8: one file works in Node.js 18 and later, and in Electron. */
#define NAPI_VERSION 8
#include <cached.h>
#include <errno.h>
#include <node_api.h>
#include <stdbool.h>
#include <stdlib.h>

static const char *const states[] = {"missing", "inFlight", "cached", "failed"};

/* Throws if a call of Node-API has failed; then the caller returns NULL. */
static bool failed(napi_env env, napi_status status) {
    if (status == napi_ok) return false;
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (!pending) napi_throw_type_error(env, NULL, "cached: the arguments are (directory), (handle, url) or (url, socket)");
    return true;
}

/* The bytes of a text, to be freed; NULL after an exception. */
static char *text(napi_env env, napi_value value) {
    size_t length = 0;
    if (failed(env, napi_get_value_string_utf8(env, value, NULL, 0, &length))) return NULL;
    char *bytes = malloc(length + 1);
    if (bytes == NULL) return napi_throw_error(env, NULL, "cached: there is no memory for a text"), NULL;
    napi_get_value_string_utf8(env, value, bytes, length + 1, &length);
    return bytes;
}

static void finalize(napi_env env, void *handle, void *hint) {
    (void)env, (void)hint;
    cached_close(handle);
}

static napi_value open_cache(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value arguments[1], result = NULL;
    if (failed(env, napi_get_cb_info(env, info, &count, arguments, NULL, NULL))) return NULL;
    char *directory = text(env, arguments[0]);
    if (directory == NULL) return NULL;
    cached *handle = cached_open(directory, NULL);
    free(directory);
    if (handle == NULL) return napi_throw_error(env, NULL, "cached: memory or descriptors are short"), NULL;
    if (failed(env, napi_create_external(env, handle, finalize, NULL, &result))) return cached_close(handle), NULL;
    return result;
}

static void set_text(napi_env env, napi_value object, const char *name, const char *value) {
    napi_value string;
    if (value == NULL || napi_create_string_utf8(env, value, NAPI_AUTO_LENGTH, &string) != napi_ok) return;
    napi_set_named_property(env, object, name, string);
}

static void set_number(napi_env env, napi_value object, const char *name, int64_t value) {
    napi_value number;
    if (value < 0 || napi_create_int64(env, value, &number) != napi_ok) return;
    napi_set_named_property(env, object, name, number);
}

static napi_value peek(napi_env env, napi_callback_info info) {
    size_t count = 2;
    napi_value arguments[2], result = NULL;
    void *handle = NULL;
    if (failed(env, napi_get_cb_info(env, info, &count, arguments, NULL, NULL))) return NULL;
    if (failed(env, napi_get_value_external(env, arguments[0], &handle))) return NULL;
    char *url = text(env, arguments[1]);
    if (url == NULL) return NULL;
    cached_image image = CACHED_IMAGE_INIT;
    const int state = cached_peek(handle, url, &image);
    if (state >= 0 && !failed(env, napi_create_object(env, &result))) {
        set_text(env, result, "kind", image.kind);
        set_text(env, result, "message", image.message);
        set_text(env, result, "url", url);
        set_text(env, result, "state", states[state]);
        set_text(env, result, "path", image.path);
        set_text(env, result, "mediaType", image.media_type);
        set_number(env, result, "width", image.width > 0 ? image.width : -1);
        set_number(env, result, "height", image.height > 0 ? image.height : -1);
        set_number(env, result, "received", state == CACHED_HERE || image.received == 0 ? -1 : image.received);
        set_number(env, result, "total", state == CACHED_HERE ? -1 : image.total);
        set_number(env, result, "size", state == CACHED_HERE ? image.total : -1);
    }
    free(url);
    return result;
}

/* A file that another thread waits for, with a handle of its own. */
typedef struct {
    char *url, *socket;
    int file;
    napi_deferred promise;
    napi_async_work work;
} Receiving;

static void receive_file(napi_env env, void *data) {
    (void)env;
    Receiving *receiving = data;
    /* The directory is one that the program cannot see. */
    cached *handle = cached_open("/nonexistent", receiving->socket);
    receiving->file = handle == NULL ? -EMFILE : cached_open_file(handle, receiving->url);
    cached_close(handle);
}

static void received(napi_env env, napi_status status, void *data) {
    (void)status;
    Receiving *receiving = data;
    napi_value file;
    napi_create_int32(env, receiving->file, &file);
    napi_resolve_deferred(env, receiving->promise, file);
    napi_delete_async_work(env, receiving->work);
    free(receiving->url), free(receiving->socket), free(receiving);
}

static napi_value receive(napi_env env, napi_callback_info info) {
    size_t count = 2;
    napi_value arguments[2], promise = NULL;
    if (failed(env, napi_get_cb_info(env, info, &count, arguments, NULL, NULL))) return NULL;
    Receiving *receiving = calloc(1, sizeof *receiving);
    if (receiving == NULL) return napi_throw_error(env, NULL, "cached: there is no memory"), NULL;
    receiving->url = text(env, arguments[0]);
    if (receiving->url != NULL) receiving->socket = text(env, arguments[1]);
    if (receiving->socket == NULL) return free(receiving->url), free(receiving), NULL;
    napi_create_promise(env, &receiving->promise, &promise);
    napi_create_async_work(env, NULL, arguments[0], receive_file, received, receiving, &receiving->work);
    napi_queue_async_work(env, receiving->work);
    return promise;
}

NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, "open", NAPI_AUTO_LENGTH, open_cache, NULL, &function);
    napi_set_named_property(env, exports, "open", function);
    napi_create_function(env, "peek", NAPI_AUTO_LENGTH, peek, NULL, &function);
    napi_set_named_property(env, exports, "peek", function);
    napi_create_function(env, "receive", NAPI_AUTO_LENGTH, receive, NULL, &function);
    napi_set_named_property(env, exports, "receive", function);
    return exports;
}
