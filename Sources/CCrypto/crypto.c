// libcrypto, opened at the first digest. See CCrypto.h.
#include "CCrypto.h"

#include <dlfcn.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdlib.h>

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define LIBRARY "libcrypto.so." STRING(OPENSSL_SHLIB_VERSION)
#define FIND(member, name) \
    ((crypto.member = (__typeof__(crypto.member))dlsym(library, name)) != NULL)

static struct {
    __typeof__(&EVP_MD_fetch) md_fetch;
    __typeof__(&EVP_MD_CTX_new) ctx_new;
    __typeof__(&EVP_MD_CTX_free) ctx_free;
    __typeof__(&EVP_DigestInit_ex2) init;
    __typeof__(&EVP_DigestUpdate) update;
    __typeof__(&EVP_DigestFinal_ex) final;
    __typeof__(&HMAC) hmac;
    __typeof__(&EVP_PKEY_new_raw_private_key) new_private;
    __typeof__(&EVP_PKEY_new_raw_public_key) new_public;
    __typeof__(&EVP_PKEY_get_raw_public_key) get_public;
    __typeof__(&EVP_PKEY_free) key_free;
    __typeof__(&EVP_DigestSignInit) sign_init;
    __typeof__(&EVP_DigestSign) sign;
    __typeof__(&EVP_DigestVerifyInit) verify_init;
    __typeof__(&EVP_DigestVerify) verify;
    EVP_MD *sha1, *sha256;
    const char *failure;
} crypto = {.failure = "libcrypto was not loaded yet"};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Each thread's own SHA-1 context, freed when the thread ends.
static _Thread_local ccrypto_digest *sha1_of_thread;
static pthread_key_t sha1_owner;

static void load(void) {
    pthread_key_create(&sha1_owner, (void (*)(void *))ccrypto_free);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        crypto.failure = dlerror();
        return;
    }
    if (!(FIND(md_fetch, "EVP_MD_fetch") && FIND(ctx_new, "EVP_MD_CTX_new") &&
          FIND(ctx_free, "EVP_MD_CTX_free") && FIND(init, "EVP_DigestInit_ex2") &&
          FIND(update, "EVP_DigestUpdate") && FIND(final, "EVP_DigestFinal_ex") &&
          FIND(hmac, "HMAC") && FIND(new_private, "EVP_PKEY_new_raw_private_key") &&
          FIND(new_public, "EVP_PKEY_new_raw_public_key") &&
          FIND(get_public, "EVP_PKEY_get_raw_public_key") && FIND(key_free, "EVP_PKEY_free") &&
          FIND(sign_init, "EVP_DigestSignInit") && FIND(sign, "EVP_DigestSign") &&
          FIND(verify_init, "EVP_DigestVerifyInit") && FIND(verify, "EVP_DigestVerify"))) {
        crypto.failure = LIBRARY " lacks a function";
        return;
    }
    crypto.sha1 = crypto.md_fetch(NULL, "SHA1", NULL);
    crypto.sha256 = crypto.md_fetch(NULL, "SHA256", NULL);
    if (!crypto.sha1 || !crypto.sha256) crypto.failure = LIBRARY " offers no SHA-1 or no SHA-256";
}

struct ccrypto_digest {
    EVP_MD_CTX *context;
    EVP_MD *algorithm;
};

static ccrypto_digest *start(EVP_MD *algorithm) {
    if (algorithm == NULL) return NULL;
    ccrypto_digest *digest = malloc(sizeof *digest);
    if (digest == NULL) return NULL;
    digest->algorithm = algorithm;
    digest->context = crypto.ctx_new();
    if (digest->context && crypto.init(digest->context, algorithm, NULL) == 1) return digest;
    ccrypto_free(digest);
    return NULL;
}

int ccrypto_sha1(
    const void *prefix, size_t prefix_count, const void *bytes, size_t count, uint8_t out[20]) {
    if (sha1_of_thread == NULL) {
        pthread_once(&once, load);
        sha1_of_thread = start(crypto.sha1);
        if (sha1_of_thread == NULL) return 0;
        pthread_setspecific(sha1_owner, sha1_of_thread);
    }
    return ccrypto_update(sha1_of_thread, prefix, prefix_count) &&
           ccrypto_update(sha1_of_thread, bytes, count) && ccrypto_finish(sha1_of_thread, out);
}

int ccrypto_load(void) {
    pthread_once(&once, load);
    return crypto.sha1 != NULL && crypto.sha256 != NULL;
}

ccrypto_digest *ccrypto_sha256(void) {
    pthread_once(&once, load);
    return start(crypto.sha256);
}

int ccrypto_update(ccrypto_digest *digest, const void *bytes, size_t count) {
    return crypto.update(digest->context, bytes, count);
}

int ccrypto_finish(ccrypto_digest *digest, uint8_t *out) {
    if (crypto.final(digest->context, out, NULL) != 1) return 0;
    return crypto.init(digest->context, NULL, NULL);
}

void ccrypto_free(ccrypto_digest *digest) {
    if (digest == NULL) return;
    if (digest->context) crypto.ctx_free(digest->context);
    free(digest);
}

int ccrypto_hmac_sha256(
    const void *key, size_t key_count, const void *bytes, size_t count, uint8_t out[32]) {
    pthread_once(&once, load);
    if (crypto.sha256 == NULL || key_count > INT_MAX) return 0;
    return crypto.hmac(crypto.sha256, key, (int)key_count, bytes, count, out, NULL) != NULL;
}

int ccrypto_ed25519_public(const uint8_t seed[32], uint8_t out[32]) {
    if (!ccrypto_load()) return 0;
    EVP_PKEY *key = crypto.new_private(EVP_PKEY_ED25519, NULL, seed, 32);
    size_t count = 32;
    int done = key && crypto.get_public(key, out, &count);
    crypto.key_free(key);
    return done;
}

int ccrypto_ed25519_sign(
    const uint8_t seed[32], const void *bytes, size_t count, uint8_t out[64]) {
    if (!ccrypto_load()) return 0;
    EVP_PKEY *key = crypto.new_private(EVP_PKEY_ED25519, NULL, seed, 32);
    EVP_MD_CTX *context = crypto.ctx_new();
    size_t length = 64;
    int done = key && context && crypto.sign_init(context, NULL, NULL, NULL, key) == 1 &&
               crypto.sign(context, out, &length, bytes, count) == 1;
    crypto.ctx_free(context);
    crypto.key_free(key);
    return done;
}

int ccrypto_ed25519_verify(
    const uint8_t public_key[32], const void *bytes, size_t count, const uint8_t signature[64]) {
    if (!ccrypto_load()) return 0;
    EVP_PKEY *key = crypto.new_public(EVP_PKEY_ED25519, NULL, public_key, 32);
    EVP_MD_CTX *context = crypto.ctx_new();
    int done = key && context && crypto.verify_init(context, NULL, NULL, NULL, key) == 1 &&
               crypto.verify(context, signature, 64, bytes, count) == 1;
    crypto.ctx_free(context);
    crypto.key_free(key);
    return done;
}

const char *ccrypto_failure(void) {
    return crypto.failure;
}
