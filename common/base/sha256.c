/* sha256.c - see sha256.h. OpenSSL's libcrypto does the work; HDF5 loads it anyway.
 * SPDX-License-Identifier: MIT */
#include "common/base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"

enum { BLOCK = 1 << 18, BYTES = 32 };

static int hash(FILE *f, const char *path, EVP_MD_CTX *ctx, unsigned char digest[BYTES],
                struct cov_err *e)
{
    uint8_t *block = cov_malloc(BLOCK, 1, e);
    if (!block)
        return COV_ENOMEM;
    bool good = EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1;
    for (size_t n = 1; good && n > 0;) {
        n = fread(block, 1, BLOCK, f);
        good = EVP_DigestUpdate(ctx, block, n) == 1;
    }
    free(block);
    if (ferror(f))
        return cov_fail_errno(e, "%s: cannot read", path);
    if (!good || EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
        return cov_fail(e, COV_EUNSUPPORTED, "%s: OpenSSL refuses to compute SHA-256", path);
    return COV_OK;
}

int cov_sha256_file(const char *path, char out[COV_SHA256_TEXT], struct cov_err *e)
{
    unsigned char digest[BYTES] = {0};
    FILE *f = fopen(path, "re");
    if (!f)
        return cov_fail_errno(e, "%s", path);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int rc = ctx ? hash(f, path, ctx, digest, e) : cov_fail(e, COV_ENOMEM, "out of memory");
    EVP_MD_CTX_free(ctx);
    (void)fclose(f); /* opened for reading */
    for (size_t i = 0; !rc && i < BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return rc;
}

const char *cov_sha256_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}
