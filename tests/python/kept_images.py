"""Images of the sets that other programs have written: small, of a colour of their own, made without a library."""
import struct
import zlib

WIDTH, HEIGHT = 24, 20


def value(i, y, x, c):
    return (i * 37 + x * y + c * 50) % 256


def rows(i):
    """The bytes of image i, row by row: red, green, blue."""
    return [bytes(value(i, y, x, c) for x in range(WIDTH) for c in range(3)) for y in range(HEIGHT)]


def png(i):
    """Image i, stored without compression."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows(i)), 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
