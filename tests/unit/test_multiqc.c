/* test_multiqc.c - statistics as sections of a MultiQC report. tests/cli/multiqc.t has reports.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/stat.h>

#include "common/cli/stats_file.h"
#include "tests/lib/own_dir.h"

/* MultiQC's sample is the file name without its suffix; files with other suffixes have none. */
TEST(names_multiqc_samples)
{
    static const struct {
        const char *path, *row;
    } cases[] = {
        {"b.c/x_mqc.json", "    \"x\": {\n"},
        {"weed.cpg.1of4_mqc.json", "    \"weed.cpg.1of4\": {\n"},
        {"x.json", NULL},
        {"_mqc.json", NULL},
        {"b.c/_mqc.json", NULL},
        {"a_mqc.json/x", NULL},
        /* The tool, or the section, may follow the sample. */
        {"x.tool_mqc.json", "    \"x\": {\n"},
        {"x.atac.tool_mqc.json", "    \"x.atac\": {\n"},
        {"x.step_mqc.json", "    \"x\": {\n"},
        {"x.step.tool_mqc.json", "    \"x.step\": {\n"},
        {"xtool_mqc.json", "    \"xtool\": {\n"},
        {"tool_mqc.json", "    \"tool\": {\n"},
        {".tool_mqc.json", "    \".tool\": {\n"},
        {"x.tool.a_mqc.json", "    \"x.tool.a\": {\n"},
    };
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = "step";
    assert_int_equal(mkdir("b.c", 0777), 0);
    assert_int_equal(mkdir("a_mqc.json", 0777), 0);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_int_equal(cov_stats_write(&s, cases[i].path, true, NULL), COV_OK);
        char *text = get_bytes(cases[i].path, NULL);
        assert_int_equal(strstr(text, "\"id\": ") != NULL, cases[i].row != NULL);
        assert_true(!cases[i].row || strstr(text, cases[i].row));
        free(text);
    }
    assert_fails(cov_stats_write(&s, "x_mqc.json.gz", true, &e), COV_EUSAGE,
                 "x_mqc.json.gz: the output is a JSON file, but .gz is another kind");
    assert_fails_with(cov_stats_check(&s, "b.c/x_mqc.json", false, &e), COV_EEXIST,
                      "--stats: b.c/x_mqc.json: already exists; use -f to replace it, or "
                      "write x.tool_mqc.json to keep both");
    assert_fails_with(cov_stats_check(&s, "x.tool_mqc.json", false, &e), COV_EEXIST,
                      "--stats: x.tool_mqc.json: already exists; use -f to replace it");
    assert_fails_with(cov_stats_check(&s, "x.json", false, &e), COV_EEXIST,
                      "--stats: x.json: already exists; use -f to replace it");
    cov_stats_fini(&s);
}

/* Returns a section as text, which the caller frees. */
static char *print_section(const struct cov_stats *s, const char *sample,
                           void (*print)(const struct cov_stats *, const char *, struct cov_json *))
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    print(s, sample, &j);
    cov_json_end_object(&j);
    assert_int_equal(fclose(f), 0);
    return text;
}

static char *print_multiqc(const struct cov_stats *s, const char *sample)
{
    return print_section(s, sample, cov_multiqc_print);
}

static void add(struct cov_stats *s, const char *part, struct cov_stats_figure figure)
{
    assert_int_equal(cov_stats_add_figure(s, part, &figure, NULL), COV_OK);
}

TEST(prints_time_and_memory_in_a_table)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.threads = 4;
    s.peak_rss_bytes = -1;
    s.bases = 100;
    char *text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool\","));
    assert_non_null(strstr(text, "\"section_name\": \"tool\","));
    assert_non_null(strstr(text, "\"plot_type\": \"table\","));
    assert_non_null(strstr(text, "\"id\": \"covtools_tool_table\","));
    assert_non_null(strstr(text, "\"description\": \"Results, time and memory of tool 1.2.3.\","));
    assert_non_null(strstr(text, "    \"bases_per_second\": {\n"
                                 "      \"title\": \"Speed\",\n"
                                 "      \"description\": \"bases per second\",\n"
                                 "      \"suffix\": \" bp/s\",\n"
                                 "      \"format\": \"{:,.0f}\",\n"
                                 "      \"scale\": \"Greens\",\n"
                                 "      \"hidden\": false\n"
                                 "    }"));
    assert_non_null(strstr(text, "  \"data\": {\n"
                                 "    \"x\": {\n"
                                 "      \"bases\": 100,\n"
                                 "      \"bases_per_second\": 50,\n"
                                 "      \"wall_seconds\": 2,\n"
                                 "      \"cpu_seconds\": 3,\n"
                                 "      \"threads\": 4\n" /* the memory is unknown */
                                 "    }\n"
                                 "  }\n"
                                 "}\n"));
    free(text);
    cov_stats_fini(&s);
}

