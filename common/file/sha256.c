/* sha256.c - see sha256.h. OpenSSL's libcrypto does the work; HDF5 loads it anyway.
 * SPDX-License-Identifier: MIT */
#include "common/file/sha256.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"

enum { BLOCK = 1 << 18, BYTES = 32 };

static int hash(int fd, const char *path, uint64_t n_bytes, EVP_MD_CTX *ctx,
                unsigned char digest[BYTES], struct cov_err *e)
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
    unsigned char digest[BYTES] = {0};
    uint64_t n_bytes;
    int fd, rc = cov_path_open_file(path, &fd, &n_bytes, e);
    if (rc)
        return rc;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    rc = ctx ? hash(fd, path, n_bytes, ctx, digest, e) : cov_fail(e, COV_ENOMEM, "out of memory");
    EVP_MD_CTX_free(ctx);
    (void)close(fd); /* opened for reading */
    for (size_t i = 0; !rc && i < BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return rc;
}

const char *cov_sha256_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
