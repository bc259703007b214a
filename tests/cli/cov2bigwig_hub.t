#!/bin/sh
# cov2bigwig --hub: what it writes for genome browsers, for files with odd names, and igv.js that reads it.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/track_check.py"

make_input pred p.h5 datasets=atacseq,h3k4me3 names=chr2,chr1 length=500 max_length=3000
make_input pred s.h5 datasets=atacseq names=chr2,chr1 length=500 max_length=3000

cat >expect.py <<'END'
import html.parser, json, os, re, sys, urllib.parse
folder, genome, igv, bases, *names = sys.argv[1:]
def text(name):
    return open(os.path.join(folder, name), encoding="utf-8").read()
suffix = re.compile(r"\.(bw|bb|bed|narrowPeak|gff3|gtf)(\.gz)?$")
of_file = {name: suffix.sub("", name) for name in names}
def exists(url):
    path = urllib.parse.unquote(url)
    assert re.fullmatch(r"[-.~\w%]+", url, re.A) and os.path.isfile(os.path.join(folder, path)), url
    return path

sizes = dict(line.split("\t") for line in text("chrom.sizes").splitlines())
longest = max(sizes, key=lambda name: int(sizes[name]))
place = f"{longest}:1-{sizes[longest]}"

config = json.loads(text("config.json"))
assembly, = config["assemblies"]
assert assembly["name"] == genome
adapter = assembly["sequence"]["adapter"]
key, kind = ("twoBitLocation", "TwoBitAdapter") if bases else ("chromSizesLocation", "ChromSizesAdapter")
assert adapter["type"] == kind and exists(adapter[key]["uri"]) == (bases or "chrom.sizes"), adapter
adapters = {".bw": "BigWig", ".bb": "BigBed", ".bed": "Bed", ".narrowPeak": "Bed", ".gff3": "Gff3", ".gtf": "Gtf"}
tracks = {}
for t in config["tracks"]:
    location, = (x for x in t["adapter"].values() if isinstance(x, dict))
    name = exists(location["uri"])
    assert t["adapter"]["type"] == adapters["." + suffix.search(name)[1]] + "Adapter", t
    assert (t["type"] == "QuantitativeTrack") == name.endswith(".bw") == ("displays" in t), t
    assert t["assemblyNames"] == [genome] and t["trackId"] == name, t
    tracks[name] = t
assert {name: t["name"] for name, t in tracks.items()} == of_file, tracks
view = config["defaultSession"]["views"][0]["init"]
assert view == {"assembly": genome, "loc": place, "tracks": list(tracks)}, view

head, assembly, *blocks = [dict(line.split(" ", 1) for line in block.splitlines()) for block in text("hub.txt").split("\n\n")]
assert head["useOneFile"] == "on" and head["email"] and head["shortLabel"] and head["longLabel"], head
assert assembly["defaultPos"] == place and urllib.parse.unquote(assembly["twoBitPath"]) == (bases or "genome.2bit")
plain = re.compile(r'[\x00-\x1f\x7f\\<>&"]')
assert [(exists(b["bigDataUrl"]), b["type"], b["longLabel"]) for b in blocks] == [
    (name, "bigWig" if name.endswith(".bw") else "bigBed", plain.sub("_", of_file[name]))
    for name in tracks if name.endswith((".bw", ".bb"))], blocks
assert len({b["track"] for b in blocks}) == len(blocks) and all(re.fullmatch(r"\w+", b["track"], re.A) for b in blocks)

class Page(html.parser.HTMLParser):
    found, title, tag = [], "", ""
    def handle_starttag(self, tag, attrs):
        self.tag = tag
        self.found += [tag] + [v for k, v in attrs if k == "src"]
    def handle_data(self, data):
        self.title += data.strip("\n") if self.tag == "title" else ""
page = Page()
page.feed(text("index.html"))
assert page.found == ["meta", "title", "div", "script", igv, "script"] and page.title == genome, (page.found, page.title)
END
hub_is() { # NAME FOLDER GENOME IGV BASES FILE...
    what=$1
    shift
    ok "$what" "$PYTHON" expect.py "$@"
}

run_ok 'a hub' cov2bigwig --hub hub/ p.h5
stderr_like '^cov2bigwig: hub/: no \.2bit file of the bases' '  a message says what UCSC needs'
hub_is '  shows the tracks' hub p igv.min.js '' p_atacseq_avg_strand.bw p_h3k4me3_avg_strand.bw
check_track p.h5 hub/p_atacseq_avg_strand.bw '  which are those of -o' dataset=atacseq
cp -r hub before
refuses 1 'hub/(hub\.txt|p_atacseq_avg_strand\.bw): already exists; use -f' 'a hub that is there' --hub hub/ p.h5
refuses 1 'hub/hub\.txt: already exists; use -f' '  also with other tracks' --hub hub/ s.h5
ok '  stays' diff -r before hub

