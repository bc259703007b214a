/* hash.c - see hash.h. OpenSSL's libcrypto computes SHA-256; HDF5 loads it anyway.
 * SPDX-License-Identifier: MIT */
#include "common/file/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"

enum { BLOCK = 1 << 20 };

/* Multiplying by an odd factor spreads each bit upward; the shift brings high bits down. */
static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

uint64_t cov_fingerprint(uint64_t before, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t h = mix(before, n), x;
    for (; n >= 8; n -= 8, p += 8) {
        x = 0;
        for (int i = 0; i < 8; i++)
            x |= (uint64_t)p[i] << 8 * i;
        h = mix(h, x);
    }
    x = 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return mix(h, x);
}

int cov_fingerprint_file(const char *path, struct cov_progress *progress, uint64_t *out,
                         int64_t *n_bytes, struct cov_err *e)
{
    struct stat st;
    int rc = COV_OK, fd = open(path, O_RDONLY | O_CLOEXEC);
    *out = 0;
    *n_bytes = 0;
    if (fd < 0 || fstat(fd, &st) != 0) {
        rc = cov_fail_errno(e, "%s", path);
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    uint8_t *block = cov_malloc(BLOCK, 1, e);
    if (!block)
        rc = COV_ENOMEM;
    else if (!S_ISREG(st.st_mode))
        rc = cov_fail(e, COV_EINPUT, "%s: not a regular file, which is needed to read it again",
                      path);
    cov_progress_begin(progress, "checking", "bytes", rc ? 0 : (int64_t)st.st_size);
    size_t n = 0;
    for (ssize_t got = 1; !rc && got != 0;) {
        got = read(fd, block + n, BLOCK - n);
        if (got < 0 && errno != EINTR)
            rc = cov_fail_errno(e, "%s: cannot read", path);
        n += got > 0 ? (size_t)got : 0;
        if (n == BLOCK || (got == 0 && n > 0)) {
            *out = cov_fingerprint(*out, block, n);
            *n_bytes += (int64_t)n;
            cov_progress_add(progress, (int64_t)n);
            n = 0;
        }
    }
    if (!rc && *n_bytes != (int64_t)st.st_size)
        rc = cov_fail(e, COV_EIO, "%s: its size changed while it was read", path);
    cov_progress_end(progress);
    free(block);
    (void)close(fd); /* opened for reading */
    return rc;
}

enum { SHA256_BYTES = 32 };

static int sha256(int fd, const char *path, uint64_t n_bytes, EVP_MD_CTX *ctx,
                  unsigned char digest[SHA256_BYTES], struct cov_err *e)
{
    uint8_t *block = cov_malloc(BLOCK, 1, e);
    int rc = block ? COV_OK : COV_ENOMEM;
    bool good = !rc && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
    for (ssize_t n = 1; !rc && good && n != 0;) {
        n = read(fd, block, BLOCK);
        if (n < 0 && errno != EINTR)
            rc = cov_fail_errno(e, "%s: cannot read", path);
        else if (n > 0)
            good = EVP_DigestUpdate(ctx, block, (size_t)n) == 1;
        n_bytes -= n > 0 ? (uint64_t)n : 0;
    }
    free(block);
    if (!rc && good && n_bytes != 0)
        rc = cov_fail(e, COV_EIO, "%s: its size changed while it was read", path);
    if (!rc && (!good || EVP_DigestFinal_ex(ctx, digest, NULL) != 1))
        rc = cov_fail(e, COV_EUNSUPPORTED, "%s: OpenSSL refuses to compute SHA-256", path);
    return rc;
}

int cov_sha256_file(const char *path, char out[COV_SHA256_TEXT], struct cov_err *e)
{
    unsigned char digest[SHA256_BYTES] = {0};
    uint64_t n_bytes;
    int fd, rc = cov_path_open_file(path, &fd, &n_bytes, e);
    if (rc)
        return rc;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    rc = ctx ? sha256(fd, path, n_bytes, ctx, digest, e) : cov_fail(e, COV_ENOMEM, "out of memory");
    EVP_MD_CTX_free(ctx);
    (void)close(fd); /* opened for reading */
    for (size_t i = 0; !rc && i < SHA256_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return rc;
}

const char *cov_sha256_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