TEST(prints_figures_in_a_table)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = "tool --compare it";
    s.peak_rss_bytes = -1;
    add(&s, NULL, (struct cov_stats_figure){"n", "Number", "how many", .value = 7});
    add(&s, "a", (struct cov_stats_figure){"r", .is_score = true, .value = 0.5});
    add(&s, "b", (struct cov_stats_figure){"r", .is_score = true, .value = (double)NAN});
    add(&s, "a", (struct cov_stats_figure){"q", .decimals = 3, .is_hidden = true, .value = 0.25});
    add(&s, "c/d (MB/s)", (struct cov_stats_figure){"r", .is_score = true, .value = 1});
    char *text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "\"id\": \"covtools_tool_compare_it\","));
    const char *headers = strstr(text, "\"headers\"");
    assert_non_null(strstr(headers, "    \"n\": {\n"
                                    "      \"title\": \"Number\",\n"));
    const char *header = strstr(headers, "    \"r\": {\n"
                                         "      \"title\": \"r\",\n"
                                         "      \"description\": \"\",\n"
                                         "      \"format\": \"{:,.0f}\",\n"
                                         "      \"scale\": \"RdYlGn\",\n"
                                         "      \"min\": 0,\n"
                                         "      \"max\": 1,\n"
                                         "      \"placement\": 900,\n"
                                         "      \"hidden\": false\n");
    assert_non_null(header);
    assert_null(strstr(header + 8, "\"r\": {")); /* the header occurs only once for two parts */
    assert_non_null(strstr(headers, "      \"format\": \"{:,.3f}\",\n"
                                    "      \"scale\": \"Blues\",\n"
                                    "      \"hidden\": true\n"));
    assert_non_null(strstr(text, "    \"x\": {\n"
                                 "      \"n\": 7,\n"
                                 "      \"wall_seconds\": 0,\n"
                                 "      \"cpu_seconds\": 0,\n"
                                 "      \"threads\": 0\n"
                                 "    },\n"
                                 "    \"x.a\": {\n"
                                 "      \"r\": 0.5,\n"
                                 "      \"q\": 0.25\n"
                                 "    },\n"
                                 "    \"x.b\": {},\n"
                                 "    \"x.c\xe2\x88\x95"
                                 "d (MB\xe2\x88\x95s)\": {\n" /* U+2215 */
                                 "      \"r\": 1\n"
                                 "    }\n"
                                 "  }\n"));
    free(text);
    cov_stats_fini(&s);
}

/* The part may have the name of the sample. */
TEST(names_rows)
{
    static const struct {
        const char *sample, *part, *row;
    } cases[] = {
        {"weed", "a", "weed.a"},
        {"weed", "weed.a", "weed.a"},
        {"weed", "weed_a", "weed_a"},
        {"weed", "weedy.a", "weed.weedy.a"},
        {"weed", "weed", "weed.weed"},
        {"weed.b", "weed.a", "weed.b.weed.a"},
        {"weed", "a/b",
         "weed.a\xe2\x88\x95"
         "b"}, /* U+2215 */
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char row[COV_MULTIQC_NAME_BYTES];
        cov_multiqc_row(cases[i].sample, cases[i].part, row);
        assert_string_equal(row, cases[i].row);
    }
}

static void put_data(const void *more, const char *sample, struct cov_json *j)
{
    cov_json_begin_object(j, "data");
    cov_json_double(j, sample, *(const double *)more);
    cov_json_end_object(j);
}

