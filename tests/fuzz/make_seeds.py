#!/usr/bin/python3
"""make_seeds.py - makes the seed corpora tests/fuzz/corpus/X from small data of its own, tests/data and the tools.

usage: make_seeds.py DIRECTORY_OF_TOOLS (make all DEMOS first); replaces files seed_*, keeps all others.

The same seeds come out each time, except that tools write their version into files.
SPDX-License-Identifier: MIT"""
import gzip
import io
import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
FASTA = b">chr1 first\nACGTNNNNacgtRYKM\nTTGACA\n\n>chr2\r\nACGTACGT\r\n"
rng = random.Random(1)
corpus = os.path.join(HERE, "corpus")


def seed(name, *inputs):
    """Writes the inputs, bytes each."""
    directory = os.path.join(corpus, name)
    os.makedirs(directory, exist_ok=True)
    for old in os.listdir(directory):
        if old.startswith("seed_"):
            os.remove(os.path.join(directory, old))
    for i, data in enumerate(inputs):
        with open(os.path.join(directory, f"seed_{i:02}"), "wb") as f:
            f.write(data)


def noise(n):
    return bytes(rng.randrange(256) for _ in range(n))


def bgzf(data):
    def block(part):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        body = packer.compress(part) + packer.flush()
        return (struct.pack("<4BI2BH2BHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, len(body) + 25) + body
                + struct.pack("<2I", zlib.crc32(part), len(part)))
    return b"".join(block(part) for part in (data[:50], data[50:], b""))


def texts():
    seed("fasta", b"\x04\0\0" + FASTA, b"\xff\1\0" + FASTA.replace(b"RYKM", b"!?*1"), b"\x09\3\x0a" + FASTA,
         b"\x09\4\1" + FASTA, b"\x09\0\0\xef\xbb\xbf" + FASTA, b"\x09\0\0>a\nAC GT\n", b"\x09\0\0>\nA", b"\x09\0\0ACGT",
         b"\x09\0\0" + FASTA + FASTA, b"\x09\0\0" + gzip.compress(FASTA, mtime=0), b"\x09\0\0>a\rACGT\r", b"\x09\0\0")
    lines = b"track type=bedGraph\nbrowser x\n#c\nchr1\t0\t10\t1.5\nchr1\t10\t12\t-2e3\nchr2 3 5 7\n"
    wrong = [b"chr1\t5\t3\t1\n", b"chr1\t0\t5\tnan\n", b"chr1\t0\n", b"chr1\t0\t5\t1\nchr1\t4\t6\t1\n",
             b"chr1\t0\t5\t1\nchr2\t0\t1\t1\nchr1\t6\t7\t1\n", b"", b"variableStep chrom=chr1\n1 2\n"]
    seed("bedgraph", lines, bgzf(lines), gzip.compress(lines, mtime=0), *wrong)
    seed("bgz", FASTA * 9, gzip.compress(FASTA * 9, mtime=0), bgzf(FASTA * 9), bgzf(FASTA * 9)[:-30], bgzf(FASTA)[:-28],
         gzip.compress(FASTA, mtime=0) * 2, gzip.compress(FASTA, mtime=0)[:-9], b"", b"\x1f\x8b", b"BZh9", b"\x28\xb5\x2f\xfd")
    bed = b"track x\nchr1\t10\t60\nchr2\t0\t70\tname\na:1-5\t0\t1\nelsewhere\t1\t2\n"
    seed("select", b"\0" + bed, b"\1chr1\nx\nelsewhere\n# c\n", b"\2chr1\nother\n", b"\0chr1\t5\n", b"\0chr1\t9\t3\n",
         b"\3" + bed * 99, b"\1\n\n", b"\0chr1 0 99999999999999999999\n")
    report = b'{"refseqAccession":"NC_1","genbankAccession":"CM1","role":"assembled-molecule","chrName":"1",' \
             b'"assemblyUnit":"Primary Assembly"}\n{"genbankAccession":"CM2","role":"unplaced-scaffold","chrName":"Un"}\n'
    seed("lists", b"\0chr1 one\nchr2\ttwo\n", b"\0chr1 one two\n", b"\0a b\na c\n", b"\0a " + b"x" * 5000, b"\1chr1\t100\nx 5\n",
         b"\1chr1 0\n", b"\2" + bed, b"\2chr1\nchr2 # c\n", b"\2chr1\nchr1\t1\t5\n", b"\2chr1 5 1\n", b"\2chr1 5\n", b"\3" + report,
         b"\3" + report.replace(b"refseq", b"other"), b"\3{}\n", b"\3[1]\n", b"\3" + report * 2, b"\3",
         b"\3 \t\n" + report.replace(b"Acc", b"_acc").replace(b"chrN", b"chr_n").replace(b"yUnit", b"y_unit"),
         b"\3" + report[report.index(b"\n") + 1:] + report[:report.index(b"\n") + 1], b"\3" + report.replace(b"CM2", b"").replace(b"unpl", b"UNPL"),
         b"\3" + report.replace(b"Primary Assembly", b"Non-Nuclear"), b"\3" + report.replace(b"unplaced", b"unlocalized").replace(b"Un", b"2"),
         b"\3" + report + b"{", b"\3" + report.replace(b'"CM2"', b"2"), b"\3" + gzip.compress(report, mtime=0))
    peaks = b"# c\nbrowser x\ntrack type=narrowPeak\nchr1\t10\t60\tp\t100\t.\t4.5\t3\t2\t25\n\nchr2 0 50\n"
    seed("peaks", b"\0" + peaks, b"\1" + peaks, b"\0" + gzip.compress(peaks, mtime=0), b"\1chr1\t1\t2\nchr9\t1\t2\n",
         b"\1chr9\t1\t2\n", b"\0chr1\t5\t5\n", b"\0chr1\t5\n", b"\1chr2\t5\t51\n", b"\0chr1\t-1\t5\n", b"\0",
         b"\0" + b"".join(b"%s\t%d\t%d\n" % (b"chr%d" % (i % 7), i * 37 % 90, 91 + i % 9) for i in range(3000)), b"\1" + peaks[:-1] * 40,
         b"\0" + b"x" * 300 + b"\t1\t2\n", b"\0chr1\t1\t99999999999999999999\n", b"\1chr1\t1\t2\nchr2\t1\t2\nchr1\t1\t2\n" * 9, b"\1chr8\t1\t2\nchr9\t1\t2\n")
    kinds = (b"", b"BAM\1", b"CRAM\3", b"@HD\tVN:1.6\n", FASTA, b"@r\nACGT\n+\nIIII\n", bed, peaks, b"##gff-version 3\nc\ts\tgene\t1\t9\t.\t+\t.\tID=a\n",
             b"##fileformat=VCFv4.3\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n", b"x" * 257 + b"ustar\0" + b"00" + b"\0" * 300,
             b"\x89HDF\r\n\x1a\n" + bytes(99), b"\x26\xfc\x8f\x88" + bytes(99), b"\xeb\xf2\x89\x87" + bytes(99), b"PK\3\4" + bytes(99), b"<!DOCTYPE html><html>",
             b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", bytes(range(256)), b"c\t0\t9\t1.5\n", b"c 10\n")
    seed("kinds", *(bytes((i,)) + kind for i in range(7) for kind in (*kinds, *(gzip.compress(k, mtime=0) for k in kinds[1:11]))))
    gff = b"##gff-version 3\nchr1\ts\tgene\t11\t60\t.\t+\t.\tID=g1;Name=n\nchr1\ts\tmRNA\t11\t60\t.\t+\t.\tID=m\nchr2\ts\tgene\t1\t9\t5\t-\t.\tName=x\n"
    gtf = b'##v\nchr1\ts\tgene\t5\t9\t.\t?\t.\tgene_id "a b"; x 1;\n'
    seed("genes", gff, gff + b"##FASTA\n>chr1\nACGT\n", gzip.compress(gff, mtime=0), gtf, peaks, b"c 1 2\nc 5 9 n 0 -\n",
         gff.replace(b"gene", b"CDS"), gff + b"chr1\ts\tgene\t0\t5\t.\t+\t.\t\n", gff + b"chr1\ts\tgene\t9\t5\t.\t+\t.\t\n",
         gff + b"chr1\t5\n", gff.replace(b"+", b"x"), b"chr1\t5\t5\n", b"chr1;1;2\n", b"c 1 2 n 0 *\n", b"")
    shard = b'{"tool":"covpredict","bases":9,"chunks":2,"wall_seconds":1.5,"cpu_seconds":2,"threads":2,"peak_rss_bytes":99'
    seed("json", shard + b"}", shard + b',"chunks_resumed":1}', shard + b',"all_runs":{"n":2,"wall_seconds":3,"cpu_seconds":1}}', shard.replace(b"9", b"-9") + b"}",
         shard.replace(b"1.5", b"1e999") + b"}", shard.replace(b"covpredict", b"covtrain") + b"}", shard.replace(b'"threads":2,', b"") + b"}", b'{"figures":[{"name":"a","unit":"s","better":"higher","values":[1,2.5e3,-0]},{"name":"b","unit":"s",'
         b'"better":"lower","values":[1]}],"x":[true,false,null,"\\u00e9\\n\\ud83d\\ude00"]}', b"[[[[]]]]", b"{", b'"\\', b"1e999",
         b'{"figures":[{"name":"a"}]}', b'{"figures":1}', b"", b"nul")
    seed("opt", b"-s3\n--size=2k\n-r\n0.25\n-C\nred\n--text\nhello\n-l\na,b\nfile\n--\n-x", b"--shift\n--shift=1\n-vv\n-qf",
         b"--size\n0.125G\nchr1:5-10\nzstd:3\n{chr1}:1,000-2k", b"--small\n9", b"--nothing", b"-s", b"--choice=blue", b"-l\n,",
         b"--ratio=nan", b"--text=", b"--quiet=1", b"-s1\n-s2", b"--list=a,b\n-l\nchr1:1-10,chr1", b"chr1:5-\nlzf\nchr1:0-3\n:1-2",
         b"--siz\n1", b"--size=1T", b"-v\n-v\n--small=-5", b"--size=-1", b"--help-me\n-", b"--shi_ft=2\n-p")


def binaries():
    sam = b"@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000\n@SQ\tSN:chr2\tLN:50\n" + b"".join(
        b"r%d\t%d\tchr1\t%d\t30\t%s\t=\t%d\t%d\tACGTACGTAC\t*\tNM:i:0\n" % (i, flag, 10 + 7 * i, cigar, 60, 60 - 7 * i)
        for i, (flag, cigar) in enumerate([(99, b"10M"), (147, b"5M20N5M"), (0, b"2S8M"), (16, b"3M2I5M"), (1024, b"10M"),
                                            (4, b"*"), (83, b"4M3D6M"), (163, b"10="), (256, b"10X")]))
    with gzip.open(os.path.join(DATA, "atacseq.bam")) as f:
        bam = f.read(20000)
    n_text, = struct.unpack_from("<I", bam, 4)
    at = 12 + n_text
    for _ in range(struct.unpack_from("<I", bam, 8 + n_text)[0]):
        at += 8 + struct.unpack_from("<I", bam, at)[0]
    for _ in range(12):
        at += 4 + struct.unpack_from("<I", bam, at)[0]
    seed("alignments", *(bytes((rule, q, 4, 251)) + text for rule, q in ((0, 0), (1, 1), (2, 0), (70, 1), (13, 0), (69, 0))
                         for text in (sam, bam[:at])))
    header = b'##fileformat=VCFv4.3\n##INFO=<ID=DP,Number=1,Type=Integer,Description="d">\n##contig=<ID=chr1,length=31>\n'
    columns = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    lines = [b"chr1\t%d\t%s\t%s\t%s\t%s\tPASS\tDP=3" % fields for fields in (
        (1, b".", b"A", b"C", b"."), (4, b"x", b"TNR", b"T,*,<DEL>,TA[chr2:1[", b"3.5"), (31, b"y;z", b"T", b"TACGT", b"9"),
        (9, b".", b"CG", b"A,AAAAAAAAAAAAAAAAAAAAAAAAAAAAA", b"1e3"), (0, b".", b"N", b".", b"0"), (5, b".", b"C", b"G", b"."))]
    vcf = header + columns + b"\n" + b"\n".join([*lines, b"chr9\t1\t.\tA\tC\t.\tq10\tXX=1;YY"]) + b"\n"
    samples = header + columns + b"\tFORMAT\tone\ttwo\n" + b"".join(line + b"\tGT:AD\t0|1:3,4\t./.:.\n" for line in lines)
    text = header.replace(b"ID=DP", b"ID=PASS,IDX=0>\n##INFO=<ID=DP,IDX=1").replace(b"##INFO=<ID=PASS", b'##FILTER=<ID=PASS,Description="p"') \
        + columns + b"\n\0"
    record = struct.pack("<3if2I", 0, 3, 3, 7.5, 3 << 16 | 1, 0) + b"\x17x\x37TNR\x17T\x17*" + b"\x11\0" + b"\x11\1\x11\3"
    bcf = b"BCF\2\2" + struct.pack("<I", len(text)) + text + struct.pack("<2I", len(record), 0) + record
    # Genotypes, with a phase sign before the first allele, phase sets, and of other ploidy; a BCF with as many samples as
    # its header, and with fewer.
    formats = b'##FORMAT=<ID=GT,Number=1,Type=String,Description="g">\n##FORMAT=<ID=PS,Number=1,Type=Integer,Description="p">\n'
    calls = [b"0|1:1\t1/1:.\t.|1:.", b"|0|1:1\t/0/1:.\t1:.", b"1|0:7\t0|1|2:7\t/0|1:.", b"0|1\t./.\t2", b"1|1\t1|0\t0|1"]
    places = [(8, b"A", b"C"), (9, b"CG", b"C,CGG"), (11, b"T", b"TAA,N"), (16, b"A", b"G,<DEL>"), (18, b"GGT", b"G")]
    phased = header + formats + columns + b"\tFORMAT\ta\tb\tc\n" + b"".join(
        b"chr1\t%d\t.\t%s\t%s\t.\t.\t.\tGT:PS\t%s\n" % (*place, call) for place, call in zip(places, calls))
    def genotypes(n_header, n, values):
        text = b"##fileformat=VCFv4.3\n##FILTER=<ID=PASS,Description=\"\">\n##contig=<ID=chr1,length=31>\n" + formats + columns + \
            b"\tFORMAT" + b"".join(b"\ts%d" % i for i in range(n_header)) + b"\n\0"
        out = b"BCF\2\2" + struct.pack("<I", len(text)) + text
        for at, ref, alt in ((7, b"\x17A", b"\x17C"), (8, b"\x17C", b"\x37CAA"), (16, b"\x27CG", b"\x17C")):
            shared = struct.pack("<3i2I", 0, at, 1, 0x7f800001, 2 << 16) + struct.pack("<I", 2 << 24 | n) + b"\7" + ref + alt + b"\0"
            indiv = b"\x11\1" + bytes((len(values) << 4 | 1,)) + values * n + b"\x11\2\x11" + b"\1" * n
            out += struct.pack("<2I", len(shared), len(indiv)) + shared + indiv
        return out
    some = [genotypes(3, 3, b"\2\5"), genotypes(3, 3, b"\3\4"), genotypes(20, 1, b"\2\5"), genotypes(1, 3, b"\2\5"),
            genotypes(2, 2, b"\2\5\x81"), genotypes(2, 2, b"\5"), genotypes(2, 2, b"\2\x09"), genotypes(0, 0, b"\2")]
    files = [phased, phased.replace(b"\n", b" \r\n"), b"\xef\xbb\xbf" + phased[:-1], phased.replace(b"PS,Number=1,Type=Integer", b"PS,Number=1,Type=String"),
             phased.replace(b"\n", b"\t\n"), phased.replace(b"0|1", b"0|9"), phased.replace(b"length=31", b"length=30"), phased.replace(b"GT:PS", b"PS:GT")]
    files += some
    seed("haplotypes", *(bytes((rule,)) + file for rule in (8, 70, 24) for file in files))
    seed("variants", *(bytes((rule,)) + file for rule in (4, 38, 68, 196) for file in (vcf, samples, bcf)), b"\4" + vcf[:-20],
         b"\4" + samples.replace(b"\t./.:.", b""), b"\4" + vcf.replace(b"3.5", b"\0"), b"D" + vcf.replace(b"DP", b"NEW"), b"\4" + bcf[:-3],
         *(bytes((rule,)) + file for rule in (40, 104) for file in files))
    journal = b"version\t1\n--window\t48, step 1\n--genome\t9 bytes, 0f\tg.fa\n"
    seed("run_journal", *(bytes((rule,)) + text for rule in (0, 1) for text in (
        journal, journal + b"output\t3 bytes, 0\tx.tsv\n", journal[:-8], journal.replace(b"48", b"96"), b"", b"\n\n\t\t\t\n", b"a" * 3000,
        journal + b"computed by\tA\n", journal.replace(b"\t", b"\t" * 5), b"computed by\tA\n" * 3)), *(b"\2" + t for t in (b"", b"x\ty\n", b"output\t1\tz\n", b"computed by\tB\n")))
    journal = b"version\t1\nx\ty\n"
    piece = lambda number, ends, body: struct.pack("<II5Q", 0x70766f63, 0, number, len(body), 0, len(ends), 0) + \
        b"".join(struct.pack("<Q", end) for end in ends) + body
    head = b"covtools journal" + struct.pack("<4I", 1, len(journal), 0, 0) + journal
    whole = head + piece(3, [4, 9], noise(9)) + piece(5, [], b"") + piece(3, [7], noise(7))
    seed("journal", b"\0" + whole, b"\1" + whole, b"\2" + whole[:-3], b"\0" + whole[:40], b"\0" + whole[:10], b"\0other file",
         b"\0" + head, b"\0", b"\0" + head.replace(b"\1\0\0\0", b"\2\0\0\0"), b"\0" + head + piece(70, [1], b"x"),
         b"\0" + head + piece(1, [9, 5], noise(9)), b"\0" + head + piece(1, [5], noise(9)), b"\4" + whole, b"\10" + whole, b"\22" + whole, b"\20" + whole,
         b"\0" + head[:35], b"\1" + head[:24] + b"xxxx" + head[28:])
    states = [{"epoch": 3, "pytorch-lightning_version": "2.0.2", "x": [1, 2.5, None, True, "é"], "t": (1, (2,), 3, 4)},
              {1: {2: [{3: "x" * 300}] * 3}}, [2**40, -2**70, b"bytes"]]
    seed("pickle", *(pickle.dumps(s, protocol) for s in states for protocol in (2, 3, 4)), b"\x80\2}q\0.", b"\x80\2ccollections\n"
         b"OrderedDict\nq\0)Rq\1.", b"\x80\2(lp0\nI1\nI01\na.", b"\x80\2N(NNd.", b"\x80\2h\0.", b".", b"\x80\5]\x94.")


def archives():
    def pack(method, *entries):
        f = io.BytesIO()
        with zipfile.ZipFile(f, "w", method) as z:
            for name, data in entries:
                z.writestr(zipfile.ZipInfo(name), data, method)
            z.comment = b"c" * (method > 0)
        return f.getvalue()
    plain = pack(0, ("m/data.pkl", b"\x80\2}."), ("m/version", b"3\n"))
    z64 = io.BytesIO()
    with zipfile.ZipFile(z64, "w") as z, z.open("m/data.pkl", "w", force_zip64=True) as entry:
        entry.write(b"\x80\2}.")
    # Its sizes and offsets in the 64-bit fields, and copies whose end records contradict each other
    at = plain.index(b"PK\1\2")
    end = plain.index(b"PK\5\6")
    record = plain[at:end]
    first = len(record) - record.rindex(b"PK\1\2")
    last = record[-first:]
    last = (last[:20] + b"\xff" * 8 + last[28:30] + struct.pack("<H", 28) + last[32:42] + b"\xff" * 4 + last[46:]
            + struct.pack("<HHQQQ", 1, 24, *struct.unpack("<II", last[24:28] + last[20:24]), *struct.unpack("<I", last[42:46])))
    record = record[:-first] + last
    wide = (plain[:at] + record + struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 2, 2, len(record), at)
            + struct.pack("<IIQI", 0x07064b50, 0, at + len(record), 1) + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0))
    two = wide[:-14] + struct.pack("<HHIIH", 3, 3, 2**32 - 1, 2**32 - 1, 0)
    seed("zip", plain, pack(8, ("m/data.pkl", b"\x80\2}." * 9)), pack(0), plain[:-5], b"", b"PK", z64.getvalue(),
         pack(0, ("a", b"x"), ("a", b"y")), plain.replace(b"\x80\2}.", b"\x80\2}x", 1), plain + b"tail", plain[::-1],
         wide, two, wide.replace(b"PK\6\6", b"PK\6\7"), wide[:-30] + b"\xff" * 8 + wide[-22:], pack(8, ("m.ckpt", plain)))


