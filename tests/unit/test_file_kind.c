/* test_file_kind.c - the kind of a file is known from its first bytes.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <sys/stat.h>
#include <zlib.h>

#include "common/base/err.h"
#include "common/file/peek_kind.h"

#define ZIP_HEAD "PK\3\4..........................."

#define SIXTEEN "xxxxxxxxxxxxxxxx"
#define SIXTY_FOUR SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define TAR_HEAD SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "x" /* 257 bytes */

struct sample {
    const char *bytes;
    size_t n;
    enum cov_kind kind;
};
#define SAMPLE(bytes, kind)                                                                        \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, kind                                                             \
    }
static const struct sample samples[] = {
    SAMPLE("BAM\1\0\0\0\0", COV_KIND_BAM),
    SAMPLE("CRAM\3\0", COV_KIND_CRAM),
    SAMPLE("@HD\tVN:1.6\n", COV_KIND_SAM),
    SAMPLE("@SQ\tSN:a\tLN:1\n", COV_KIND_SAM),
    SAMPLE(">a\nACGT\n", COV_KIND_FASTA),
    SAMPLE("\x89HDF\r\n\x1a\n\0\0", COV_KIND_HDF5),
    SAMPLE("\x26\xfc\x8f\x88\4\0", COV_KIND_BIGWIG),
    SAMPLE("\x88\x8f\xfc\x26\0\4", COV_KIND_BIGWIG),
    SAMPLE("\xeb\xf2\x89\x87\4\0", COV_KIND_BIGBED),
    SAMPLE("\x87\x89\xf2\xeb\0\4", COV_KIND_BIGBED),
    SAMPLE("COVSTRM\n\1", COV_KIND_STREAM),
    SAMPLE(ZIP_HEAD "archive/data.pkl.", COV_KIND_CKPT),
    SAMPLE(ZIP_HEAD "archive/data.txt.", COV_KIND_ZIP),
    SAMPLE("PK\3\4", COV_KIND_ZIP),
    SAMPLE("<!DOCTYPE html>\n<html>", COV_KIND_HTML),
    SAMPLE("\r\n <HTML lang=\"en\">", COV_KIND_HTML),
    SAMPLE("<htm", COV_KIND_UNKNOWN),
    SAMPLE("version https://git-lfs.github.com/spec/v1\noid", COV_KIND_LFS),
    SAMPLE("@r1 x\nACGTN\n+\nIIIII\n", COV_KIND_FASTQ),
    SAMPLE("@r1\r\nACGT\r\n", COV_KIND_FASTQ),
    SAMPLE("@CO\tACGT", COV_KIND_UNKNOWN),
    SAMPLE("@r1\nnot bases\n", COV_KIND_UNKNOWN),
    SAMPLE("chr1\t10\t20\n", COV_KIND_BED),
    SAMPLE("# x\ntrack name=x\n\nchr1\t10\t20\tp\t5\t-\n", COV_KIND_BED),
    SAMPLE("chr1\t10\t20\tp\t5\t.\t1.5\t2\t-1\t3\r\n", COV_KIND_NARROWPEAK),
    SAMPLE("chr1\t10\t20\t5\n", COV_KIND_UNKNOWN),       /* bedGraph */
    SAMPLE("chr1\t10\t20\t5\t \r\n", COV_KIND_UNKNOWN),  /* bedGraph */
    SAMPLE("chr1\t1000\t6\t60\t61\n", COV_KIND_UNKNOWN), /* .fai */
    SAMPLE("r\t0\t1\t100\t60\t4M\t*\t0\t0\tACGT\tIIII\n", COV_KIND_UNKNOWN),
    SAMPLE("chr1\t10\t20", COV_KIND_UNKNOWN),
    SAMPLE("##gff-version 3\n", COV_KIND_GFF),
    SAMPLE("#!x\nchr1\ta b\tgene\t1\t9\t.\t+\t.\tID=a", COV_KIND_GFF),
    SAMPLE("chr1\ta\tgene\t1\t9\t.\t+\t.\t\n", COV_KIND_GFF),
    SAMPLE("##fileformat=VCFv4.3\n", COV_KIND_VCF),
    SAMPLE(TAR_HEAD "ustar\0"
                    "00",
           COV_KIND_TAR),
    SAMPLE("some text", COV_KIND_UNKNOWN),
    SAMPLE("@HDX", COV_KIND_UNKNOWN),
    SAMPLE("", COV_KIND_UNKNOWN),
};

