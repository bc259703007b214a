/* test_stats.c - statistics of a run, also as sections of a MultiQC report. tests/cli/multiqc.t has
 * reports.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/stat.h>

#include "common/base/progress.h"
#include "common/cli/stats_file.h"
#include "tests/lib/own_dir.h"

/* ---- text ---- */

/* Puts JSON on one line, with ' for ", so that tests can quote it. Removes line breaks and indentation
 * in place, but leaves a blank after a comma. Returns the text. */
static char *compact(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (*p != '\n') {
            *to++ = *p == '"' ? '\'' : *p;
            continue;
        }
        if (p > text && p[-1] == ',')
            *to++ = ' ';
        while (p[1] == ' ')
            p++;
    }
    *to = '\0';
    return text;
}

/* Reads a file as compact text. */
static const char *read_json(const char *path)
{
    return compact(get_bytes(path, NULL));
}

static struct cov_stats begin(const char *section)
{
    struct cov_stats s;
    cov_stats_init(&s, "tool", "1.2.3");
    s.section = section;
    s.peak_rss_bytes = -1;
    return s;
}

TEST(quotes_command)
{
    struct cov_stats s = begin(NULL);
    char *argv[] = {(char[]){"./tool"}, (char[]){"-@"},    (char[]){"2"}, (char[]){"it's a"},
                    (char[]){""},       (char[]){"$HOME"}, NULL};
    assert_ok(cov_stats_set_command(&s, 6, argv, &e));
    assert_string_equal(s.command, "./tool -@ 2 'it'\\''s a' '' '$HOME'");
    cov_stats_fini(&s);
}

TEST(adds_stages_and_inputs)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                        "j", "k", "l", "m", "n", "o", "p", "q"};
    struct cov_stats s = begin(NULL);
    for (size_t i = 0; i < COV_COUNT(names); i++)
        cov_stats_add_stage(&s, names[i], 1);
    cov_stats_add_stage(&s, "b", 0.5);
    assert_int_equal(s.n_stages, COV_STATS_MAX_STAGES);
    assert_true(s.stages[1].seconds == 1.5);
    assert_string_equal(s.stages[COV_STATS_MAX_STAGES - 1].name, "p");
    assert_true(s.stages[COV_STATS_MAX_STAGES - 1].seconds == 2);
    assert_ok(cov_stats_add_input(&s, "x", &e));
    assert_ok(cov_stats_add_input(&s, "y", &e));
    assert_ok(cov_stats_add_input(&s, "x", &e));
    assert_int_equal(s.n_inputs, 2);
    cov_stats_fini(&s);
}

TEST(measures)
{
    struct cov_stats s = begin(NULL);
    enum { BYTES = 64 << 20 };
    char *memory = must(malloc(BYTES));
    memset(memory, 1, BYTES);
    /* The sum keeps the memory from being optimised away. */
    unsigned sum = 0;
    for (double begin = cov_clock(); cov_clock() - begin < 0.05;)
        for (int i = 0; i < BYTES; i += 4096)
            sum |= (unsigned char)memory[i];
    assert_int_equal(sum, 1);
    free(memory);
    cov_stats_finish(&s);
    assert_true(s.wall_seconds >= 0.05 && s.wall_seconds < 60);
    assert_true(s.cpu_seconds > 0.01 && s.cpu_seconds < 60);
    assert_true(s.peak_rss_bytes >= BYTES);
    cov_stats_fini(&s);
}