def checkpoint(path):
    """An input of fuzz_ckpt: the sizes of the storages, and the pickle."""
    with zipfile.ZipFile(path) as z:
        names = sorted((i for i in z.namelist() if "/data/" in i), key=lambda i: int(i.rsplit("/", 1)[1]))
        data = next(z.read(i) for i in z.namelist() if i.endswith("data.pkl"))
        sizes = [z.getinfo(i).file_size for i in names]
    return bytes([len(sizes)]) + b"".join(struct.pack("<H", min(s, 65535)) for s in sizes) + data


def checkpoints(tools):
    tools = os.path.abspath(tools)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        tool = lambda name, *args: subprocess.run([os.path.join(tools, name), "-q", *args], check=True, cwd=directory,
                                                  stderr=subprocess.DEVNULL)
        with open(path("g.fa"), "wb") as f:
            f.write(b">c1\n" + b"ACGTTGCAAC" * 6 + b"\n")
        with open(path("r.sam"), "wb") as f:
            f.write(b"@HD\tVN:1.6\n@SQ\tSN:c1\tLN:60\nr\t0\tc1\t10\t60\t4M\t*\t0\t0\tACGT\tIIII\n")
        os.makedirs(path("d/train"))
        os.makedirs(path("d/val"))
        tool("fasta2h5", "--subsequence-length", "32", "-o", "d/train/g.h5", "g.fa")
        tool("bam2h5", "-p", "atacseq", "d/train/g.h5", "r.sam")
        shutil.copy(path("d/train/g.h5"), path("d/val"))
        # With the state of Adam, means of weights, and two checkpoints that it ranks
        tool("covtrain", "-i", "d", "-o", "o", "-e", "2", "-b", "2", "--cnn-layers", "1", "--lstm-layers", "1", "--filter-size",
             "2", "--kernel-size", "3", "--hidden-size", "2", "--average-weights", "0.5", "--seed", "1")
        trained = checkpoint(path("o/last.ckpt"))
    made = [checkpoint(os.path.join(DATA, name)) for name in ("cnn_init.ckpt", "hybrid_init.ckpt")]
    seed("ckpt", *made, b"\0\x80\2}.", b"\1\4\0" + pickle.dumps({"epoch": 1, "state_dict": {}}, 2), trained,
         trained.replace(b"exp_avg", b"exp_axg", 1), trained.replace(b"best_k_models", b"best_k_models"[::-1], 1),
         trained.replace(b"step", b"stop"))