static void put_packed(const char *path, const struct sample *s)
{
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, s->bytes, (unsigned)s->n), (int)s->n);
    assert_int_equal(gzclose(f), Z_OK);
}

TEST(knows_bytes)
{
    for (size_t i = 0; i < COV_COUNT(samples); i++) {
        assert_int_equal(cov_kind_of(samples[i].bytes, samples[i].n), samples[i].kind);
        assert_true((cov_kind_name(samples[i].kind) == NULL) ==
                    (samples[i].kind == COV_KIND_UNKNOWN));
        for (size_t n = 0; n < samples[i].n;
             n++) { /* a truncated file is not mistaken for another kind */
            enum cov_kind kind = cov_kind_of(samples[i].bytes, n);
            assert_true(kind == samples[i].kind || kind == COV_KIND_UNKNOWN ||
                        (kind == COV_KIND_ZIP && samples[i].kind == COV_KIND_CKPT));
        }
    }
    assert_int_equal(cov_kind_of("\x1f\x8b\x08", 3), COV_KIND_GZIP);
    assert_int_equal(cov_kind_of(TAR_HEAD "ustar", strlen(TAR_HEAD "ustar")), COV_KIND_TAR);
}

TEST(knows_files)
{
    for (size_t i = 0; i < COV_COUNT(samples); i++) {
        enum cov_kind kind = samples[i].kind;
        bool packed = true;
        put_bytes("a", samples[i].bytes, samples[i].n);
        assert_int_equal(cov_kind_of_file("a", &packed), kind);
        assert_false(packed);
        put_packed("a", &samples[i]);
        assert_int_equal(cov_kind_of_file("a", &packed),
                         kind == COV_KIND_UNKNOWN ? COV_KIND_GZIP : kind);
        assert_true(packed);
        assert_int_equal(cov_kind_of_file("a", NULL),
                         kind == COV_KIND_UNKNOWN ? COV_KIND_GZIP : kind);
    }
    assert_int_equal(cov_kind_of_file("none", NULL), COV_KIND_UNKNOWN);
    assert_int_equal(cov_kind_of_file(".", NULL), COV_KIND_UNKNOWN);
    /* A pipe without a writer must not be opened. */
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(cov_kind_of_file("pipe", NULL), COV_KIND_UNKNOWN);
    /* Only the first bytes of a gzip file. */
    put_bytes("a", "\x1f\x8b\x08", 4);
    assert_int_equal(cov_kind_of_file("a", NULL), COV_KIND_GZIP);
}

TEST(fails_with_the_kind)
{
    static const struct sample hdf5 = SAMPLE("\x89HDF\r\n\x1a\n", COV_KIND_HDF5),
                               fasta = SAMPLE(">a\n", COV_KIND_FASTA),
                               text = SAMPLE("text", COV_KIND_UNKNOWN);
    const struct {
        const struct sample *sample;
        bool packed;
        const char *text;
    } cases[] = {
        {&hdf5, false, "a: not good, but an HDF5 file"},
        {&hdf5, true, "a: not good, but an HDF5 file compressed by gzip"},
        {&fasta, true, "a: not good, but a FASTA file"},
        {&text, false, "a: not good"},
        {&text, true, "a: not good, but a file compressed by gzip"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        if (cases[i].packed)
            put_packed("a", cases[i].sample);
        else
            put_bytes("a", cases[i].sample->bytes, cases[i].sample->n);
        assert_fails_with(cov_fail_kind(&e, "a", "not good"), COV_EINPUT, cases[i].text);
    }
}

TEST_GROUP(enter_dir, leave_dir)