/* Lines of all samples are one section, cells of each sample another. */
TEST(prints_lines_and_cells)
{
    struct cov_stats_plot plot = {.type = COV_STATS_LINES,
                                  .name = "shape",
                                  .section = "The shape",
                                  .description = "What it is.",
                                  .x_axis = "Place",
                                  .axis = "Height",
                                  .put_data = put_data};
    double value = 0.25;
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.plot = &plot;
    s.more = &value;
    char *text = print_section(&s, "x", cov_multiqc_print_plot);
    assert_non_null(strstr(text, "\"id\": \"covtools_shape\","));
    assert_non_null(strstr(text, "\"section_name\": \"The shape\","));
    assert_non_null(strstr(text, "\"plot_type\": \"linegraph\","));
    assert_non_null(strstr(text, "    \"ylab\": \"Height\",\n"
                                 "    \"xlab\": \"Place\",\n"
                                 "    \"showlegend\": true,\n"
                                 "    \"tt_decimals\": 3\n"
                                 "  },\n"
                                 "  \"data\": {\n"
                                 "    \"x\": 0.25\n"
                                 "  }\n"));
    free(text);
    plot.type = COV_STATS_CELLS;
    text = print_section(&s, "x.y", cov_multiqc_print_plot);
    assert_non_null(strstr(text, "\"id\": \"covtools_shape_x_y\","));
    assert_non_null(strstr(text, "\"section_name\": \"The shape: x.y\","));
    assert_non_null(strstr(text, "\"plot_type\": \"heatmap\","));
    assert_non_null(strstr(text, "    \"zlab\": \"Height\",\n"
                                 "    \"min\": -1,\n"
                                 "    \"max\": 1,\n"));
    assert_non_null(strstr(text, "  \"data\": {\n"
                                 "    \"x.y\": 0.25\n"));
    free(text);
    s.more = NULL;
    cov_stats_fini(&s);
}

/* Those of a file of shards are the sums over its shards. */
TEST(prints_time_and_memory_in_the_general_statistics)
{
    struct cov_stats s;
    cov_stats_init(&s, "h5chunk", "1.2.3");
    s.section = "covpredict";
    s.place = COV_STATS_GENERAL_COSTS;
    s.wall_seconds = 2;
    s.shards = (struct cov_stats_shards){2, 100, 6, 5, 8, 4, 3000000};
    char *text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "  \"id\": \"covtools_covpredict\",\n"
                                 "  \"namespace\": \"covpredict\",\n"
                                 "  \"plot_type\": \"generalstats\",\n"));
    assert_non_null(strstr(text, "    \"bases\": {\n"
                                 "      \"title\": \"covpredict: Bases\",\n"));
    assert_non_null(strstr(text, "  \"data\": {\n"
                                 "    \"x\": {\n"
                                 "      \"bases\": 100,\n"
                                 "      \"bases_per_second\": 20,\n"
                                 "      \"wall_seconds\": 5,\n"
                                 "      \"peak_rss_mb\": 3,\n"
                                 "      \"cpu_seconds\": 8,\n"
                                 "      \"threads\": 4,\n"
                                 "      \"chunks\": 6\n"
                                 "    }\n"
                                 "  }\n"));
    free(text);
    cov_stats_fini(&s);
}

static struct cov_stats compare(const char *const *parts, int n)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = "tool --compare";
    s.place = COV_STATS_GENERAL_FIGURES;
    for (int i = 0; i < n; i++) {
        add(&s, parts[i], (struct cov_stats_figure){"r_1", "r, 1 bp", .bar = "1 bp", .value = 0.5});
        add(&s, parts[i],
            (struct cov_stats_figure){"r_9", "r, 9 bp", .bar = "9 bp", .value = (double)NAN});
        add(&s, parts[i], (struct cov_stats_figure){"f1", "F1", .value = 0.25});
    }
    return s;
}

/* The runs of a sample share a row: the dataset at the end of its name is left out. */
TEST(prints_figures_in_the_general_statistics)
{
    static const char *const datasets[] = {"h3k4me3", "atac"};
    static const struct {
        const char *sample, *row;
    } cases[] = {
        {"x.h3k4me3", "    \"x\": {\n"},        {"x", "    \"x\": {\n"},
        {"x.h3k4me3.y", "    \"x.h3k4me3.y\""}, {"xh3k4me3", "    \"xh3k4me3\": {\n"},
        {"h3k4me3", "    \"h3k4me3\": {\n"},    {".h3k4me3", "    \".h3k4me3\": {\n"},
    };
    struct cov_stats s = compare(datasets, 1);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char *text = print_multiqc(&s, cases[i].sample);
        assert_non_null(strstr(text, cases[i].row));
        free(text);
    }
    char *text = print_multiqc(&s, "x.h3k4me3");
    assert_non_null(strstr(text, "  \"id\": \"covtools_tool_compare_h3k4me3_1_bp_9_bp\",\n"));
    assert_non_null(strstr(text, "    \"h3k4me3_r_1\": {\n"
                                 "      \"title\": \"h3k4me3: r, 1 bp\",\n"));
    assert_non_null(strstr(text, "      \"title\": \"h3k4me3: F1\",\n" /* no score, but next to r */
                                 "      \"description\": \"\",\n"
                                 "      \"format\": \"{:,.0f}\",\n"
                                 "      \"scale\": \"Blues\",\n"
                                 "      \"placement\": 900,\n"));
    assert_null(strstr(text, "wall_seconds"));
    assert_non_null(strstr(text, "    \"x\": {\n"
                                 "      \"h3k4me3_r_1\": 0.5,\n"
                                 "      \"h3k4me3_f1\": 0.25\n"
                                 "    }\n"));
    free(text);
    cov_stats_fini(&s);

    s = compare(datasets, 2);
    text = print_multiqc(&s, "x.atac");
    assert_non_null(
        strstr(text, "  \"id\": \"covtools_tool_compare_h3k4me3_1_bp_9_bp_atac_1_bp_9_bp\",\n"));
    assert_non_null(strstr(text, "    \"x.atac\": {\n"
                                 "      \"h3k4me3_r_1\": 0.5,\n"
                                 "      \"h3k4me3_f1\": 0.25,\n"
                                 "      \"atac_r_1\": 0.5,\n"
                                 "      \"atac_f1\": 0.25\n"
                                 "    }\n"));
    free(text);
    cov_stats_fini(&s);

    static const char *const everything[] = {NULL};
    s = compare(everything, 1);
    text = print_multiqc(&s, "x");
    assert_non_null(strstr(text, "    \"x\": {\n"
                                 "      \"r_1\": 0.5,\n"));
    free(text);
    cov_stats_fini(&s);
}

