/* hub.c - see track_jobs.h: files that open the tracks of a directory in genome browsers.
 *
 * hub.txt is an assembly hub of UCSC in one file; config.json the configuration of JBrowse 2, which
 * index.html, a page with igv.js, reads, too. They name the other files relative to themselves.
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/job/tracks/track_jobs.h"

static const struct hub_kind {
    const char *suffix, *ucsc;              /* the type of UCSC; NULL: it cannot read such a file */
    const char *track, *adapter, *location; /* of JBrowse */
} kinds[] = {
    {".bw", "bigWig", "QuantitativeTrack", "BigWigAdapter", "bigWigLocation"},
    {".bigWig", "bigWig", "QuantitativeTrack", "BigWigAdapter", "bigWigLocation"},
    {".bb", "bigBed", "FeatureTrack", "BigBedAdapter", "bigBedLocation"},
    {".bigBed", "bigBed", "FeatureTrack", "BigBedAdapter", "bigBedLocation"},
    {".narrowPeak", NULL, "FeatureTrack", "BedAdapter", "bedLocation"},
    {".broadPeak", NULL, "FeatureTrack", "BedAdapter", "bedLocation"},
    {".gappedPeak", NULL, "FeatureTrack", "BedAdapter", "bedLocation"},
    {".bed", NULL, "FeatureTrack", "BedAdapter", "bedLocation"},
    {".gff3", NULL, "FeatureTrack", "Gff3Adapter", "gffLocation"},
    {".gff", NULL, "FeatureTrack", "Gff3Adapter", "gffLocation"},
    {".gtf", NULL, "FeatureTrack", "GtfAdapter", "gtfLocation"},
};

/* Colours that colour-blind people can tell apart (Okabe and Ito), in the order of the tracks. */
static const unsigned colours[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};
enum { HEIGHT = 100, SHOWN_BASES = 1000000 };

/* A file of the directory. Strings are owned. */
struct hub_file {
    const struct hub_kind *kind;
    char *name, *label, *address; /* its name without suffix; its name in a URL */
};

struct hub {
    const struct cov_hub_target *target;
    struct hub_file *files; /* [n] */
    size_t n, cap, n_ucsc;
    char *bases; /* the address of the .2bit file; NULL: none. Owned */
    char *place; /* the first region to show. Owned */
};

/* ---------------------------------------------------------------- files */

/* Returns the name of a file in a URL. Caller frees. */
static char *address_of(const char *name, struct cov_err *e)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char *url = cov_malloc(3 * strlen(name) + 1, 1, e), *p = url;
    for (; url && *name; name++)
        p += snprintf(p, 4, strchr(plain, *name) ? "%c" : "%%%02X", (unsigned char)*name);
    if (url)
        *p = '\0';
    return url;
}

/* Returns the kind of a file, and sets *n to the length of its name without suffix. */
static const struct hub_kind *kind_of(const char *name, size_t *n)
{
    const size_t length = strlen(name), inner = cov_suffix_skip_gz(name, length);
    for (size_t i = 0; *name != '.' && i < COV_COUNT(kinds); i++) {
        *n = inner - strlen(kinds[i].suffix);
        if (inner > strlen(kinds[i].suffix) && (inner == length || !kinds[i].ucsc) &&
            strncasecmp(name + *n, kinds[i].suffix, inner - *n) == 0)
            return &kinds[i];
    }
    return NULL;
}

/* Adds a file of the directory, unless no browser reads it or it is there already. */
static int add_file(struct hub *h, const char *name, struct cov_err *e)
{
    size_t n;
    const struct hub_kind *kind = kind_of(name, &n);
    if (*name != '.' && cov_path_has_suffix(name, ".2bit")) {
        char *bases = address_of(name, e);
        if (!bases)
            return COV_ENOMEM;
        const bool is_first = !h->bases || strcmp(bases, h->bases) < 0;
        free(is_first ? h->bases : bases);
        h->bases = is_first ? bases : h->bases;
        return COV_OK;
    }
    for (size_t i = 0; kind && i < h->n; i++)
        if (strcmp(h->files[i].name, name) == 0)
            return COV_OK;
    int rc = kind ? COV_RESERVE(&h->files, &h->cap, h->n + 1, e) : COV_OK;
    if (rc || !kind)
        return rc;
    struct hub_file *file = &h->files[h->n++];
    *file =
        (struct hub_file){kind, cov_strdup(name, e), cov_strndup(name, n, e), address_of(name, e)};
    h->n_ucsc += kind->ucsc != NULL;
    return file->name && file->label && file->address ? COV_OK : COV_ENOMEM;
}

