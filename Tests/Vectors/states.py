"""Folders, and the state of one image in each: docs/lookup/disk-format.md, "Reading without the daemon"."""

import struct
import uuid
import zlib

URL = "http://images.example/a.png"
NAME = str(uuid.uuid5(uuid.NAMESPACE_URL, URL))
RECORD = "user.cached." + NAME[:8]
MISSING = {"state": "missing"}
#: A user who is neither root nor a system account, and not the one who runs the tests.
OTHER = 12345


def record(size, flags=8, width=10, height=20, fresh=4102444800, digest=0x726602B4, extra=b"",
           version=b"v3"):
    """A record of 56 bytes, or more with extra fields before its checksum."""
    body = struct.pack("<2sHIQII7I", version, 2, flags, size, width, height, 1700000000,
                       fresh if flags & 8 else 0, 0, 0, 0, 0, digest) + extra
    return resealed(body)


def resealed(body):
    return body + struct.pack("<I", zlib.crc32(body))


def entry(size, record, **members):
    """A file under the name of the image."""
    attributes = {RECORD: record.hex()} if record is not None else {}
    return {"suffix": "", "type": "file", "size": size, "attributes": attributes, **members}


def partial(size, total=None, lock="write", **members):
    attributes = {} if total is None else {"user.cached.total": total.encode().hex()}
    return {"suffix": ".part", "type": "file", "size": size, "attributes": attributes, "lock": lock, **members}


def of_type(kind, suffix="", **members):
    return {"suffix": suffix, "type": kind, **members}


def changed(record, offset, byte):
    return record[:offset] + bytes([byte]) + record[offset + 1:]