TEST(writes_a_plot)
{
    static const struct cov_stats_plot plot = {
        .name = "bars", .section = "Bars", .description = "Some bars.", .axis = "height"};
    static const char *const datasets[] = {"h3k4me3", "atac"}, *const everything[] = {NULL};
    struct cov_stats s = compare(datasets, 1);
    s.plot = &plot;
    char *text = print_section(&s, "x.h3k4me3", cov_multiqc_print_plot);
    assert_non_null(strstr(text, "  \"id\": \"covtools_bars\",\n"));
    assert_non_null(strstr(text, "  \"section_name\": \"Bars\",\n"
                                 "  \"description\": \"Some bars.\",\n"
                                 "  \"plot_type\": \"bargraph\",\n"
                                 "  \"pconfig\": {\n"
                                 "    \"id\": \"covtools_bars_bargraph\",\n"
                                 "    \"title\": \"covtools: Bars\",\n"
                                 "    \"ylab\": \"height\",\n"
                                 "    \"stacking\": \"group\",\n"));
    assert_non_null(strstr(text, "  \"data\": {\n"
                                 "    \"x.h3k4me3\": {\n"
                                 "      \"1 bp\": 0.5\n" /* the figure for 9 bp has no value */
                                 "    }\n"
                                 "  }\n"
                                 "}\n"));
    free(text);
    assert_int_equal(mkdir("plot", 0777), 0);
    assert_int_equal(cov_stats_write(&s, "plot/x.h3k4me3_mqc.json", false, NULL), COV_OK);
    assert_int_equal(count_files("plot"), 2);
    text = get_bytes("plot/x.h3k4me3.bars_mqc.json", NULL);
    assert_non_null(strstr(text, "\"bargraph\""));
    free(text);
    assert_int_equal(remove("plot/x.h3k4me3_mqc.json"), 0);
    assert_fails_with(cov_stats_check(&s, "plot/x.h3k4me3_mqc.json", false, &e), COV_EEXIST,
                      "--stats: plot/x.h3k4me3.bars_mqc.json: already exists; use -f to "
                      "replace it");
    assert_int_equal(cov_stats_write(&s, "plot/x.h3k4me3_mqc.json", false, NULL), COV_EEXIST);
    assert_int_equal(count_files("plot"), 1);
    assert_int_equal(cov_stats_write(&s, "plot/x.json", false, NULL), COV_OK);
    assert_int_equal(count_files("plot"), 2);
    cov_stats_fini(&s);

    s = compare(datasets, 2);
    s.plot = &plot;
    text = print_section(&s, "x", cov_multiqc_print_plot);
    assert_non_null(strstr(text, "    \"x.h3k4me3\": {\n"));
    assert_non_null(strstr(text, "    \"x.atac\": {\n"));
    free(text);
    cov_stats_fini(&s);

    s = compare(everything, 1);
    s.plot = &plot;
    text = print_section(&s, "x", cov_multiqc_print_plot);
    assert_non_null(strstr(text, "    \"x\": {\n"));
    free(text);
    cov_stats_fini(&s);
}

TEST_GROUP(enter_dir, leave_dir)
