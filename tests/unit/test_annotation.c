/* test_annotation.c - features of GFF3, GTF and BED files, sorted, and messages about wrong lines.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/features/annotation.h"

static struct cov_annotation a;

/* Reads a file with this text to `a`. */
static int read_file(const char *text, const char *type, bool families, struct cov_err *e)
{
    cov_annotation_fini(&a);
    put_text("x", text);
    return cov_annotation_read("x", type, families, &a, e);
}

static void read_text(const char *text, const char *type)
{
    assert_ok(read_file(text, type, false, &e));
}

static void check(size_t i, const char *contig, int64_t beg, int64_t end, char strand)
{
    assert_string_equal(cov_names_get(a.contigs, a.items[i].contig, NULL), contig);
    assert_int_equal(a.items[i].beg, beg);
    assert_int_equal(a.items[i].end, end);
    assert_int_equal(a.items[i].strand, strand);
}

TEST(gff3)
{
    read_text("##gff-version 3\n"
              "b c\ts\tgene\t100\t200\t.\t-\t.\tNote=ID;ID=second\r\n"
              "b c\ts\tmRNA\t100\t200\t.\t-\t.\tID=other\n"
              "\n###\n"
              "a\ts\tgene\t7\t7\t0.5\t?\t.\tName=third\n"
              "b c\ts\tgene\t1\t200\t.\t+\t.\n"
              "##FASTA\n>a\nACGT\n",
              "gene");
    assert_int_equal(a.n, 3);
    assert_false(a.is_bed);
    check(0, "b c", 0, 200, '+');
    check(1, "b c", 99, 200, '-');
    check(2, "a", 6, 7, '.');
    assert_string_equal(cov_annotation_name(&a, 0), "");
    assert_string_equal(cov_annotation_name(&a, 1), "second");
    assert_string_equal(cov_annotation_name(&a, 2), "third");
    assert_string_equal(cov_annotation_score(&a, 1), ".");
    assert_string_equal(cov_annotation_score(&a, 2), "0.5");
    assert_int_equal(a.items[0].line, 7);
}

TEST(gtf)
{
    static const char text[] =
        "#!genome\n"
        "1\ts\tgene\t11\t20\t.\t+\t.\tgene_version \"2\"; gene_id \"g1\"; gene_name \"n\";\n"
        "1\ts\ttranscript\t12\t20\t.\t+\t.\tgene_id \"g1\"; transcript_id \"t;1\"\n"
        "1\ts\ttranscript\t13\t20\t.\t+\t.\tgene_id \"g1\";\n";
    read_text(text, "gene");
    assert_int_equal(a.n, 1);
    assert_string_equal(cov_annotation_name(&a, 0), "g1");
    read_text(text, "transcript");
    assert_int_equal(a.n, 2);
    assert_string_equal(cov_annotation_name(&a, 1), "g1");
}

TEST(types)
{
    read_text("c\ts\tgene\t11\t90\t.\t+\t.\tID=g\nc\ts\texon\t11\t20\t.\t+\t.\tID=x\n"
              "c\ts\texo\t12\t20\t.\t+\t.\tID=y\nc\ts\tmRNA\t13\t20\t.\t+\t.\tID=z\n",
              "gene,exon,mRNA");
    assert_int_equal(a.n, 3);
    assert_string_equal(cov_annotation_name(&a, 0), "x");
    assert_int_equal(a.items[0].type, 1);
    assert_int_equal(a.items[1].type, 0);
    assert_int_equal(a.items[2].type, 2);
    assert_fails(read_file("c\ts\tgene\t11\t90\t.\t+\t.\tID=g\n", NULL, false, &e), COV_EINPUT,
                 "x:1: GFF3 or GTF instead of BED");
}

/* Reads the families of genes, or `type`, and exons. */
static void read_families(const char *text, const char *type)
{
    assert_ok(read_file(text, type, true, &e));
}

static void check_family(size_t part, size_t of)
{
    assert_int_equal(a.items[part].type, 1);
    assert_int_equal(a.items[of].type, 0);
    assert_true(a.items[of].family > COV_FAMILY_OTHER);
    assert_int_equal(a.items[part].family, a.items[of].family);
}