/* Signal and other files that UCSC reads come first. */
static int by_kind(const void *a, const void *b)
{
    const struct hub_file *x = a, *y = b;
    if (!x->kind->ucsc != !y->kind->ucsc)
        return x->kind->ucsc ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Lists the files that are in the directory, and those that will be. */
static int list_files(struct hub *h, struct cov_err *e)
{
    const struct cov_hub_target *t = h->target;
    DIR *dir = opendir(t->dir);
    if (!dir)
        return cov_fail_errno(e, "%s", t->dir);
    int rc = COV_OK;
    const struct dirent *entry;
    for (errno = 0; !rc && (entry = readdir(dir)); errno = 0)
        rc = add_file(h, entry->d_name, e);
    if (!rc && errno)
        rc = cov_fail_errno(e, "%s", t->dir);
    (void)closedir(dir);
    for (size_t i = 0; !rc && i < t->n_tracks; i++) {
        const char *slash = strrchr(t->tracks[i], '/');
        rc = add_file(h, slash ? slash + 1 : t->tracks[i], e);
    }
    if (!rc && h->n > 1)
        qsort(h->files, h->n, sizeof *h->files, by_kind);
    return rc;
}

/* ---------------------------------------------------------------- hub.txt */

/* Prints a line. A control character or a backslash would end it early or join it to the next one, and
 * UCSC may take other characters for HTML. */
static void put_line(FILE *f, const char *key, const char *name)
{
    (void)fprintf(f, "%s ", key);
    for (; *name; name++)
        (void)fputc((unsigned char)*name < ' ' || strchr("\x7f\\<>&\"", *name) ? '_' : *name, f);
    (void)fputc('\n', f);
}

static void print_hub(const void *arg, FILE *f)
{
    static const char *const labels[] = {"organism", "scientificName", "description"};
    const struct hub *h = arg;
    (void)fputs("hub covtools\n", f);
    put_line(f, "shortLabel", h->target->name);
    put_line(f, "longLabel", h->target->name);
    (void)fputs("useOneFile on\nemail nobody@localhost\n\ngenome genome_1\n", f);
    for (size_t i = 0; i < COV_COUNT(labels); i++)
        put_line(f, labels[i], h->target->name);
    put_line(f, "defaultPos", h->place);
    (void)fprintf(f, "twoBitPath %s\n", h->bases ? h->bases : "genome.2bit");
    for (size_t i = 0; i < h->n_ucsc; i++) {
        const struct hub_file *t = &h->files[i];
        const unsigned colour = colours[i % COV_COUNT(colours)];
        (void)fprintf(f, "\ntrack track_%zu\ntype %s\nbigDataUrl %s\n", i + 1, t->kind->ucsc,
                      t->address);
        put_line(f, "shortLabel", t->label);
        put_line(f, "longLabel", t->label);
        (void)fprintf(f,
                      "visibility full\nautoScale on\nmaxHeightPixels 200:%d:20\ncolor %u,%u,%u\n",
                      HEIGHT, colour >> 16, colour >> 8 & 0xff, colour & 0xff);
    }
}

/* ---------------------------------------------------------------- config.json */

static void put_adapter(struct cov_json *j, const char *type, const char *location, const char *uri)
{
    cov_json_begin_object(j, "adapter");
    cov_json_string(j, "type", type);
    cov_json_begin_object(j, location);
    cov_json_string(j, "uri", uri);
    cov_json_string(j, "locationType", "UriLocation");
    cov_json_end_object(j);
    cov_json_end_object(j);
}

static void put_assembly(struct cov_json *j, const struct hub *h)
{
    cov_json_begin_array(j, "assemblies");
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "name", h->target->name);
    cov_json_begin_object(j, "sequence");
    cov_json_string(j, "type", "ReferenceSequenceTrack");
    cov_json_string(j, "trackId", "sequence");
    if (h->bases)
        put_adapter(j, "TwoBitAdapter", "twoBitLocation", h->bases);
    else
        put_adapter(j, "ChromSizesAdapter", "chromSizesLocation", "chrom.sizes");
    cov_json_end_object(j);
    cov_json_end_object(j);
    cov_json_end_array(j);
}