# Names with what is special in JSON, HTML, URLs and hub.txt.
odd="a & <b>\"x\"</b> 50%+#?=1\\ü$(printf '\t')"
odd=$(printf '%s' "$odd" | tr / _)
printf 'chr1\t1\t9\tx\t1\t.\t1\t-1\t-1\t2\n' >"hub/$odd.narrowPeak"
printf 'chr1\ta\tgene\t1\t9\t.\t+\t.\tID=a\n' | gzip >hub/genes.gff3.gz
cp hub/p_atacseq_avg_strand.bw "hub/$odd.bw"
for file in peaks.bb x.gtf y.bed genome.2bit other.2bit notes.txt .hidden.bw z.bw.gz .bw; do
    : >"hub/$file"
done
run_ok 'a directory with other files' cov2bigwig -f --basename "$odd" --igv 'https://a.b/igv.js?v="3"&x=<1>' --hub hub s.h5
stderr_is 'cov2bigwig: hub: hub.txt lacks 4 of 9 files: UCSC reads bigWig and bigBed' '  a message says what UCSC cannot read'
hub_is '  shows them, too' hub "$odd" 'https://a.b/igv.js?v="3"&x=<1>' genome.2bit p_atacseq_avg_strand.bw \
    p_h3k4me3_avg_strand.bw "${odd}_atacseq_avg_strand.bw" "$odd.bw" peaks.bb "$odd.narrowPeak" genes.gff3.gz x.gtf y.bed
is "$(find hub -name '.*.covtools*')" '' '  and leaves no temporary file'
run sh -c 'h5chunk cat -q s.h5 | cov2bigwig -q --basename p --hub stream/ -'
hub_is 'a hub of a stream' stream p igv.min.js '' p_atacseq_avg_strand.bw

refuses 2 '--hub and -o cannot be used together$' '--hub with -o' --hub x/ -o y/ p.h5
refuses 2 '--igv needs --hub$' '--igv without --hub' --igv x.js -o x/ p.h5
refuses 2 '--hub needs the format bigwig$' 'a hub of bedGraph' --hub x/ --format bedgraph p.h5
refuses 2 '--hub new: not a directory; end a new one in ./.$' 'a directory without a slash' --hub new p.h5
refuses 2 '--hub -: not a directory; ' '  standard output' --hub - p.h5
refuses 2 '--hub is for tracks; --measured writes a table$' '--hub with --measured' --hub x/ --measured s.h5 p.h5
mkdir -p blocked/config.json
run_refused 1 'blocked/config\.json: ' 'a name that is taken' cov2bigwig --hub blocked/ -f p.h5
is "$(ls blocked)" config.json '  leaves nothing'

if ! [ -d "$SHARED/tools/igv" ] || ! command -v chromium >/dev/null; then
    pass 'igv.js shows it # SKIP no igv.js or chromium'
    done_testing
fi
cp "$SHARED/tools/igv/igv.min.js" stream/
printf 'chr1\t1\t9\tx\t1\t.\t1\t-1\t-1\t2\n' >"stream/$odd.narrowPeak"
cov2bigwig -q -f --basename p --hub stream/ s.h5 || exit 99
cat >stream/frame.html <<'END'
<!DOCTYPE html>
<iframe src="index.html" width="1000" height="600"></iframe>
<script>
async function labels() {
    for (;;) {
        const root = document.querySelector("iframe").contentDocument.querySelector("div")?.shadowRoot;
        const found = [...(root?.querySelectorAll(".igv-track-label") ?? [])].map(x => x.textContent);
        if (found.length >= 2)
            return found;
        await new Promise(done => setTimeout(done, 100));
    }
}
labels().then(found => fetch("/labels", {method: "POST", body: found.join("\n") + "\n"}));
</script>
END
cat >serve.py <<'END'
import functools, http.server, subprocess, threading
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_POST(self):
        open("labels", "wb").write(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_error(404)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory="stream"))
threading.Thread(target=server.serve_forever, daemon=True).start()
page = f"http://127.0.0.1:{server.server_port}/frame.html"
subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=home",
                "--virtual-time-budget=20000", "--screenshot=shot.png", page], stderr=subprocess.DEVNULL)
END
"$PYTHON" serve.py
is "$(sort labels)" "$(printf '%s\n' p_atacseq_avg_strand "$odd" | sort)" 'igv.js shows it, with its names'
done_testing
