/* sam_convert.c - converts SAM to BAM or CRAM, with an index: sam_convert [-i bai|csi] [-r
 * REFERENCE] IN.sam OUT
 * SPDX-License-Identifier: MIT */
#include <htslib/hts.h>
#include <htslib/sam.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int convert(const char *in_path, const char *out_path, const char *reference)
{
    const char *dot = strrchr(out_path, '.');
    const char *mode = dot && strcmp(dot, ".cram") == 0 ? "wc" : "wb";
    htsFile *in = hts_open(in_path, "r"), *out = hts_open(out_path, mode);
    sam_hdr_t *header = in ? sam_hdr_read(in) : NULL;
    bam1_t *read = bam_init1();
    if (!out || !header || !read)
        return 1;
    if (reference && hts_set_fai_filename(out, reference) != 0)
        return 1;
    if (!reference && strcmp(mode, "wc") == 0)
        (void)hts_set_opt(out, CRAM_OPT_NO_REF, 1);
    int got = 0, bad = sam_hdr_write(out, header) != 0;
    while (!bad && (got = sam_read1(in, header, read)) >= 0)
        bad = sam_write1(out, header, read) < 0;
    bad = bad || got < -1;
    bam_destroy1(read);
    sam_hdr_destroy(header);
    bad = hts_close(in) != 0 || bad;
    return hts_close(out) != 0 || bad;
}

int main(int argc, char **argv)
{
    const char *index = NULL, *reference = NULL;
    for (int c; (c = getopt(argc, argv, "i:r:")) != -1;) {
        if (c == 'i')
            index = optarg;
        else if (c == 'r')
            reference = optarg;
        else
            return 2;
    }
    if (argc - optind != 2)
        return 2;
    const char *out = argv[optind + 1];
    if (convert(argv[optind], out, reference) != 0) {
        (void)fprintf(stderr, "sam_convert: %s could not be written\n", out);
        return 1;
    }
    return index && sam_index_build(out, strcmp(index, "csi") == 0 ? 14 : 0) != 0;
}