TEST(writes)
{
    struct cov_stats s = begin(NULL);
    s.threads = 2;
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.peak_rss_bytes = 1024;
    assert_ok(cov_stats_write(&s, "stats.json", true, &e));
    check_text("stats.json", "{\n"
                             "  \"tool\": \"tool\",\n"
                             "  \"version\": \"1.2.3\",\n"
                             "  \"command\": null,\n"
                             "  \"inputs\": [],\n"
                             "  \"device\": \"cpu\",\n"
                             "  \"threads\": 2,\n"
                             "  \"precision\": null,\n"
                             "  \"wall_seconds\": 2,\n"
                             "  \"cpu_seconds\": 3,\n"
                             "  \"peak_rss_bytes\": 1024\n"
                             "}\n");

    s.bases = 100;
    s.chunks = 5;
    s.positions_computed = 0;
    s.positions_at_rest = 9;
    s.chunks_repeated = 1;
    s.precision = "exact";
    cov_stats_add_stage(&s, "read", 0.5);
    assert_ok(cov_stats_write(&s, "stats.json", true, &e)); /* replaces the first file */
    const char *text = read_json("stats.json");
    assert_contains(text, "'precision': 'exact', ");
    assert_contains(text, "'bases': 100, 'chunks': 5, 'positions_computed': 0, "
                          "'positions_at_rest': 9, 'chunks_repeated': 1, 'bases_per_second': 50, "
                          "'chunks_per_second': 2.5, 'stages': {'read': 0.5}}");

    assert_ok(cov_stats_write(&s, "y_mqc.json", true, &e));
    text = read_json("y_mqc.json");
    assert_contains(text, "'id': 'covtools_tool', ");
    assert_contains(text, "'y': {");
    assert_contains(text, "'peak_rss_bytes': 1024, 'bases': 100, "); /* the fields of stats.json */
    assert_int_equal(count_files("."), 2);

    assert_fails(cov_stats_write(&s, "absent/x", true, &e), COV_EIO, "absent/x: ");
    assert_fails_with(cov_stats_write(&s, "/dev/full", true, &e), COV_EIO,
                      "/dev/full: No space left on device");
    cov_stats_fini(&s);
}

/* Without `force`, keeps a file that has appeared during the run. Does not replace a broken link. */
TEST(keeps_existing_files)
{
    struct cov_stats s;
    const int n = count_files(".");
    cov_stats_init(&s, "tool", "1.2.3");
    put_text("old.json", "old");
    assert_fails_with(cov_stats_check(&s, "old.json", false, &e), COV_EEXIST,
                      "--stats: old.json: already exists; use -f to replace it");
    assert_int_equal(cov_stats_write(&s, "old.json", false, NULL), COV_EEXIST);
    check_text("old.json", "old");
    assert_ok(cov_stats_check(&s, "old.json", true, &e));
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_fails(cov_stats_check(&s, "link", false, &e), COV_EEXIST, "--stats: link: ");
    assert_fails(cov_stats_check(&s, "absent/x", false, &e), COV_EIO, "--stats: absent/x: ");
    assert_ok(cov_stats_check(&s, "-", false, &e));
    assert_ok(cov_stats_check(&s, "/dev/full", false, &e));
    assert_int_equal(count_files("."), n + 2);
    cov_stats_fini(&s);
}

TEST(adds_up_shards)
{
    static const char *const shards[] = {
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": 2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 100, \"chunks\": 4}",
        "{\"tool\": \"covpredict\", \"threads\": 1, \"wall_seconds\": 0.5, \"cpu_seconds\": 1, "
        "\"peak_rss_bytes\": 9000000, \"bases\": 25, \"chunks\": 2}",
    };
    struct cov_stats s;
    cov_stats_init(&s, "h5chunk", "1.2.3");
    s.wall_seconds = 1;
    for (size_t i = 0; i < COV_COUNT(shards); i++) {
        put_text("shard.json", shards[i]);
        assert_ok(cov_stats_add_shard(&s, "shard.json", &e));
    }
    assert_ok(cov_stats_write(&s, "merged.json", false, &e));
    const char *text = read_json("merged.json");
    assert_contains(text, "'wall_seconds': 1, "); /* of the merge */
    assert_contains(text, "'shards': {'n': 2, 'threads': 2, 'wall_seconds': 2.5, "
                          "'cpu_seconds': 4, 'peak_rss_bytes': 9000000, 'bases': 125, "
                          "'chunks': 6, 'bases_per_second': 50}");
    cov_stats_fini(&s);
}

TEST(rejects_statistics_of_other_tools)
{
    static const char *const texts[] = {
        "",
        "[1]",
        "{\"tool\": 3}",
        "{\"tool\": \"fasta2h5\", \"bases\": 1}",
        "{\"tool\": \"covpredict\", \"bases\": 1}",
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": 2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 1e300, \"chunks\": 4}",
        "{\"tool\": \"covpredict\", \"threads\": 2, \"wall_seconds\": -2, \"cpu_seconds\": 3, "
        "\"peak_rss_bytes\": 7000000, \"bases\": 1, \"chunks\": 4}",
    };
    struct cov_stats s;
    cov_stats_init(&s, "h5chunk", "1.2.3");
    for (size_t i = 0; i < COV_COUNT(texts); i++) {
        put_text("x.json", texts[i]);
        assert_fails(cov_stats_add_shard(&s, "x.json", &e), COV_EINPUT, "x.json: ");
    }
    assert_int_equal(cov_stats_add_shard(&s, "absent", NULL), COV_EIO);
    assert_int_equal(cov_stats_add_shard(&s, ".", NULL), COV_EINPUT);
    assert_int_equal(s.shards.n, 0);
    cov_stats_fini(&s);
}

