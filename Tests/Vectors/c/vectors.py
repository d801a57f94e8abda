"""The vectors of Tests/Vectors, for libcached: python3 vectors.py VECTORS PROGRAM, the built vectors.c.

cached.h tells less than the vectors, and has one kind of stream, which goes on until the program wants nothing:

- It tells neither the phase nor that nothing has changed. Events that differ only in that count once.
- The size of a cached image is its total.
- It connects again whenever a stream ends, for whatever reason. So the end is `open` or closed.
- The limit of a reply is not to be changed. The vector that does is left out.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

VECTORS, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def check(name, what, found, expected):
    if found != expected:
        failures.append(f"{what}: {name}:\nfound    {found}\nexpected {expected}")


def tell(*fields, data=b""):
    for field in fields:
        program.stdin.write(str(field).encode(errors="surrogateescape") + b"\0")
    program.stdin.write(data)
    program.stdin.flush()


def answer():
    """The next text that the program prints."""
    text = bytearray()
    while not text.endswith(b"\0"):
        piece = program.stdout.read(1)
        if not piece:
            sys.exit(f"the program ended with {program.wait()}")
        text += piece
    return text[:-1].decode()


def images(text):
    """Printed images in the form of `expected`."""
    for line in text.split("\x1e")[:-1]:
        url, state, received, total, path, kind = line.split("\x1f")
        yield url, state, int(received), int(total), path, kind


def expected(event):
    """What cached.h tells of an event or a state."""
    size = event.get("size") if event["state"] == "cached" else None
    received, total = (event.get(key) if size is None else size for key in ("received", "total"))
    path = event.get("path", "")
    # The library tells only paths that it can see.
    return (event["url"], event["state"], received or 0, -1 if total is None else total,
            path if pathlib.Path(path).exists() else "", event.get("failure", ""))


def changes(events):
    """Without those that are like the last one of their URL."""
    last = {}
    for event in events:
        if last.get(event[0]) != event:
            last[event[0]] = event
            yield event


def newest(events):
    return {event[0]: event for event in events}


def check_names():
    for vector in read("names"):
        tell("name", vector["url"])
        check(vector["url"], "names", answer(), vector["name"])


def check_states(root):
    with subprocess.Popen([VECTORS / "folders", root], stdin=-1, stdout=-1) as folders:
        made = json.loads(folders.stdout.readline())
        for number in made:
            vector, directory = read("states")[number], f"{root}/{number}"
            tell("peek", directory, vector["url"])
            (found,) = images(answer())
            state = {"url": vector["url"], **vector["answer"]}
            if "error" in state:
                state = {"url": vector["url"], "state": "failed", "failure": state["error"]}
            wanted = expected(state)
            if state["state"] == "cached":
                wanted = (*wanted[:4], f"{directory}/{found[4].rpartition('/')[2]}", "")
            check(vector["name"], "states", found, wanted)
        folders.stdin.close()
    return len(made)


def check_transcripts():
    count = 0
    for vector in read("transcripts"):
        if vector.get("limit") and vector["end"] == "failed":
            continue
        count += 1
        data = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
        tell("play", len(vector["wants"]), *vector["wants"], len(data), data=data)
        end = "open" if vector["end"] == "open" else "closed"
        events = list(changes(map(expected, vector["events"])))
        before = None
        for run in range(len(data) + 2):
            text = answer() or before
            if text != before or run == 1:
                found, ending = list(changes(images(text))), text.rpartition("\x1e")[2]
                if run == 0:
                    check(vector["name"], "byte by byte", (found, ending), (events, end))
                else:
                    check(vector["name"], f"cut after {run - 1}", (newest(found), ending), (newest(events), end))
            before = text
    return count


failures = []
with tempfile.TemporaryDirectory() as place:
    with subprocess.Popen([PROGRAM, f"{place}/socket"], stdin=-1, stdout=-1) as program:
        check_names()
        (pathlib.Path(place) / "states").mkdir()
        states = check_states(f"{place}/states")
        transcripts = check_transcripts()
        program.stdin.close()
if failures or program.returncode:
    sys.exit("\n".join(failures[:20] + [f"{len(failures)} failures, exit status {program.returncode}"]))
print(f"{len(read('names'))} names, {states} states, {transcripts} transcripts")
