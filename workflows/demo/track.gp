# track.gp - the picture of the demo: a region of the predicted track, and what it should show.
#
#   gnuplot -e "region='chr1'; beg=150000; end=200000; folder='build/demo'" track.gp
#
# reads folder/plot/{predicted,count,island,repeat,gap}.tsv, whose columns are bounds in bases, and a value.
# SPDX-License-Identifier: MIT

set terminal pngcairo size 1000,500 font "DejaVu Sans,11" enhanced
set output folder.'/track.png'

kbp = 1000.0
set multiplot
set lmargin at screen 0.085
set rmargin at screen 0.965
set xrange [beg / kbp : end / kbp]
set border 3 lw 1.2 lc rgb '#666666'
set tics nomirror out scale 0.6 textcolor rgb '#333333'
set style fill solid 1.0 noborder
unset key
file(name) = folder.'/plot/'.name.'.tsv'

# The predicted track.
set tmargin at screen 0.865
set bmargin at screen 0.545
set label 1 at screen 0.085, 0.952 left font "DejaVu Sans,14" textcolor rgb '#222222' \
    sprintf("A predicted track, and the CpG it was predicted from: %s, %.0f–%.0f kb", region, beg / kbp, end / kbp)
set label 2 at graph 0, 1.09 left textcolor rgb '#1f5fa8' \
    "covpredict → cov2bigwig: predicted coverage, average of both strands"
set ylabel "reads per base" offset 0.5 textcolor rgb '#333333'
set yrange [0 : *]
set format x ""
set ytics 25
set grid ytics lw 0.6 lc rgb '#dddddd'
plot file('predicted') using ($1 / kbp):3 with filledcurves y1=0 lc rgb '#2f7fd1'

# What is there.
unset label
unset ylabel
unset grid
set tmargin at screen 0.515
set bmargin at screen 0.455
unset border
unset tics
set yrange [0 : 1]
set label 3 at screen 0.078, 0.485 right "genome" textcolor rgb '#333333'
set object 1 rectangle from graph 0, 0.45 to graph 1, 0.55 fc rgb '#dddddd' fs solid noborder behind
plot file('repeat') using ($1 / kbp):(0.5):($1 / kbp):($2 / kbp):(0.1):(0.9) with boxxyerror lc rgb '#b9a98c', \
     file('island') using ($1 / kbp):(0.5):($1 / kbp):($2 / kbp):(0.1):(0.9) with boxxyerror lc rgb '#3f9d5a', \
     file('gap') using ($1 / kbp):(0.5):($1 / kbp):($2 / kbp):(0.1):(0.9) with boxxyerror lc rgb '#444444'

# The same counted from the letters.
unset label
unset object
set border 3 lw 1.2 lc rgb '#666666'
set tmargin at screen 0.40
set bmargin at screen 0.135
set label 4 at graph 0, 1.10 left textcolor rgb '#b4501e' \
    "counted in the FASTA by awk: CpG within 100 bases"
set label 5 at screen 0.085, 0.028 left textcolor rgb '#666666' font "DejaVu Sans,10" \
    "The demo's network is set by hand so that coverage is 2^{n/4} for n CpG within 100 bases: it doubles with every 4."
set label 6 at screen 0.692, 0.431 left "■" textcolor rgb '#3f9d5a'
set label 7 at screen 0.708, 0.431 left "GC-rich" textcolor rgb '#666666' font "DejaVu Sans,9"
set label 8 at screen 0.773, 0.431 left "■" textcolor rgb '#b9a98c'
set label 9 at screen 0.789, 0.431 left "repeat (lower case)" textcolor rgb '#666666' font "DejaVu Sans,9"
set label 10 at screen 0.936, 0.431 left "■" textcolor rgb '#444444'
set label 11 at screen 0.952, 0.431 left "N" textcolor rgb '#666666' font "DejaVu Sans,9"
set ylabel "CpG" offset 0.5 textcolor rgb '#333333'
set yrange [0 : *]
set xtics autofreq
set ytics 10
set format x "%.0f kb"
set tics nomirror out scale 0.6 textcolor rgb '#333333'
set grid ytics lw 0.6 lc rgb '#dddddd'
plot file('count') using ($1 / kbp):3 with filledcurves y1=0 lc rgb '#e07b39'
unset multiplot