TEST(families_of_gff3)
{
    static const char text[] = "c\ts\texon\t50\t60\t.\t+\t.\tParent=t1,t2\n"
                               "c\ts\tgene\t1\t90\t.\t+\t.\tID=g\n"
                               "c\ts\tmRNA\t1\t90\t.\t+\t.\tID=t1;Parent=g\n"
                               "c\ts\tmRNA\t2\t90\t.\t+\t.\tID=t2;Parent=g\n"
                               "c\ts\tgene\t40\t70\t.\t+\t.\tID=inner\n"
                               "c\ts\texon\t80\t81\t.\t+\t.\tID=alone\n"
                               "c\ts\texon\t82\t83\t.\t+\t.\tParent=none\n"
                               "c\ts\texon\t84\t85\t.\t+\t.\tParent=p\n"
                               "c\ts\tpseudogene\t84\t85\t.\t+\t.\tID=p\n"
                               "c\ts\texon\t86\t87\t.\t+\t.\tParent=x\n"
                               "c\ts\trRNA\t86\t87\t.\t+\t.\tID=x;Parent=y\n"
                               "c\ts\trRNA\t86\t87\t.\t+\t.\tID=y;Parent=x\n"
                               "c\ts\trRNA\t86\t87\t.\t+\t.\n"
                               "c\ts\texon\t88\t89\t.\t+\t.\n";
    read_families(text, "gene,exon");
    assert_int_equal(a.n, 9);
    assert_int_not_equal(a.items[0].family, a.items[1].family);
    check_family(2, 0);
    check_family(3, 0);
    assert_string_equal(cov_annotation_name(&a, 4), "alone");
    assert_int_equal(a.items[4].family, COV_FAMILY_UNKNOWN);
    assert_int_equal(a.items[5].family, COV_FAMILY_UNKNOWN);
    assert_int_equal(a.items[6].family, COV_FAMILY_OTHER);
    assert_int_equal(a.items[7].family, COV_FAMILY_OTHER);
    assert_int_equal(a.items[8].family, COV_FAMILY_UNKNOWN);
    read_families(text, "mRNA,exon");
    check_family(2, a.items[2].family == a.items[0].family ? 0 : 1);
    check_family(3, a.items[2].family == a.items[0].family ? 1 : 0);
    read_text(text, "gene,exon");
    assert_int_equal(a.n, 8);
    assert_int_equal(a.items[0].family, COV_FAMILY_UNKNOWN);
}

TEST(families_of_gtf)
{
    static const char text[] =
        "c\ts\tgene\t1\t90\t.\t+\t.\tgene_id \"g,1\";\n"
        "c\ts\ttranscript\t1\t90\t.\t+\t.\tgene_id \"g,1\"; transcript_id \"t\";\n"
        "c\ts\texon\t5\t9\t.\t+\t.\tgene_id \"g,1\"; transcript_id \"t\";\n"
        "c\ts\texon\t8\t9\t.\t+\t.\tgene_version \"1\";\n";
    for (int i = 0; i < 2; i++) {
        read_families(text, i ? "transcript,exon" : "gene,exon");
        assert_int_equal(a.n, 3);
        check_family(1, 0);
        assert_int_equal(a.items[2].family, COV_FAMILY_UNKNOWN);
    }
}

TEST(bed)
{
    read_text("track name=x\n# c\nbrowser position\nc1 5 "
              "9\nc1\t2\t9\tn\t7\t-\t2\t9\t0,0,0\nc0\t0\t1\tm\n",
              "gene");
    assert_int_equal(a.n, 3);
    assert_true(a.is_bed);
    check(0, "c1", 2, 9, '-');
    check(1, "c1", 5, 9, '.');
    check(2, "c0", 0, 1, '.');
    assert_string_equal(cov_annotation_name(&a, 0), "n");
    assert_string_equal(cov_annotation_score(&a, 0), "7");
    assert_string_equal(cov_annotation_name(&a, 2), "m");
    assert_string_equal(cov_annotation_score(&a, 2), ".");
}

TEST(name_of_bed_with_blanks)
{
    static const struct {
        const char *text, *name, *score;
        char strand;
    } cases[] = {
        {"c\t1\t2\tmy \xc3\xbc gene\t7\t-\n", "my \xc3\xbc gene", "7", '-'},
        {"c\t1\t2\tmy gene \t7\n", "my gene", "7", '.'},
        {"c\t1\t2\tmy gene\r\n", "my gene", ".", '.'},
        {"c\t1\t2\tmy gene # 5\n", "my gene", ".", '.'},
        {"c\t1 2\tn 7 -\n", "n", "7", '-'},
        {"c 1 2 n 7\t-\n", "n", "7", '-'},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        read_text(cases[i].text, "gene");
        check(0, "c", 1, 2, cases[i].strand);
        assert_string_equal(cov_annotation_name(&a, 0), cases[i].name);
        assert_string_equal(cov_annotation_score(&a, 0), cases[i].score);
    }
}

