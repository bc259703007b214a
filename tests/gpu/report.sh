#!/bin/sh
# report.sh - builds, checks and measures the GPU kernels, and writes all results into one report. Needs a card, CUDA, make,
# and compilers for C and C++; compares with PyTorch if there is one.
#   report.sh [--until SECONDS] [--part NAME[,NAME]...] [--no-build] [DIRECTORY]
#   --until  end within this time (570); the limits of parts are scaled
#   --part   run only these parts, or those whose names start with NAME-: build (runs except with --no-build), check, bench,
#            train, edits, variants, wgmma, cublas, ncu, torch, memcheck, synccheck, racecheck
#   --no-build  use the programs of an earlier build, for example on another machine
#   DIRECTORY   of report.txt and of all.log, the output of all parts (build/gpu/report)
# The most important parts come first. Each has a time limit. Parts that no longer fit are reported as not run. Both files
# are written again every few seconds, and when a part ends, so that they are useful even if the script is killed.
# Exit status: 0 if no part failed or was ended at its limit, otherwise 1; 2 for wrong arguments.
# Environment: NVCC, CC, CXX, PYTHON, CUDA_ARCHS as for make; COMMIT, if the sources are not a git clone; SECONDS_EACH per
# measurement (2).
# SPDX-License-Identifier: MIT

usage() { # TEXT
    echo "report.sh: error: $1" >&2
    exit 2
}

now() {
    date +%s
}

beg=$(now)
until=570 only='' build=true out=build/gpu/report each=${SECONDS_EACH:-2}
while [ $# -gt 0 ]; do
    case $1 in
    --until | --part) [ $# -gt 1 ] || usage "$1: needs a value" ;;
    esac
    case $1 in
    --until)
        case $2 in
        '' | *[!0-9]*) usage "--until: '$2' is not a number of seconds" ;;
        esac
        until=$2
        shift
        ;;
    --part)
        only=$only,$2
        shift
        ;;
    --no-build) build=false ;;
    -*) usage "unknown option '$1'" ;;
    *) out=$1 ;;
    esac
    shift
done
only=$(echo "$only" | tr ',' ' ')
for name in $only; do
    case ${name%%-*} in
    build | check | bench | train | edits | variants | wgmma | cublas | ncu | torch | memcheck | racecheck | synccheck) ;;
    *) usage "--part: unknown part '$name'" ;;
    esac
done
mkdir -p "$out" && out=$(cd "$out" && pwd) && cd "$(dirname "$0")/../.." || exit 1
# The log of a part, NAME.log, is complete when NAME.log.status exists.
parts=$PWD/build/gpu/parts
rm -rf "$parts" && mkdir -p "$parts" || exit 1
end=$((beg + until - 5)) # leaves time to end parts and to write the report
running='' sampler='' result='' n_failed=0

# ---- the report ----

# Messages of a failed part.
messages() { # NAME
    sed 1d "$parts/$1.log" | grep -E '^not ok|: off by|^Bail out|[Ee]rror|ERROR|^========='
}

# The messages of each failed part, or the end of its output.
print_failures() {
    sed -n 's/^FAIL *\([^ ]*\) .*/\1/p' "$parts/results" | while read -r name; do
        echo "$name:"
        messages "$name" | head -n 12 | grep . || sed 1d "$parts/$name.log" | tail -n 5
    done
}

logs_of_rates() {
    cat "$parts"/bench-*.log "$parts"/train-*.log "$parts"/edits-*.log "$parts"/variants-*.log "$parts"/torch-*.log 2>/dev/null
}

# Rates, and PyTorch's next to ours in the same or, for fp16, in a similar precision.
print_rates() {
    logs_of_rates | awk '
    /^[a-z]+ [a-z0-9]+ batch [0-9]+.*:/ && !/^layers / {
        print
        if ($4 ~ /:$/ && $6 == "chunks/s")
            ours[$1, $2, $4 + 0] = $5
    }
    /^PyTorch [0-9]/ && !version++ { print }
    /^PyTorch (forward|training) / {
        precision = $3 == "fp16" ? "bf16" : $3
        own = ours[$2, precision, $5 + 0]
        if (own && $8 == "chunks/s" && $7 > 0)
            $0 = $0 sprintf("; covtools %s %.1f: %.2f times as fast", precision, own, own / $7)
        print
    }'
}