def make():
    rows = []

    def row(name, files, answer, plain=None, **members):
        """`plain` is the answer without attributes and locks, if a regular file leaves it open."""
        answer = {"state": "missing"} if answer is None else answer
        sure = plain is None
        rows.append({"name": name, "url": URL, "files": files, "answer": answer,
                     "plain": {**(answer if sure else plain), "sure": sure}, **members})

    def cached(name, size, record, **members):
        answer = {"state": "cached", "size": size}
        row(name, [entry(size, record)], answer, answer, **members)

    def refused(name, size, record, **members):
        row(name, [entry(size, record, **members)], None, {"state": "cached", "size": size})

    row("empty folder", [], None)
    row("no folder", [], None, folder={"type": "none"})

    cached("fresh", 1000, record(1000))
    cached("one byte", 1, record(1))
    cached("stale", 1000, record(1000, fresh=1700000001))
    cached("without an end of freshness", 1000, record(1000, flags=0))
    cached("strict", 1000, record(1000, flags=4 | 8))
    cached("pinned", 1000, record(1000, flags=1 | 8))
    cached("unknown flags", 1000, record(1000, flags=0xFFFF0008))
    cached("unknown size in pixels", 1000, record(1000, width=0, height=0))
    cached("fields of a later daemon", 1000, record(1000, extra=b"\x01\x02\x03\x04\x05\x06\x07\x08"))
    cached("more than 4 GiB", 5 << 30, record(5 << 30))
    cached("turned", 1000, record(1000, flags=8 | 5 << 10))
    good = record(1000)
    answer = {"state": "cached", "size": 1000}
    row("cached, readable for its owner alone", [entry(1000, good, mode="0400")], answer, answer)
    row("cached, with a partial download of the next version", [entry(1000, good), partial(10, "2000")], answer, answer)
    row("cached, one of two names of a file",
        [entry(1000, good) | {"attributes": {
            RECORD: record(1000).hex(),
            "user.cached.00000000": record(1000, fresh=1700000001).hex(),
            RECORD + ".url": URL.encode().hex(), "user.cached.sha256": (b"b4" * 32).hex(),
            "user.xdg.origin.url": b"http://images.example/b.png".hex()}}], answer, answer)
    row("cached, with an attribute of another program",
        [entry(1000, good) | {"attributes": {RECORD: good.hex(), "user.comment": b"x".hex()}}], answer, answer)

    refused("a plain copy has no record", 1000, None)
    refused("shorter than its record says", 999, good)
    refused("longer than its record says", 1001, good)
    row("a record of another name", [
        {"suffix": "", "type": "file", "size": 1000, "attributes": {"user.cached.00000000": good.hex()}}],
        None, answer)
    refused("an empty record", 1000, b"")
    refused("a record of version 2", 1000, record(1000, version=b"v2"))
    refused("a record of two bytes", 1000, b"v3")
    refused("a record without its last byte", 1000, good[:55])
    refused("a record without the digest", 1000, resealed(good[:48]))
    refused("a wrong checksum", 1000, changed(good, 52, good[52] ^ 1))
    refused("a flipped bit in the size", 1000, changed(good, 8, good[8] ^ 2))
    refused("a flipped bit in the flags", 1000, changed(good, 4, good[4] ^ 1))
    refused("an unknown version", 1000, resealed(b"v4" + good[2:52]))
    refused("text in the place of the record", 1000, b"not a record")
    refused("bytes after the checksum", 1000, good + b"\0\0\0\0")
    row("an empty file", [entry(0, record(0))], None)
    row("unreadable for its owner", [entry(1000, good, mode="0200")], None)
    row("a file of another owner", [entry(1000, good, owner=OTHER)], None, needs="root")
    row("a symbolic link", [of_type("symlink", target="elsewhere"),
                            {**entry(1000, good), "suffix": None, "path": "elsewhere"}], None)
    row("a symbolic link to nothing", [of_type("symlink", target="nowhere")], None)
    row("a directory", [of_type("directory")], None)
    row("a FIFO", [of_type("fifo")], None)
    row("a socket", [of_type("socket")], None)
    row("the name in upper case", [{**entry(1000, good), "suffix": None, "path": NAME.upper()}], None)

    def in_flight(name, size, total, expected_total, lock="write", **members):
        row(name, [partial(size, total, lock, **members)],
            {"state": "inFlight", "received": size} | ({} if expected_total is None else {"total": expected_total}),
            {"state": "missing", "received": size})

    def interrupted(name, size, total=None, expected_total=None, lock=None, **members):
        row(name, [partial(size, total, lock, **members)],
            {"state": "missing", "received": size} | ({} if expected_total is None else {"total": expected_total}),
            {"state": "missing", "received": size})

    in_flight("in flight", 300, "1000", 1000)
    in_flight("in flight, total unknown", 300, None, None)
    in_flight("in flight, nothing received", 0, "1000", 1000)
    in_flight("in flight, all received", 1000, "1000", 1000)
    in_flight("in flight, more than 4 GiB", 5 << 30, str(6 << 30), 6 << 30)
    in_flight("in flight, a total that is not a number", 300, "many", None)
    in_flight("in flight, an empty total", 300, "", None)
    in_flight("in flight, a negative total", 300, "-1000", None)
    in_flight("in flight, a total with a newline", 300, "1000\n", None)
    in_flight("in flight, a total with a space before it", 300, " 1000", None)
    in_flight("in flight, a total in hexadecimal", 300, "0x3e8", None)
    in_flight("in flight, a total of 30 digits", 300, "9" * 30, None)
    in_flight("in flight, a total of 18 digits", 300, "9" * 18, 10 ** 18 - 1)
    in_flight("in flight, locked by a reader", 300, "1000", 1000, "read")
    in_flight("in flight, locked in part", 300, "1000", 1000, "part")
    in_flight("in flight, a lock of the process", 300, "1000", 1000, "process")
    interrupted("interrupted", 300, "1000", 1000)
    interrupted("interrupted, total unknown", 300)
    interrupted("interrupted, nothing received", 0)
    interrupted("interrupted, a lock of flock(2) is no sign", 300, "1000", 1000, "flock")
    row("in flight over a plain copy", [entry(1000, None), partial(300, "1000")],
        {"state": "inFlight", "received": 300, "total": 1000}, {"state": "cached", "size": 1000})
    row("in flight over a directory", [of_type("directory"), partial(300, "1000")],
        {"state": "inFlight", "received": 300, "total": 1000}, {"state": "missing", "received": 300})
    row("interrupted over a file that was cut off", [entry(999, good), partial(300, "1000", None)],
        {"state": "missing", "received": 300, "total": 1000}, {"state": "cached", "size": 999})
    row("a partial download that is a symbolic link", [of_type("symlink", ".part", target="x")], None)
    row("a partial download that is a FIFO", [of_type("fifo", ".part")], None)
    row("a partial download that is a directory", [of_type("directory", ".part")], None)

    for name, folder, kind in (
            ("the folder is a symbolic link", {"type": "symlink"}, "storage"),
            ("the folder is a file", {"type": "file"}, "storage"),
            ("the folder is a FIFO", {"type": "fifo"}, "storage")):
        row(name, [], {"error": kind}, folder=folder)
    row("the folder belongs to another person", [entry(1000, good, owner=OTHER)], {"error": "notPermitted"},
        folder={"type": "directory", "owner": OTHER}, needs="root")
    row("the folder belongs to a system account", [entry(1000, good, owner=999)], answer, answer,
        folder={"type": "directory", "owner": 999}, needs="root")
    row("a URL of 9 kB", [], {"error": "invalidURL"})
    rows[-1]["url"] = "http://images.example/" + "a" * 9000
    return rows