TEST(strand_of_bed_in_another_column)
{
    static const struct {
        const char *text, *name, *score;
        char strand;
    } cases[] = {
        {"c\t1\t2\t-\n", "", ".", '-'},        {"c\t1\t2\tn\t+\n", "n", ".", '+'},
        {"c\t1\t2\t+\t7\n", "", "7", '+'},     {"c\t1\t2\t-\tn\t.\n", "", "n", '-'},
        {"c\t1\t2\t.\t7\n", ".", "7", '.'},    {"c\t1\t2\tn\t0\t-\n", "n", "0", '-'},
        {"c\t1\t2\t+\t0\t-\n", "+", "0", '-'}, {"c\t1\t2\tn\t0\t?\n", "n", "0", '.'},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        read_text(cases[i].text, "gene");
        check(0, "c", 1, 2, cases[i].strand);
        assert_string_equal(cov_annotation_name(&a, 0), cases[i].name);
        assert_string_equal(cov_annotation_score(&a, 0), cases[i].score);
    }
}

/* AUGUSTUS and BRAKER write the ID of genes and transcripts alone; others omit the quotes. */
TEST(gtf_with_bare_ids)
{
    static const char text[] =
        "c\ts\tgene\t1\t90\t.\t+\t.\tg1\n"
        "c\ts\ttranscript\t1\t90\t.\t+\t.\t g1.t1;\r\n"
        "c\ts\tgene\t40\t60\t.\t+\t.\tgene_id g2; gene_name n;\n"
        "c\ts\ttranscript\t40\t60\t.\t+\t.\t.\n"
        "c\ts\texon\t45\t50\t.\t+\t.\ttranscript_id \"g1.t1\"; gene_id \"g1\";\n"
        "c\ts\texon\t46\t50\t.\t+\t.\tgene_id g2;\n";
    read_text(text, "gene");
    assert_string_equal(cov_annotation_name(&a, 0), "g1");
    assert_string_equal(cov_annotation_name(&a, 1), "g2");
    read_text(text, "transcript");
    assert_string_equal(cov_annotation_name(&a, 0), "g1.t1");
    assert_string_equal(cov_annotation_name(&a, 1), "");
    read_families(text, "gene,exon");
    check_family(2, 0);
    check_family(3, 1);
    read_families(text, "transcript,exon");
    check_family(2, 0);
}

TEST(labels_of_pictures)
{
    static const struct {
        const char *attributes, *label;
    } cases[] = {
        {"ID=gene:AT1G01010;Name=NAC001;gene_name=x", "NAC001"},
        {"ID=gene:AT1G01010;gene_name=NAC001", "NAC001"},
        {"ID=gene:AT1G01010;biotype=x", "AT1G01010"},
        {"ID=gene:", "gene:"},
        {"gene_id \"AT1G01010\"; gene_name \"NAC001\";", "NAC001"},
        {"gene_id \"gene:AT1G01010\";", "AT1G01010"},
        {"g1", "g1"},
        {"ID=a%20b%2Cc%zz%4;Note=a", "a b,c%zz%4"},
    };
    char text[200];
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        (void)snprintf(text, sizeof text, "c\ts\tgene\t1\t9\t.\t+\t.\t%s\n", cases[i].attributes);
        read_families(text, "gene,exon");
        assert_string_equal(cov_annotation_name(&a, 0), cases[i].label);
    }
}

TEST(escapes_of_gff3)
{
    read_text(
        "chr%201\ts\tgene\t1\t9\t.\t+\t.\tID=a%20b%09%00c\nchr 1\ts\tgene\t2\t9\t.\t+\t.\tID=%41\n",
        "gene");
    check(0, "chr 1", 0, 9, '+');
    check(1, "chr 1", 1, 9, '+');
    assert_string_equal(cov_annotation_name(&a, 0), "a b?%00c");
    assert_string_equal(cov_annotation_name(&a, 1), "A");
    read_text("chr%201\t1\t9\ta%20b\n", "gene");
    check(0, "chr%201", 1, 9, '.');
    assert_string_equal(cov_annotation_name(&a, 0), "a%20b");
}