def drawn():
    """Inputs that choose shapes and values with their first bytes."""
    filters = [bytes([how, 40, 0]) for how in (1, 2, 3, 6, 7, 10, 14, 18, 34, 35, 67)]
    payload = [zlib.compress(bytes(40)), noise(40), struct.pack(">QI", 40, 40) + bytes(9), b"\0" * 44,
               struct.pack("<4B3I", 2, 1, 1, 1, 40, 40, 56) + bytes(40)]
    seed("codec", *(f + p for f in filters for p in payload[:3]), *(b"\x0a(\0" + p for p in payload))
    seed("encode", *(bytes([c, e]) + data for c in range(5) for e in (0, 2, 4) for data in (bytes(90), noise(90), b"ab" * 45)))
    seed("coverage", *(bytes([mode, rng.randrange(256), 0, rng.randrange(256)]) + noise(n) for mode in range(6) for n in (9, 80)),
         *(bytes([mode, 30, 128 | how, 1]) + noise(20) for mode in (0, 1) for how in (0, 1, 2, 4, 5, 6, 10, 16, 17, 32, 33, 64, 65, 66)))
    rows = []
    for a, b in ((1, 2), (0, 6), (1, 3)):
        order = [(a, 0, 50), (a, 50, 70), (a, 70, 50), (a, 50, 0), (b, 0, 30), (b, 30, 0)]
        rows.append(b"".join(struct.pack("<Bhh", *row) for row in order))
        rows.append(b"".join(struct.pack("<Bhh", *row) for row in rng.sample(order, 4) + order[:2]))
    wrong = [struct.pack("<Bhh", 0, *r) for r in ((5, 5), (-1, 3), (0, 51), (3, 1), (90, 120))]
    seed("grid", *(bytes([how]) + r for how in range(4) for r in rows), *(bytes([how]) + r for how in (0, 1) for r in wrong))
    seed("rows", *(bytes([kind, 3, 20, 2, 1, 7, 2, f, 1, 0, 2, 0]) + b"".join(
        bytes([len(p) + 4]) + bytes(4) + p for p in (zlib.compress(bytes(n)), bytes(28 << (kind >> 1 & 3)), noise(9), b""))
        for kind in (0, 2, 4, 6, 9, 17, 24, 30, 3, 5) for n in (28, 112) for f in (0, 1, 2, 3, 4)))
    table = lambda kind, *columns: bytes([kind, 4]) + b"".join(columns)
    names = bytes([0, 5]) + b"\4chr1" * 4
    ends = bytes([0]) + b"".join(struct.pack("<2H", *r) for r in ((0, 50), (50, 80), (80, 50), (50, 0)))
    seed("table", table(0, names, names, ends), table(2, names, b"\x0f", ends, b"\x80" + b"\1" * 4), table(0, b"\x0f", names, ends),
         table(0, names, names, b"\x0e\0"), table(0, b"\x0e", names, ends), table(0, b"\x0d\5", names, ends), table(0),
         *(bytes([3, 4, 1]) + names + names + ends + b"\0\5\4chr1" + length + species + keep
           for length in (b"\0\x64\0", b"\0\x10\0", b"\0\0\0", b"\x0e\3") for species in (b"\x0f", b"\0\5\4chr1")
           for keep in (b"\0" + b"\1\0" * 4, b"\x0e")), bytes([1, 0, 1, 0, 5, 0, 5, 0, 0, 5]) + b"\4chr1\0\x64\0\x0f", b"\1\4\0")


