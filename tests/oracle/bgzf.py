"""bgzf.py - writes BGZF.
SPDX-License-Identifier: MIT"""
import struct
import zlib


def block(data):
    z = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = z.compress(data) + z.flush()
    return (bytes.fromhex("1f8b08040000000000ff060042430200") + struct.pack("<H", len(packed) + 25) + packed
            + struct.pack("<2I", zlib.crc32(data), len(data)))


def write(name, data, size=1 << 15):
    """Blocks of `size` bytes, and an empty one."""
    with open(name, "wb") as f:
        f.writelines(block(data[at:at + size]) for at in range(0, len(data) + size, size))
