// The digests the cache needs, the HMAC of signed URLs and the signatures of a store, from OpenSSL's libcrypto.
//
// libcrypto is opened at the first digest, not at the program's start: loading it costs a process
// 0.5 to 1.3 ms, which `cachectl status` would pay without ever hashing anything.
#ifndef CCRYPTO_H
#define CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/// A SHA-256 being computed; one owner at a time.
typedef struct ccrypto_digest ccrypto_digest;

/// SHA-1 of `prefix` followed by `bytes`, computed in a context the calling thread keeps and reuses.
/// Returns 1, or 0 when libcrypto cannot be had; `ccrypto_failure` then says why.
int ccrypto_sha1(
    const void *_Nonnull prefix, size_t prefix_count, const void *_Nullable bytes, size_t count,
    uint8_t out[_Nonnull 20]);

/// A new SHA-256 computation (32 bytes), or NULL when libcrypto cannot be had; `ccrypto_failure`
/// then says why. EVP_MD_fetch(3), EVP_MD_CTX_new(3).
ccrypto_digest *_Nullable ccrypto_sha256(void);

/// Adds bytes. Returns 1, or 0 on a failure inside libcrypto. EVP_DigestUpdate(3).
int ccrypto_update(
    ccrypto_digest *_Nonnull digest, const void *_Nullable bytes, size_t count);

/// Writes the digest and starts over for the next one. Returns 1, or 0 on a failure.
/// EVP_DigestFinal_ex(3), EVP_DigestInit_ex2(3).
int ccrypto_finish(ccrypto_digest *_Nonnull digest, uint8_t *_Nonnull out);

/// Frees it. EVP_MD_CTX_free(3).
void ccrypto_free(ccrypto_digest *_Nullable digest);

/// The HMAC of bytes with SHA-256 (RFC 2104). Returns 1, or 0 when libcrypto cannot be had or fails. HMAC(3).
int ccrypto_hmac_sha256(
    const void *_Nonnull key, size_t key_count, const void *_Nonnull bytes, size_t count,
    uint8_t out[_Nonnull 32]);

/// The public key of an Ed25519 key (RFC 8032). Returns 1, or 0 when libcrypto cannot be had or fails.
/// EVP_PKEY_new_raw_private_key(3), EVP_PKEY_get_raw_public_key(3).
int ccrypto_ed25519_public(const uint8_t seed[_Nonnull 32], uint8_t out[_Nonnull 32]);

/// The Ed25519 signature of bytes. Returns 1, or 0 when libcrypto cannot be had or fails. EVP_DigestSign(3).
int ccrypto_ed25519_sign(
    const uint8_t seed[_Nonnull 32], const void *_Nonnull bytes, size_t count,
    uint8_t out[_Nonnull 64]);

/// Whether that is the signature of the bytes. Returns 1 if so, and 0 otherwise. EVP_DigestVerify(3).
int ccrypto_ed25519_verify(
    const uint8_t public_key[_Nonnull 32], const void *_Nonnull bytes, size_t count,
    const uint8_t signature[_Nonnull 64]);

/// Opens libcrypto unless that has been tried. Returns 1, or 0 when it cannot be had; `ccrypto_failure`
/// then says why. dlopen(3).
int ccrypto_load(void);

/// Why libcrypto could not be loaded; never NULL.
const char *_Nonnull ccrypto_failure(void);

#endif