/* Height and colour of the signal of track number `i`. */
static void put_display(struct cov_json *j, size_t i)
{
    char id[32], colour[8];
    (void)snprintf(id, sizeof id, "display_%zu", i + 1);
    (void)snprintf(colour, sizeof colour, "#%06x", colours[i % COV_COUNT(colours)]);
    cov_json_begin_array(j, "displays");
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "type", "LinearWiggleDisplay");
    cov_json_string(j, "displayId", id);
    cov_json_int(j, "height", HEIGHT);
    cov_json_begin_object(j, "renderers");
    cov_json_begin_object(j, "XYPlotRenderer");
    cov_json_string(j, "type", "XYPlotRenderer");
    cov_json_string(j, "color", colour);
    cov_json_end_object(j);
    cov_json_end_object(j);
    cov_json_end_object(j);
    cov_json_end_array(j);
}

static void put_track(struct cov_json *j, const struct hub *h, size_t i)
{
    const struct hub_file *t = &h->files[i];
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "type", t->kind->track);
    cov_json_string(j, "trackId", t->name);
    cov_json_string(j, "name", t->label);
    cov_json_begin_array(j, "assemblyNames");
    cov_json_string(j, NULL, h->target->name);
    cov_json_end_array(j);
    put_adapter(j, t->kind->adapter, t->kind->location, t->address);
    if (strcmp(t->kind->track, "QuantitativeTrack") == 0)
        put_display(j, i);
    cov_json_end_object(j);
}

/* What is shown first: all tracks, at the start of the longest sequence. */
static void put_session(struct cov_json *j, const struct hub *h)
{
    cov_json_begin_object(j, "defaultSession");
    cov_json_string(j, "name", h->target->name);
    cov_json_begin_array(j, "views");
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "id", "view");
    cov_json_string(j, "type", "LinearGenomeView");
    cov_json_begin_object(j, "init");
    cov_json_string(j, "assembly", h->target->name);
    cov_json_string(j, "loc", h->place);
    cov_json_begin_array(j, "tracks");
    for (size_t i = 0; i < h->n; i++)
        cov_json_string(j, NULL, h->files[i].name);
    cov_json_end_array(j);
    cov_json_end_object(j);
    cov_json_end_object(j);
    cov_json_end_array(j);
    cov_json_end_object(j);
}

static void print_config(const void *arg, FILE *f)
{
    const struct hub *h = arg;
    struct cov_json j;
    cov_json_init(&j, f);
    cov_json_begin_object(&j, NULL);
    put_assembly(&j, h);
    cov_json_begin_array(&j, "tracks");
    for (size_t i = 0; i < h->n; i++)
        put_track(&j, h, i);
    cov_json_end_array(&j);
    put_session(&j, h);
    cov_json_end_object(&j);
}

/* ---------------------------------------------------------------- index.html, chrom.sizes */

static void put_attribute(FILE *f, const char *text)
{
    for (; *text; text++)
        if (strchr("&<>\"", *text))
            (void)fprintf(f, "&#%d;", *text);
        else
            (void)fputc(*text, f);
}

