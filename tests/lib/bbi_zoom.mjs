// Reads each zoom level of bigWigs with GMOD's bbi-js and compares its windows with those computed from a
// bedGraph: SHARED=DIRECTORY node bbi_zoom.mjs CHR FILE.bw FILE.bedGraph ... Prints, for each file, its levels
// and windows, or the fault.
// SPDX-License-Identifier: MIT
import fs from 'fs';
import { createRequire } from 'module';

const reader = fs.realpathSync(`${process.env.SHARED}/tools/bbi-js/read.mjs`);
const { BigWig } = createRequire(reader)('@gmod/bbi');
const [chr, ...files] = process.argv.slice(2);

// Returns the windows of a level, with statistics of the bases in each window that have a value.
function makeWindows(intervals, reduction) {
  const windows = new Map();
  for (const [beg, end, value] of intervals)
    for (let at = beg; at < end;) {
      const number = Math.floor(at / reduction), stop = Math.min(end, (number + 1) * reduction);
      const w = windows.get(number) ?? { start: at, n: 0, sum: 0, min: Infinity, max: -Infinity };
      w.end = stop;
      w.n += stop - at;
      w.sum += (stop - at) * value;
      w.min = Math.min(w.min, value);
      w.max = Math.max(w.max, value);
      windows.set(number, w);
      at = stop;
    }
  return [...windows.values()];
}

function compare(got, wanted) {
  if (got.length !== wanted.length) return `${got.length} windows instead of ${wanted.length}`;
  for (let i = 0; i < got.length; i++) {
    const g = got[i], w = wanted[i], mean = w.sum / w.n;
    const near = Math.abs(g.score - mean) <= 1e-5 * Math.max(Math.abs(w.min), Math.abs(w.max));
    if (g.start !== w.start || g.end !== w.end || g.minScore !== w.min || g.maxScore !== w.max || !near)
      return `${JSON.stringify(g)} instead of ${JSON.stringify({ ...w, mean })}`;
  }
  return null;
}

for (let i = 0; i < files.length; i += 2) {
  const intervals = fs.readFileSync(files[i + 1], 'utf8').split('\n').map((l) => l.split('\t'))
    .filter((f) => f[0] === chr).map((f) => f.slice(1).map(Number));
  const bw = new BigWig({ path: files[i] });
  const levels = (await bw.getHeader()).zoomLevels.map((z) => z.reductionLevel);
  let n = 0, wrong = null;
  for (const reduction of levels) {
    // The reader uses the coarsest level of at most twice the requested scale.
    const got = await bw.getFeatures(chr, 0, 2 ** 31, { basesPerSpan: reduction / 2 });
    wrong ??= compare(got, makeWindows(intervals, reduction));
    n += got.length;
  }
  console.log(`${files[i]}: ${wrong ?? `${levels.length} levels, ${n} windows`}`);
}