/* ---- MultiQC ---- */

/* MultiQC's sample is the file name without its suffix; files with other suffixes have none. */
TEST(names_multiqc_samples)
{
    static const struct {
        const char *path, *row;
    } cases[] = {
        {"b.c/x_mqc.json", "'x': {"},
        {"weed.cpg.1of4_mqc.json", "'weed.cpg.1of4': {"},
        {"x.json", NULL},
        {"_mqc.json", NULL},
        {"b.c/_mqc.json", NULL},
        {"a_mqc.json/x", NULL},
        /* The tool, or the section, may follow the sample. */
        {"x.tool_mqc.json", "'x': {"},
        {"x.atac.tool_mqc.json", "'x.atac': {"},
        {"x.step_mqc.json", "'x': {"},
        {"x.step.tool_mqc.json", "'x.step': {"},
        {"xtool_mqc.json", "'xtool': {"},
        {"tool_mqc.json", "'tool': {"},
        {".tool_mqc.json", "'.tool': {"},
        {"x.tool.a_mqc.json", "'x.tool.a': {"},
    };
    struct cov_stats s = begin("step");
    assert_int_equal(mkdir("b.c", 0777), 0);
    assert_int_equal(mkdir("a_mqc.json", 0777), 0);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        assert_ok(cov_stats_write(&s, cases[i].path, true, &e));
        const char *text = read_json(cases[i].path);
        assert_int_equal(strstr(text, "'id': ") != NULL, cases[i].row != NULL);
        assert_contains(text, cases[i].row ? cases[i].row : "");
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

/* Returns a section as compact text. */
static const char *print_section(const struct cov_stats *s, const char *sample,
                                 void (*print)(const struct cov_stats *, const char *,
                                               struct cov_json *))
{
    FILE *f = begin_text();
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    print(s, sample, &j);
    cov_json_end_object(&j);
    return compact(end_text(f));
}

static const char *print_multiqc(const struct cov_stats *s, const char *sample)
{
    return print_section(s, sample, cov_multiqc_print);
}

static const char *print_plot(const struct cov_stats *s, const char *sample)
{
    return print_section(s, sample, cov_multiqc_print_plot);
}

static void add(struct cov_stats *s, const char *part, struct cov_stats_figure figure)
{
    assert_ok(cov_stats_add_figure(s, part, &figure, &e));
}

TEST(prints_time_and_memory_in_a_table)
{
    struct cov_stats s = begin(NULL); /* the memory is unknown */
    s.wall_seconds = 2;
    s.cpu_seconds = 3;
    s.threads = 4;
    s.bases = 100;
    const char *text = print_multiqc(&s, "x");
    assert_contains(text, "'id': 'covtools_tool',");
    assert_contains(text, "'section_name': 'tool',");
    assert_contains(text, "'plot_type': 'table',");
    assert_contains(text, "'id': 'covtools_tool_table',");
    assert_contains(text, "'description': 'Results, time and memory of tool 1.2.3.',");
    assert_contains(text, "'bases_per_second': {'title': 'Speed', "
                          "'description': 'bases per second', 'suffix': ' bp/s', "
                          "'format': '{:,.0f}', 'scale': 'Greens', 'hidden': false}");
    assert_contains(text, "'data': {'x': {'bases': 100, 'bases_per_second': 50, 'wall_seconds': 2, "
                          "'cpu_seconds': 3, 'threads': 4}}}");
    cov_stats_fini(&s);
}

TEST(prints_figures_in_a_table)
{
    struct cov_stats s = begin("tool --compare it");
    add(&s, NULL, (struct cov_stats_figure){"n", "Number", "how many", .value = 7});
    add(&s, "a", (struct cov_stats_figure){"r", .is_score = true, .value = 0.5});
    add(&s, "b", (struct cov_stats_figure){"r", .is_score = true, .value = (double)NAN});
    add(&s, "a", (struct cov_stats_figure){"q", .decimals = 3, .is_hidden = true, .value = 0.25});
    add(&s, "c/d (MB/s)", (struct cov_stats_figure){"r", .is_score = true, .value = 1});
    const char *text = print_multiqc(&s, "x"), *headers = must(strstr(text, "'headers'"));
    assert_contains(text, "'id': 'covtools_tool_compare_it',");
    assert_contains(headers, "'n': {'title': 'Number', ");
    const char *header =
        must(strstr(headers, "'r': {'title': 'r', 'description': '', 'format': '{:,.0f}', "
                             "'scale': 'RdYlGn', 'min': 0, 'max': 1, 'placement': 900, "
                             "'hidden': false"));
    assert_null(strstr(header + 1, "'r': {'title'")); /* only one header for two parts */
    assert_contains(headers, "'format': '{:,.3f}', 'scale': 'Blues', 'hidden': true");
    assert_contains(text, "'x': {'n': 7, 'wall_seconds': 0, 'cpu_seconds': 0, 'threads': 0}, "
                          "'x.a': {'r': 0.5, 'q': 0.25}, 'x.b': {}, "
                          "'x.c\xe2\x88\x95"
                          "d (MB\xe2\x88\x95s)': {'r': 1}}"); /* U+2215 */
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
    struct cov_stats s = begin(NULL);
    s.plot = &plot;
    s.more = &value;
    const char *text = print_plot(&s, "x");
    assert_contains(text, "'id': 'covtools_shape',");
    assert_contains(text, "'section_name': 'The shape',");
    assert_contains(text, "'plot_type': 'linegraph',");
    assert_contains(text, "'ylab': 'Height', 'xlab': 'Place', 'showlegend': true, "
                          "'tt_decimals': 3}, 'data': {'x': 0.25}");
    plot.type = COV_STATS_CELLS;
    plot.rows = "Row";
    text = print_plot(&s, "x.y");
    assert_contains(text, "'id': 'covtools_shape_x_y',");
    assert_contains(text, "'section_name': 'The shape: x.y',");
    assert_contains(text, "'plot_type': 'heatmap',");
    assert_contains(text,
                    "'xlab': 'Place', 'ylab': 'Row', 'zlab': 'Height', 'display_values': true, ");
    assert_contains(text, "'data': {'x.y': 0.25");
    plot.is_correlation = true;
    text = print_plot(&s, "x.y");
    assert_contains(text, "'zlab': 'Height', 'min': -1, 'max': 1, ");
    s.more = NULL;
    cov_stats_fini(&s);
}

/* Those of a file of shards are the sums over its shards. */
TEST(prints_time_and_memory_in_the_general_statistics)
{
    struct cov_stats s = begin("covpredict");
    s.place = COV_STATS_GENERAL_COSTS;
    s.wall_seconds = 2;
    s.shards = (struct cov_stats_shards){2, 100, 6, 5, 8, 4, 3000000};
    const char *text = print_multiqc(&s, "x");
    assert_contains(text, "'id': 'covtools_covpredict', 'namespace': 'covpredict', "
                          "'plot_type': 'generalstats', ");
    assert_contains(text, "'bases': {'title': 'covpredict: Bases', ");
    assert_contains(text, "'data': {'x': {'bases': 100, 'bases_per_second': 20, 'wall_seconds': 5, "
                          "'peak_rss_mb': 3, 'cpu_seconds': 8, 'threads': 4, 'chunks': 6}}");
    cov_stats_fini(&s);
}

static struct cov_stats compare(const char *const *parts, int n)
{
    struct cov_stats s = begin("tool --compare");
    s.place = COV_STATS_GENERAL_FIGURES;
    for (int i = 0; i < n; i++) {
        add(&s, parts[i], (struct cov_stats_figure){"r_1", "r, 1 bp", .bar = "1 bp", .value = 0.5});
        add(&s, parts[i],
            (struct cov_stats_figure){"r_9", "r, 9 bp", .bar = "9 bp", .value = (double)NAN});
        add(&s, parts[i], (struct cov_stats_figure){"f1", "F1", .value = 0.25});
    }
    return s;
}

static const char *const datasets[] = {"h3k4me3", "atac"}, *const everything[] = {NULL};

/* The runs of a sample share a row: the dataset at the end of its name is left out. */
TEST(prints_figures_in_the_general_statistics)
{
    static const struct {
        const char *sample, *row;
    } cases[] = {
        {"x.h3k4me3", "'x': {"},          {"x", "'x': {"},
        {"x.h3k4me3.y", "'x.h3k4me3.y'"}, {"xh3k4me3", "'xh3k4me3': {"},
        {"h3k4me3", "'h3k4me3': {"},      {".h3k4me3", "'.h3k4me3': {"},
    };
    struct cov_stats s = compare(datasets, 1);
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_contains(print_multiqc(&s, cases[i].sample), cases[i].row);
    const char *text = print_multiqc(&s, "x.h3k4me3");
    assert_contains(text, "'id': 'covtools_tool_compare_h3k4me3_1_bp_9_bp', ");
    assert_contains(text, "'h3k4me3_r_1': {'title': 'h3k4me3: r, 1 bp', ");
    assert_contains(text, "'title': 'h3k4me3: F1', " /* no score, but next to r */
                          "'description': '', 'format': '{:,.0f}', 'scale': 'Blues', "
                          "'placement': 900, ");
    assert_null(strstr(text, "wall_seconds"));
    assert_contains(text, "'x': {'h3k4me3_r_1': 0.5, 'h3k4me3_f1': 0.25}");
    cov_stats_fini(&s);

    s = compare(datasets, 2);
    text = print_multiqc(&s, "x.atac");
    assert_contains(text, "'id': 'covtools_tool_compare_h3k4me3_1_bp_9_bp_atac_1_bp_9_bp', ");
    assert_contains(text, "'x.atac': {'h3k4me3_r_1': 0.5, 'h3k4me3_f1': 0.25, 'atac_r_1': 0.5, "
                          "'atac_f1': 0.25}");
    cov_stats_fini(&s);

    s = compare(everything, 1);
    assert_contains(print_multiqc(&s, "x"), "'x': {'r_1': 0.5, ");
    cov_stats_fini(&s);
}

TEST(writes_a_plot)
{
    static const struct cov_stats_plot plot = {
        .name = "bars", .section = "Bars", .description = "Some bars.", .axis = "height"};
    static const char path[] = "plot/x.h3k4me3_mqc.json";
    struct cov_stats s = compare(datasets, 1);
    s.plot = &plot;
    const char *text = print_plot(&s, "x.h3k4me3");
    assert_contains(text, "'id': 'covtools_bars', ");
    assert_contains(text, "'section_name': 'Bars', 'description': 'Some bars.', "
                          "'plot_type': 'bargraph', 'pconfig': {'id': 'covtools_bars_bargraph', "
                          "'title': 'covtools: Bars', 'ylab': 'height', 'stacking': 'group', ");
    /* The figure for 9 bp has no value. */
    assert_contains(text, "'data': {'x.h3k4me3': {'1 bp': 0.5}}}");
    assert_int_equal(mkdir("plot", 0777), 0);
    assert_ok(cov_stats_write(&s, path, false, &e));
    assert_int_equal(count_files("plot"), 2);
    assert_contains(read_json("plot/x.h3k4me3.bars_mqc.json"), "'bargraph'");
    assert_int_equal(remove(path), 0);
    assert_fails_with(cov_stats_check(&s, path, false, &e), COV_EEXIST,
                      "--stats: plot/x.h3k4me3.bars_mqc.json: already exists; use -f to "
                      "replace it");
    assert_int_equal(cov_stats_write(&s, path, false, NULL), COV_EEXIST);
    assert_int_equal(count_files("plot"), 1);
    assert_ok(cov_stats_write(&s, "plot/x.json", false, &e));
    assert_int_equal(count_files("plot"), 2);
    cov_stats_fini(&s);

    s = compare(datasets, 2);
    s.plot = &plot;
    text = print_plot(&s, "x");
    assert_contains(text, "'x.h3k4me3': {");
    assert_contains(text, "'x.atac': {");
    cov_stats_fini(&s);

    s = compare(everything, 1);
    s.plot = &plot;
    assert_contains(print_plot(&s, "x"), "'x': {");
    cov_stats_fini(&s);
}

TEST_GROUP(enter_dir, leave_dir)