def files(tools):
    import h5py
    import numpy
    tool = lambda name, *args, **how: subprocess.run([os.path.join(tools, name), "-q", *args], check=True, **how)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        read = lambda name: open(path(name), "rb").read()
        env = dict(os.environ, SOURCE_DATE_EPOCH="0")
        with open(path("g.fa"), "wb") as f:
            f.write(b">c1\n" + bytes(rng.choice(b"ACGTN") for _ in range(70)) + b"\n>c2\nACGTACGT\n")
        model = os.path.join(DATA, "cnn.ckpt")
        length = ("--subsequence-length", "32")
        tool("fasta2h5", *length, "-o", path("g.h5"), path("g.fa"), env=env)
        tool("fasta2h5", *length, "-o", path("packed.h5"), "--layout", "packed", path("g.fa"), env=env)
        for how in (("p.h5",), ("f.h5", "--float")):
            tool("covpredict", *length, *how[1:], "-m", model, "-o", path(how[0]), path("g.fa"), env=env)
        streams = []
        for name in ("g.h5", "p.h5", "f.h5"):
            done = subprocess.run([os.path.join(tools, "h5chunk"), "cat", "-q", path(name)], check=True, stdout=subprocess.PIPE)
            streams.append(gzip.decompress(done.stdout))
        whole = streams + [streams[0][:-10], streams[1][:200], streams[0] + b"x", streams[1].replace(b"PAIR", b"PAIX")]
        seed("stream", *whole)
        with h5py.File(path("c.h5"), "w") as f, h5py.File(path("g.h5")) as g:
            for name in ("X", "seqids", "species", "start_ends"):
                f[f"data/{name}"] = g[f"data/{name}"][()]
            n, L = g["data/X"].shape[:2]
            f.create_dataset("evaluation/atacseq_coverage", data=numpy.arange(n * L * 2).reshape(n, L, 2) % 9, dtype="i4",
                             chunks=(1, L, 1), compression="lzf", shuffle=True)
            f["evaluation/atacseq_meta/bam_files"] = numpy.array([b"a.bam", b"b.bam"])
        done = subprocess.run([os.path.join(tools, "h5chunk"), "cat", "-q", path("c.h5")], check=True, stdout=subprocess.PIPE)
        coverage = gzip.decompress(done.stdout)
        seed("track", *(bytes([kind]) + s for kind in (0, 1) for s in (*streams, coverage, streams[1][:300])))
        packed = []
        for codec in ("lz4", "zstd:3", "lzf", "blosc:5"):
            out = path(f"{codec[:3]}.h5")
            subprocess.run([os.path.join(tools, "h5chunk"), "repack", "-q", "--compression", codec, "-o", out, path("p.h5")],
                           check=True, env=env)
            packed.append(open(out, "rb").read())
        with h5py.File(path("x.h5"), "w") as f:
            f["data/X"] = numpy.zeros((2, 3, 4), ">f2")
            f["data/seqids"] = numpy.array([b"a", b"a"])
            f["data/start_ends"] = numpy.array([(0, 3), (3, 0)], "i2")
            f["other"] = numpy.arange(5, dtype=">i4")
        seed("h5", read("g.h5"), read("packed.h5"), read("p.h5"), read("c.h5"), read("x.h5"), *packed[:2])
        from pyBigWig import open as open_bw
        tracks = []
        for kind in range(3):
            with open_bw(path("x.bw"), "w") as bw:
                bw.addHeader([("chr1", 1000), ("chr2", 500)], maxZooms=kind)
                if kind == 0:
                    bw.addEntries(["chr1"] * 3, [0, 10, 30], ends=[10, 20, 40], values=[1.0, 2.5, -3.0])
                    bw.addEntries(["chr2"], [5], ends=[9], values=[4.0])
                elif kind == 1:
                    bw.addEntries("chr1", [5, 9, 30], values=[1.0, 2.0, 3.0], span=3)
                else:
                    bw.addEntries("chr1", 100, values=[1.0, 2.0, 3.0, 4.0], span=5, step=10)
            tracks.append(read("x.bw"))
        seed("bigwig", *tracks, tracks[0][:300], tracks[0][:-4], b"")


if __name__ == "__main__":
    texts()
    binaries()
    archives()
    checkpoints(sys.argv[1])
    drawn()
    files(sys.argv[1])
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(corpus) for f in names)
    print(f"{size / 1000:.0f} kB")
