"""The vectors of Tests/Vectors: python3 vectors.py VECTORS. Its README describes them."""

import json
import pathlib
import subprocess
import sys
import tempfile

import cached_client
from cached_client._stream import Stream

VECTORS = pathlib.Path(sys.argv[1])


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def plain(item):
    """An item or an event without what is absent."""
    failure = item.failure.kind if item.failure else None
    members = dict(url=item.url, state=item.state, phase=item.phase, received=item.received, total=item.total,
                   path=item.path, size=item.size, failure=failure)
    return {key: value for key, value in members.items() if value is not None}


def state(directory, vector):
    try:
        item = plain(cached_client.Cache(directory).peek(vector["url"]))
    except cached_client.CacheError as error:
        return {"error": error.kind}
    name = cached_client.name(vector["url"])
    assert item.pop("url") == vector["url"] and item.pop("path", None) in (None, f"{directory}/{name}")
    return item


def play(vector, pieces):
    """The events after each piece, and the end."""
    stream, events = Stream(vector["follow"], vector.get("limit")), []
    for url in vector["wants"]:
        stream.want(url, "normal")
    end = {}
    for piece in pieces:
        try:
            stream.feed(piece)
        except cached_client.CacheError as error:
            end = {"kind": error.kind}
        events += iter(stream.pop, None)
        if end:
            return list(map(plain, events)), {"end": "failed", **end}
    return list(map(plain, events)), {"end": stream.state}


def check(name, what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {name}:\nfound    {found}\nexpected {expected}")


for vector in read("names"):
    check(vector["url"], "names", cached_client.name(vector["url"]), vector["name"])

with tempfile.TemporaryDirectory() as root:
    with subprocess.Popen([VECTORS / "folders", root], stdin=-1, stdout=-1) as folders:
        made = json.loads(folders.stdout.readline())
        for number in made:
            vector = read("states")[number]
            check(vector["name"], "states", state(f"{root}/{number}", vector), vector["answer"])
        folders.stdin.close()

for vector in read("transcripts"):
    data = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
    end = {key: vector[key] for key in ("end", "kind") if key in vector}
    check(vector["name"], "byte by byte", play(vector, [data[i:i + 1] for i in range(len(data))]),
          (vector["events"], end))
    newest = {event["url"]: event for event in vector["events"]}
    for cut in range(len(data) + 1):
        events, found = play(vector, [data[:cut], data[cut:]])
        check(vector["name"], f"cut after {cut}", ({event["url"]: event for event in events}, found), (newest, end))

print(f"{len(read('names'))} names, {len(made)} states, {len(read('transcripts'))} transcripts")