static void print_page(const void *arg, FILE *f)
{
    static const char script[] = /* igv.js takes names for HTML */
        "async function show(place) {\n"
        "    if (!window.igv)\n"
        "        throw new Error(`igv.js is missing: ${document.querySelector(\"script\").src}`);\n"
        "    const uri = adapter => Object.values(adapter).find(x => x.uri).uri;\n"
        "    const text = name => name.replace(/[&<]/g, c => `&#${c.charCodeAt(0)};`);\n"
        "    const config = await (await fetch(\"config.json\")).json();\n"
        "    const {name: id, sequence: {adapter}} = config.assemblies[0];\n"
        "    const bases = adapter.type === \"TwoBitAdapter\" ? {twoBitURL: uri(adapter)}\n"
        "        : {format: \"chromsizes\", fastaURL: uri(adapter)};\n"
        "    const tracks = config.tracks.map(({name, adapter, displays: [d] = []}) =>\n"
        "        ({name: text(name), url: uri(adapter), height: d?.height,\n"
        "          color: d?.renderers.XYPlotRenderer.color}));\n"
        "    await igv.createBrowser(place, {tracks, loadDefaultGenomes: false,\n"
        "        reference: {id, name: text(id), ...bases},\n"
        "        locus: config.defaultSession.views[0].init.loc});\n"
        "}\n"
        "const place = document.querySelector(\"div\");\n"
        "show(place).catch(error => { place.textContent = error.message; });\n";
    const struct hub *h = arg;
    (void)fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>", f);
    put_attribute(f, h->target->name);
    (void)fputs("</title>\n<div></div>\n<script src=\"", f);
    put_attribute(f, h->target->igv);
    (void)fprintf(f, "\"></script>\n<script>\n%s</script>\n", script);
}

static void print_sizes(const void *arg, FILE *f)
{
    const struct cov_track_sink *s = ((const struct hub *)arg)->target->sink;
    for (size_t i = 0; i < cov_track_n_contigs(s); i++)
        (void)fprintf(f, "%s\t%" PRId64 "\n", cov_track_contig_name(s, i),
                      cov_track_contig_length(s, i));
}

/* ---------------------------------------------------------------- all of it */

static const struct {
    const char *name;
    cov_table_fn *print;
} outputs[COV_HUB_FILES] = {{"hub.txt", print_hub},
                            {"config.json", print_config},
                            {"index.html", print_page},
                            {"chrom.sizes", print_sizes}};

/* The start of the longest sequence. */
static char *first_place(const struct cov_track_sink *s, struct cov_err *e)
{
    size_t longest = 0;
    for (size_t i = 1; i < cov_track_n_contigs(s); i++)
        if (cov_track_contig_length(s, i) > cov_track_contig_length(s, longest))
            longest = i;
    if (cov_track_n_contigs(s) == 0)
        return cov_strdup("all", e);
    const int64_t length = cov_track_contig_length(s, longest);
    return cov_strfmt(e, "%s:1-%" PRId64, cov_track_contig_name(s, longest),
                      length < SHOWN_BASES ? length : SHOWN_BASES);
}

int cov_hub_begin(struct cov_outfile files[COV_HUB_FILES], const char *dir, bool force,
                  struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_HUB_FILES; i++) {
        char *path = cov_path_join(dir, outputs[i].name, e);
        rc = path ? cov_outfile_begin(&files[i], path, COV_OUTFILE_BESIDE, force, e) : COV_ENOMEM;
        free(path);
    }
    return rc;
}

int cov_hub_write(const struct cov_outfile files[COV_HUB_FILES],
                  const struct cov_hub_target *target, struct cov_err *e)
{
    struct hub h = {.target = target, .place = first_place(target->sink, e)};
    int rc = h.place ? list_files(&h, e) : COV_ENOMEM;
    for (size_t i = 0; !rc && i < COV_HUB_FILES; i++)
        rc = cov_table_write(&files[i], NULL, outputs[i].print, &h, e);
    if (!rc && h.n > h.n_ucsc)
        cov_info("%s: hub.txt lacks %zu of %zu files: UCSC reads bigWig and bigBed", target->dir,
                 h.n - h.n_ucsc, h.n);
    if (!rc && !h.bases)
        cov_info("%s: no .2bit file of the bases, which UCSC needs: faToTwoBit makes one",
                 target->dir);
    for (size_t i = 0; i < h.n; i++) {
        free(h.files[i].name);
        free(h.files[i].label);
        free(h.files[i].address);
    }
    free(h.files);
    free(h.bases);
    free(h.place);
    return rc;
}