/* As in NCBI's files of genomes with organelles. */
TEST(features_over_the_origin_are_left_out)
{
    static const char text[] = "c\ts\tgene\t4900\t5100\t.\t-\t.\tID=g1\n"
                               "c\ts\tregion\t1\t5000\t.\t+\t.\tID=c;Is_circular=true;x=y\n"
                               "c\ts\tgene\t4900\t5000\t.\t+\t.\tID=g2\n"
                               "c\ts\tgene\t5001\t5100\t.\t+\t.\tID=g3\n"
                               "c\ts\texon\t4900\t5100\t.\t-\t.\tParent=g1\n"
                               "d\ts\tregion\t1\t5000\t.\t+\t.\tID=d;Is_circular=false\n"
                               "d\ts\tgene\t4900\t5100\t.\t+\t.\tID=g4\n";
    read_text(text, "gene");
    assert_int_equal(a.n, 3);
    check(0, "c", 4899, 5000, '+');
    check(1, "c", 5000, 5100, '+'); /* of another assembly: not over the origin */
    check(2, "d", 4899, 5100, '+');
    read_families(text, "gene,exon");
    assert_int_equal(a.n, 3);
}

TEST(long_ids_are_families)
{
    static char id[2][5001], text[20000];
    memset(id, 'x', sizeof id);
    id[0][5000] = id[1][5000] = '\0';
    id[1][4999] = 'y'; /* the end decides */
    (void)snprintf(text, sizeof text,
                   "c\ts\tgene\t1\t9\t.\t+\t.\tID=%s\nc\ts\tgene\t2\t9\t.\t+\t.\tID=%s\n"
                   "c\ts\texon\t3\t9\t.\t+\t.\tParent=%s\n",
                   id[0], id[1], id[1]);
    read_families(text, "gene,exon");
    check_family(2, 1);
    assert_int_not_equal(a.items[0].family, a.items[1].family);
}

TEST(long_names_are_cut)
{
    char text[1000] = "c\t1\t2\t";
    memset(text + 6, 'x', 500);
    text[506] = '\0';
    read_text(text, "gene");
    assert_int_equal(strlen(cov_annotation_name(&a, 0)), 255);
}

TEST(wrong_files_are_refused)
{
#define LINE "c\ts\tgene\t1\t9\t.\t+\t.\tID=x\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "x: no features"},
        {"track x\n", "x: no features"},
        {"c\ts\tmRNA\t1\t9\t.\t+\t.\t\nc\ts\tCDS\t1\t9\t.\t+\t.\t\n",
         "x: no features of type gene; it has: mRNA, CDS"},
        {"a;1;2\n",
         "x:1: neither GFF3, GTF nor BED; separate columns by tabs or blanks instead of ';'"},
        {"\nACGT\n", "x:2: neither GFF3, GTF nor BED"},
        {">c\nACGT\n", "x: neither GFF3, GTF nor BED, but a FASTA file"},
        {"##fileformat=VCFv4.2\nc\t1\t2\tA\tC\n", "x: neither GFF3, GTF nor BED, but a VCF file"},
        {"chrom start end\n",
         "x:1: neither GFF3, GTF nor BED; if this is a header, begin it with '#'"},
        {LINE "c\ts\tgene\t1\t9\n", "x:2: expected the 9 columns of GFF, separated by tabs"},
        {LINE "c\ts\tgene\t0\t9\t.\t+\t.\t\n",
         "x:2: columns 4 and 5 are not a first and a last base, from 1"},
        {LINE "c\ts\tgene\t1\t-9\t.\t+\t.\t\n",
         "x:2: columns 4 and 5 are not a first and a last base, from 1"},
        {LINE "c\ts\tgene\t10\t9\t.\t+\t.\t\n", "x:2: the feature ends at 9, but starts at 10"},
        {LINE "c\ts\tgene\t1\t9\t.\t1\t.\t\n", "x:2: column 7 is not a strand: +, -, . or ?"},
        {"c\t1\t2\nc\t1\n", "x:2: expected contig, start and end"},
        {"c\t1\t2\nc\t-1\t2\n", "x:2: expected contig, start and end; the start is negative"},
        {"c\t1\t2\nc\t2\t2\n", "x:2: the feature ends at 2, but starts at 2"},
        {"c\t1\t2\tn\t0\tplus\n", "x:1: column 6 is not a strand: +, - or ."},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_fails_with(read_file(cases[i].text, "gene", false, &e), COV_EINPUT,
                          cases[i].message);
}

TEST_GROUP(enter_dir, leave_dir)
