// libcurl, with a typed function for each shape of its variadic ones, which Swift can't call.
#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

typedef int (*ccurl_seek)(void *owner, curl_off_t offset, int origin);

static inline CURLcode ccurl_set_seek(CURL *easy, ccurl_seek callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

typedef size_t (*ccurl_data)(char *bytes, size_t size, size_t count, void *owner);

static inline CURLcode ccurl_set_data(CURL *easy, CURLoption option, ccurl_data callback) {
    return curl_easy_setopt(easy, option, callback);
}

typedef curl_socket_t (*ccurl_open_socket)(
    void *owner, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode ccurl_set_open_socket(CURL *easy, ccurl_open_socket callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

typedef int (*ccurl_close_socket)(void *owner, curl_socket_t socket);

static inline CURLcode ccurl_set_close_socket(CURL *easy, ccurl_close_socket callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

typedef int (*ccurl_before_request)(
    void *owner, char *address, char *local_address, int port, int local_port);

static inline CURLcode ccurl_set_before_request(CURL *easy, ccurl_before_request callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// A macro that Swift does not see.
static const curl_socket_t ccurl_socket_timeout = CURL_SOCKET_TIMEOUT;

typedef int (*ccurl_socket_changed)(
    CURL *easy, curl_socket_t socket, int what, void *owner, void *socket_owner);

static inline CURLMcode ccurl_multi_set_socket_changed(
    CURLM *multi, ccurl_socket_changed callback, void *owner) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, owner);
    if (code != CURLM_OK) return code;
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

// Checks every transfer. Deprecated because of that cost, but no other function both does it and reports sockets.
static inline CURLMcode ccurl_multi_check_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}

static inline CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_list(CURL *easy, CURLINFO info, struct curl_slist **list) {
    return curl_easy_getinfo(easy, info, list);
}

/// Whether both ends of the connection agreed on HTTP/2 (RFC 7301), whatever else the origin says. Where libcurl
/// has its TLS from elsewhere than OpenSSL, never. CURLINFO_TLS_SSL_PTR(3), SSL_get0_alpn_selected(3).
static inline int ccurl_agreed_on_http2(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
    if (session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return 0;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    SSL_get0_alpn_selected((const SSL *)session->internals, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

/// Refuses a certificate that names its host only in the subject's common name, which libcurl accepts and browsers do not
/// (RFC 9525 §2). SSL_CTX_set_verify(3).
static inline int ccurl_verified(int is_valid, X509_STORE_CTX *context) {
    if (!is_valid || X509_STORE_CTX_get_error_depth(context) > 0) return is_valid;
    X509 *certificate = X509_STORE_CTX_get_current_cert(context);
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int has_host = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        if (type == GEN_DNS || type == GEN_IPADD) has_host = 1;
    }
    GENERAL_NAMES_free(names);
    if (!has_host) X509_STORE_CTX_set_error(context, X509_V_ERR_HOSTNAME_MISMATCH);
    return has_host;
}

/// Permits no renegotiation with a server that cannot do it securely (RFC 5746). SSL_CTX_set_info_callback(3).
static inline void ccurl_tls_changed(const SSL *tls, int where, int value) {
    (void)value;
    if ((where & SSL_CB_HANDSHAKE_DONE) && !SSL_get_secure_renegotiation_support((SSL *)tls))
        SSL_set_options((SSL *)tls, SSL_OP_NO_RENEGOTIATION);
}

static inline CURLcode ccurl_prepare_tls(CURL *easy, void *tls, void *owner) {
    (void)easy, (void)owner;
    SSL_CTX_set_options(tls, SSL_OP_LEGACY_SERVER_CONNECT);
    SSL_CTX_set_info_callback(tls, ccurl_tls_changed);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, ccurl_verified);
    return SSL_CTX_set_cipher_list(tls, "DEFAULT:!DHE") ? CURLE_OK : CURLE_SSL_CIPHER;
}

/// Has TLS accept what browsers accept. They connect to servers without secure renegotiation, and offer no DHE, of which
/// some servers would choose a weak one. If libcurl has its TLS from elsewhere than OpenSSL, nothing changes.
/// CURLOPT_SSL_CTX_FUNCTION(3).
static inline void ccurl_set_tls(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, ccurl_prepare_tls);
}

/// The result inside a "transfer done" message, which is a union.
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
    return message->data.result;
}

#endif