# Tables in Markdown, with the median, lowest and highest rates: of the plugin and PyTorch, of variants of the plugin, and of
# the layers of a batch of 256.
print_tables() {
    logs_of_rates | awk -v card="$(sed -n 's/^card: \([^,]*\).*/\1/p' "$parts/machine")" '
    function thousands(n) {
        n = sprintf("%.0f", n)
        return length(n) > 3 ? substr(n, 1, length(n) - 3) "," substr(n, length(n) - 2) : n
    }
    function rate(v) { return v > 0 ? thousands(v) : "" }
    function named(what) { return what == "forward" ? "predict" : what == "training" ? "train" : what }
    /^(PyTorch )?[a-z]+ [a-z0-9]+ batch [0-9]+[^:]*: [0-9.]+ [A-Za-z]+\/s/ {
        peer = sub(/^PyTorch /, "")
        at = index($0, ": ")
        name = substr($0, 1, at - 1)
        split(substr($0, at + 2), v, /[ (]+/)
        of = name
        sub(/,.*/, "", of)
        variant = substr(name, length(of) + 3)
        if (peer)
            torch[of, variant] = v[1]
        else if (variant == "" && v[2] == "chunks/s")
            ours[of] = v[1]
        if (!peer) {
            row[++n] = name
            median[name] = v[1]
            spread[name] = sprintf("%s (%s to %s)", thousands(v[1]), thousands(v[3]), thousands(v[5]))
            if (v[2] != "chunks/s")
                spread[name] = spread[name] " " v[2]
        }
    }
    END {
        printf "| %s | batch | covtools, chunks/s | PyTorch | torch.compile | times as fast as the faster |\n", card
        print "|---|---|---|---|---|---|"
        for (i = 1; i <= n; i++)
            if (row[i] in ours) {
                split(row[i], w, " ")
                eager = torch[row[i], "eager"] + 0
                compiled = torch[row[i], "compiled"] + 0
                best = eager > compiled ? eager : compiled
                printf "| %s, %s | %s | %s | %s | %s | %s |\n", named(w[1]), w[2], w[4], spread[row[i]], rate(eager), rate(compiled),
                    (best ? sprintf("%.2f", median[row[i]] / best) : "")
            }
        printf "\n| %s | batch | chunks/s | of the usual |\n|---|---|---|---|\n", card
        for (i = 1; i <= n; i++)
            if (!(row[i] in ours)) {
                of = row[i]
                sub(/,.*/, "", of)
                split(of, w, " ")
                printf "| %s, %s%s | %s | %s | %s |\n", named(w[1]), w[2], substr(row[i], length(of) + 1), w[4], spread[row[i]],
                    (ours[of] > 0 ? sprintf("%.0f %%", 100 * median[row[i]] / ours[of]) : "")
            }
    }'
    cat "$parts"/bench-*.log 2>/dev/null | awk '
    /^layers / {
        wanted = $4 + 0 == 256
        recurrent = 0
        if (wanted)
            precision[++n] = $2
    }
    /^  layer / && wanted {
        name = $0
        sub(/^  layer [0-9]+ /, "", name)
        sub(/ +[0-9.]+ ms, limit .*/, "", name)
        if (name == "convolution")
            name = recurrent ? "transposed convolutions" : "convolutions"
        else if (name == "gates of an LSTM")
            name = "sums over x of both LSTMs"
        else if (name == "steps of an LSTM") {
            recurrent = 1
            name = "steps of both LSTMs"
        }
        if (!(name in known)) {
            known[name] = 1
            row[++rows] = name
        }
        match($0, /[0-9.]+ ms, limit +/)
        ms[name, n] += substr($0, RSTART)
        limit[name, n] += substr($0, RSTART + RLENGTH)
    }
    END {
        if (!n)
            exit
        printf "\n| ms"
        for (i = 1; i <= n; i++)
            printf " | %s | limit", precision[i]
        printf " |\n|---"
        for (i = 1; i <= n; i++)
            printf "|---|---"
        print "|"
        for (r = 1; r <= rows; r++) {
            printf "| %s", row[r]
            for (i = 1; i <= n; i++)
                printf " | %.2f | %.2f", ms[row[r], i], limit[row[r], i]
            print " |"
        }
    }'
}

# A line per launch from the output of ncu.
print_launches() {
    cat "$parts"/ncu-*.log 2>/dev/null | awk '
    function launch() {
        if (kernel)
            printf "  %-44s %9s, SM %s %%, memory %s %%, occupancy %s %%, %s registers\n", kernel, time, sm, memory, occupancy, registers
        kernel = ""
    }
    /^== ncu/ { launch(); print $2 }
    /^ +[^ ].*, Context [0-9]+, Stream / {
        launch()
        kernel = $0
        sub(/ \([0-9]+, [0-9]+, [0-9]+\)x\(.*/, "", kernel)
        sub(/^ +(void )?/, "", kernel)
        if (!sub(/>\(.*/, ">", kernel))
            sub(/\(.*/, "", kernel)
        time = sm = memory = occupancy = registers = "?"
    }
    / Duration / { time = $NF " " $(NF - 1) }
    / Compute \(SM\) Throughput / { sm = $NF }
    / Memory Throughput +% / { memory = $NF }
    / Achieved Occupancy / { occupancy = $NF }
    / Registers Per Thread / { registers = $NF }
    END { launch() }'
}

names_of_running() {
    echo "$running" | sed 's/:[0-9:]*//g'
}
count() { # RESULT
    grep -c "^$1 " "$parts/results"
}
print_report() {
    echo "covtools on a GPU: ${result:-unfinished}${running:+; running:$(names_of_running)}"
    echo "$(($(now) - beg)) of $until s; $(count ok) parts ok, $(count FAIL) failed, $(count skip) not possible here," \
        "$(count 'not run') not run"
    cat "$parts/machine"
    echo
    echo '== parts'
    cat "$parts/results"
    [ "$n_failed" -eq 0 ] || {
        echo
        echo '== failures'
        print_failures
    }
    echo
    echo '== rounding errors'
    sed -n 's/^# \(.*: off by .*\)/\1/p; s/^# \(.*: 1 - cosine .*\)/\1/p' "$parts"/check-*.log "$parts"/edits-*.log \
        2>/dev/null
    echo
    echo '== layers (other precisions: all.log)'
    sed -n '/^layers /p; /^  layer /p; /^  all /p' "$parts/bench-bf16.log" 2>/dev/null
    for p in bf16 tf32; do
        sed -n "s/^  layer .* gates of an LSTM .*/$p&/p" "$parts/bench-$p.log"
        sed -n "s/^  layer .* gates of an LSTM .*/$p, cuBLAS&/p" "$parts/cublas-$p.log"
        sed -n "s/^  layer .*\(convolution\|gates of an LSTM\) .*/$p, COVTOOLS_WGMMA=yes&/p" "$parts/wgmma-$p.log"
    done 2>/dev/null
    echo
    echo '== chunks/s'
    print_rates
    echo
    echo '== kernels in ncu'
    print_launches
    echo
    echo '== to paste'
    print_tables
}

# Replaces both files.
write_report() {
    print_report >"$out/.report.txt" && mv "$out/.report.txt" "$out/report.txt"
    {
        cat "$parts/machine.log"
        sed "s|.*|$parts/&.log|" "$parts/order" | xargs -r cat
    } >"$out/.all.log" && mv "$out/.all.log" "$out/all.log"
    written=$(now)
}

# ---- parts ----

note() { # RESULT NAME SECONDS MORE
    printf '%-7s %-24s %4s s  %s\n' "$@" | sed 's/ *$//' | tee -a "$parts/results"
    [ "$1" != FAIL ] || n_failed=$((n_failed + 1))
}

wanted() { # NAME
    [ -n "$only" ] || return 0
    for prefix in build $only; do
        case $1 in
        "$prefix" | "$prefix"-*) return 0 ;;
        esac
    done
    return 1
}

n_samples() {
    if [ -s "$parts/clocks" ]; then grep -c '' "$parts/clocks"; else echo 0; fi
}

skip() { # NAME WHY
    ! wanted "$1" || note skip "$1" 0 "$2"
}

# NAME LIMIT COMMAND...: starts a part. The limit is for a run of 570 s; others scale it. A part needs a quarter of it.
start() {
    name=$1 limit=$(($2 * until / 570 + 1)) left=$((end - $(now)))
    shift 2
    wanted "$name" || return 0
    if [ "$left" -le $((limit / 4)) ]; then
        note 'not run' "$name" 0 'no time left'
    elif [ "${1#build/}" != "$1" ] && [ ! -x "$1" ]; then
        note 'not run' "$name" 0 'not built'
    else
        [ "$limit" -le "$left" ] || limit=$left
        log=$parts/$name.log
        echo "$name" >>"$parts/order"
        echo "== $name: $*" >"$log"
        {
            timeout -k 3 "$limit" "$@" &
            echo $! >"$log.pid"
            status=0
            wait $! || status=$?
            echo "$status" >"$log.status"
        } >>"$log" 2>&1 &
        running="$running $name:$(now):$limit:$(n_samples)"
    fi
}

# Notes the result of a part.
conclude() { # NAME START LIMIT SAMPLES STATUS
    took=$(($(now) - $2)) log=$parts/$1.log
    impossible=$(sed -n 's/^1\.\.0 # SKIP //p
        s/.*\(ERR_NVGPUCTRPERM\).*/no permission to read counters (\1)/p
        s/^Bail out! \(cuBLAS not found.*\)/\1/p
        s/^==ERROR== \(Failed to initialize the profiler.*\)/\1/p
        s/^=* *Error: \(Device not supported\).*/\1/p' "$log" | head -n 1)
    clocks=''
    case $1 in
    bench-* | train-* | edits-* | variants-* | torch-*) clocks=$(sed "1,$4d" "$parts/clocks" 2>/dev/null | awk -F', *' '
        $1 + 0 { if (!n || $1 < low) low = $1; if ($1 > high) high = $1; if ($2 > watts) watts = $2; n++ }
        END { if (n) printf "SM clock %d to %d MHz, at most %d W", low, high, watts }') ;;
    esac
    if [ -n "$impossible" ]; then
        note skip "$1" "$took" "$impossible"
    elif [ "$5" -eq 0 ]; then
        note ok "$1" "$took" "$clocks"
    elif [ "$5" -eq 124 ] || { [ "$5" -eq 137 ] && [ "$took" -ge "$3" ]; }; then
        note FAIL "$1" "$took" "ended at its limit of $3 s"
    else
        note FAIL "$1" "$took" "status $5: $(messages "$1" | head -n 1 | cut -c 1-100)"
    fi
    write_report
}

# Waits until at most N parts are running.
finish() { # N
    most=$1
    # shellcheck disable=SC2086 # words
    while set -- $running && [ $# -gt "$most" ]; do
        still=''
        for part; do
            IFS=:
            set -- $part
            unset IFS
            if [ -s "$parts/$1.log.status" ]; then
                conclude "$@" "$(cat "$parts/$1.log.status")"
            elif [ $(($(now) - $2)) -gt $(($3 + 6)) ]; then
                conclude "$@" 137 # not even SIGKILL ends it
            else
                still="$still $part"
            fi
        done
        running=$still
        [ $(($(now) - written)) -lt 5 ] || write_report
        sleep 0.1
    done
}

alone() { # like start
    start "$@"
    finish 0
}

stop() {
    trap '' INT TERM HUP
    result=interrupted
    write_report
    for part in $running; do
        kill "$(cat "$parts/${part%%:*}.log.pid" 2>/dev/null)" 2>/dev/null
    done
    [ -z "$sampler" ] || kill "$sampler" 2>/dev/null
    exit 130
}

# ---- the machine ----

find_program() { # PATH...: the first that is a program
    for program; do
        [ -x "$program" ] && echo "$program" && return
    done
}

nvcc=$(find_program "${NVCC:-}" "$(command -v nvcc)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda-*/bin/nvcc)
if [ -z "$nvcc" ] && $build; then
    echo 'report.sh: error: no nvcc (set NVCC=/path/of/nvcc)' >&2
    exit 1
fi
cuda=${nvcc%/bin/nvcc}
sanitizer=$(find_program "$(command -v compute-sanitizer)" "$cuda/bin/compute-sanitizer" "$cuda/compute-sanitizer/compute-sanitizer")
ncu=$(find_program "$(command -v ncu)" "$cuda/bin/ncu" "$cuda"/nsight-compute-*/ncu /opt/nvidia/nsight-compute/*/ncu)
python=$(command -v "${PYTHON:-python3}")
# The card that the programs use: the first.
export CUDA_DEVICE_ORDER=PCI_BUS_ID
card=${CUDA_VISIBLE_DEVICES:-0}
card=${card%%,*}
query() { # FIELDS
    timeout 10 nvidia-smi -i "$card" --query-gpu="$1" --format=csv,noheader 2>/dev/null
}
# A check takes up to 6 GB of the card.
memory=$(query memory.total | tr -dc 0-9)
n_checks=$((${memory:-60000} / 6000))

# Builds only for this card, or for the newest architecture before it that nvcc knows.
archs=${CUDA_ARCHS:-$("${nvcc:-nvcc}" --list-gpu-arch 2>/dev/null | sed -n 's/^compute_\([0-9]*\)$/\1/p' | sort -n |
    awk -v card="$(query compute_cap | tr -d '. ')" '$1 <= card + 0 { best = $1 } END { print best }')}
commit=${COMMIT:-$(git -c safe.directory='*' describe --always --dirty 2>/dev/null)}
[ -n "$commit" ] || commit=$(sed -n 's/^commit \([0-9a-f][0-9a-f]*\)$/\1/p' .version 2>/dev/null)
: >"$parts/results"
: >"$parts/order"
{
    echo "commit: ${commit:-unknown (set COMMIT)}"
    echo "card: $(query name,memory.total,compute_cap,power.limit || echo 'no nvidia-smi, or no driver')"
    echo "driver: $(query driver_version)"
    echo "clocks: now $(query clocks.sm,clocks.mem), at most $(query clocks.max.sm,clocks.max.mem) (SM, memory)"
    if $build; then
        echo "CUDA: $("$nvcc" --version 2>/dev/null | sed -n 's/.*\(release .*\)/\1/p'), built for ${archs:-all architectures}"
    else
        echo 'CUDA: programs of an earlier build'
    fi
    echo "system: $(uname -srm), $(nproc) CPUs, $("${CC:-cc}" --version 2>/dev/null | head -n 1)"
} >"$parts/machine"
{
    echo "== machine"
    cat "$parts/machine"
    timeout 10 nvidia-smi 2>&1
} >"$parts/machine.log"
cat "$parts/machine"
trap stop INT TERM HUP
write_report

# ---- the parts, in the order of their importance ----

if $build; then
    rm -f build/gpu/check_kernels build/gpu/check_training build/gpu/check_lstm build/gpu/check_edits build/gpu/bench_gpu
    alone build 300 make -k "-j$(nproc)" NVCC="$nvcc" CUDA_WERROR= ${archs:+CUDA_ARCHS="$archs"} build/gpu/bench_gpu \
        build/gpu/check_kernels build/gpu/check_training build/gpu/check_lstm build/gpu/check_edits
fi

for p in bf16 tf32 balanced tf32x3 fp32; do
    for check in kernels training; do
        start check-$check-$p 200 build/gpu/check_$check --big --precision $p
        finish $((n_checks > 1 ? n_checks - 1 : 0))
    done
done
start check-lstm 200 build/gpu/check_lstm --big
finish $((n_checks > 1 ? n_checks - 1 : 0))
start check-edits 200 build/gpu/check_edits --big
finish 0

if command -v nvidia-smi >/dev/null; then
    timeout "$until" nvidia-smi -i "$card" --query-gpu=clocks.sm,power.draw --format=csv,noheader,nounits -l 1 >"$parts/clocks" 2>&1 &
    sampler=$!
fi
alone bench-bf16 90 build/gpu/bench_gpu --forward --precision bf16 "$each" 64 256 512 1024
alone train-bf16 60 build/gpu/bench_gpu --training --precision bf16 "$each" 8 64 256
alone edits-bf16 30 build/gpu/bench_gpu --edits --precision bf16 "$each" 128 256
# WHAT LIMIT PRECISION[,PRECISION...] BATCH...: the peer.
torch() {
    what=$1 limit_of_torch=$2 precisions=$3
    shift 3
    if [ -n "$python" ]; then
        alone "torch-$what" "$limit_of_torch" "$python" tests/gpu/torch_peer.py --only "${what%-others}" \
            --precision "$precisions" "$each" "$@"
    else
        skip "torch-$what" 'no python3'
    fi
}
torch forward 60 bf16 64 256 512 1024
torch training 60 bf16 8 64 256
torch compiled 90 bf16 512 256
torch compiled-training 120 bf16 8 64 256
alone variants-forward 60 build/gpu/bench_gpu --forward --variants --precision bf16 "$each" 256 512
alone variants-training 60 build/gpu/bench_gpu --training --variants --precision bf16 "$each" 8 64
for p in tf32 balanced bf16x3 fp32; do
    alone bench-$p 60 build/gpu/bench_gpu --forward --precision $p "$each" 64 256 512
done
for p in tf32 fp32; do
    alone train-$p 60 build/gpu/bench_gpu --training --precision $p "$each" 8 64 256
done

alone edits-fp32 30 build/gpu/bench_gpu --edits --precision fp32 "$each" 128 256

for p in bf16 tf32; do
    alone cublas-$p 30 env COVTOOLS_CUBLAS=always build/gpu/bench_gpu --forward --precision $p 1 64 256
    alone wgmma-"$p" 30 env COVTOOLS_WGMMA=yes build/gpu/bench_gpu --forward --precision "$p" 1 256
done

for what in forward training; do
    if [ -n "$ncu" ]; then
        alone ncu-$what 60 "$ncu" --clock-control none --profile-from-start off --section SpeedOfLight --section LaunchStats \
            --section Occupancy --section WarpStateStats --section MemoryWorkloadAnalysis \
            build/gpu/bench_gpu --$what --once --precision bf16 1 64
    else
        skip ncu-$what 'no ncu'
    fi
done

torch training-others 60 tf32,fp32 8 64 256
torch forward-others 60 tf32,fp32,fp16 256
[ -z "$sampler" ] || kill "$sampler"

# The small networks of the checks, because the sanitizer is slow; racecheck takes minutes, so it comes last.
for tool in memcheck synccheck racecheck; do
    for check in kernels-bf16 kernels-fp32 training-bf16 lstm-fp32 edits-bf16 edits-fp32; do
        if [ -n "$sanitizer" ]; then
            start $tool-$check 240 "$sanitizer" --tool $tool --error-exitcode 1 build/gpu/check_${check%-*} --precision ${check#*-}
        else
            skip $tool-$check 'no compute-sanitizer'
        fi
    done
    finish 0
done

result=finished
write_report
echo
cat "$out/report.txt"
echo
echo "report: $out/report.txt, output of all parts: $out/all.log"
[ "$n_failed" -eq 0 ]
