"""What a daemon, or a program in its place, sends after a Fetch with `more`; and what a client makes of it."""

import json
import uuid

A, B, C = (f"http://images.example/{letter}.png" for letter in "abc")
STRANGE = ['http://images.example/"\\.png', "http://images.example/ä/日本/🐈.png", "http://images.example/a\tb.png",
           "http://images.example/</script>.png", "http://images.example/\u2028.png"]
PHASES = ["queued", "connecting", "receiving", "retrying", "publishing"]
KINDS = ["unresolved", "unreachable", "timeout", "truncated", "http", "tls", "redirect", "protocolError",
         "addressRefused", "notAnImage", "tooLarge", "unverifiable", "invalidURL", "invalidHeaders", "digestMismatch", "obstructed",
         "damaged", "storage", "noRoom", "removed"]


def path(url):
    return f"/var/cache/cached/{uuid.uuid5(uuid.NAMESPACE_URL, url)}"


def in_flight(url, phase="receiving", **members):
    return {"url": url, "key": path(url)[-36:], "state": "inFlight", "phase": phase, **members}


def cached(url, size=1000, **members):
    return {"url": url, "key": path(url)[-36:], "state": "cached", "path": path(url), "size": size, **members}


def missing(url, kind=None, **members):
    failure = {"failure": {"kind": kind, "message": f"it failed: {kind}", **members}} if kind else members
    return {"url": url, "key": path(url)[-36:], "state": "missing", **failure}


def event(item):
    """The event of an item, by the rules of README.md."""
    failure = item.get("failure")
    state = "failed" if item["state"] == "missing" and failure else item["state"]
    result = {"url": item["url"], "state": state}
    for key in ("phase", "received", "total", "path", "size"):
        if item.get(key) is not None:
            result[key] = item[key]
    if failure:
        result["failure"] = failure["kind"]
    return result


def message(items, continues=None, **members):
    flags = {} if continues is None else {"continues": continues}
    return json.dumps({"parameters": {"items": items}, **flags, **members}, separators=(",", ":")) + "\0"


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, wants, content, events=(), end="open", kind=None, follow=False, **members):
        """`content` is a text, or bytes that are not UTF-8."""
        form = {"text": content} if isinstance(content, str) else {"hex": content.hex()}
        self.rows.append({"name": name, "wants": wants, "follow": follow, **form, "events": list(events),
                          "end": end, **({"kind": kind} if kind else {}), **members})

    def stream(self, name, wants, replies, end="done", follow=False, **members):
        """Replies of which all but the last have `continues`; with `follow` the last has it, too."""
        text, events, seen = "", [], {}
        for number, items in enumerate(replies):
            goes_on = follow or number < len(replies) - 1 or end == "open"
            text += message(items, True if goes_on else None)
            for each in map(event, items):
                if seen.get(each["url"]) != each and each["url"] in wants:
                    events.append(each)
                seen[each["url"]] = each
        self.add(name, wants, text, events, "open" if follow else end, follow=follow, **members)

    def refused(self, name, content, wants=(A,), events=()):
        self.add(name, list(wants), content, events, "failed", "badReply")


def make():
    table = Table()
    streams(table)
    followed(table)
    forms(table)
    errors(table)
    cut_off(table)
    malformed(table)
    wrong_types(table)
    limits(table)
    return table.rows


def streams(table):
    table.stream("cached at once", [A], [[cached(A)]])
    table.stream("several cached at once", [A, B, C], [[cached(A), cached(B, 1), cached(C, 1 << 40)]])
    table.stream("missing without a reason", [A], [[missing(A)]])
    table.stream("missing, an interrupted download can continue", [A], [[missing(A, received=10, total=20)]])
    for kind in KINDS:
        table.stream(f"failed: {kind}", [A], [[in_flight(A, "connecting", received=0)], [missing(A, kind)]])
    for status in (400, 401, 403, 404, 408, 410, 429, 500, 503, 599):
        table.stream(f"failed: status {status}", [A], [[missing(A, "http", httpStatus=status, retryAt=1700000000)]])
    for phase in PHASES:
        table.stream(f"phase {phase}", [A], [[in_flight(A, phase, received=0)]], "open")
        table.stream(f"phase {phase} of a cached image", [A], [[cached(A, phase=phase, received=0)], [cached(A)]])
    table.stream("a phase of a later daemon", [A], [[in_flight(A, "decoding")]], "open")
    for total in (None, 1000):
        for steps in (1, 2, 5, 10):
            parts = [[in_flight(A, received=1000 * step // steps, **({"total": total} if total else {}))]
                     for step in range(steps + 1)]
            table.stream(f"progress in {steps} steps, total {total}", [A], parts + [[cached(A)]])
    table.stream("progress that goes back", [A],
                 [[in_flight(A, received=500, total=1000)], [in_flight(A, received=0)], [cached(A)]])
    table.stream("more than was expected", [A], [[in_flight(A, received=1001, total=1000)], [cached(A, 1001)]])
    table.stream("sizes beyond 32 bits", [A], [[in_flight(A, received=5 << 30, total=1 << 52)], [cached(A, 1 << 52)]])
    table.stream("a refresh that failed", [A], [[cached(A, failure={"kind": "http", "message": "status 500"})]])
    table.stream("one after the other", [A, B, C], [
        [in_flight(url, "queued", received=0) for url in (A, B, C)], [cached(B)], [missing(A, "http")],
        [missing(A, "http"), cached(B), cached(C)]])
    table.stream("an item that did not change", [A], [[in_flight(A, received=1)]] * 3 + [[cached(A)]])
    table.stream("an item that nobody wanted", [A], [[cached(B), cached(A)]])
    table.stream("nothing but items that nobody wanted, so far", [A], [[cached(B)]], "open")
    table.stream("a reply without items, so far", [A], [[], [cached(A)]])
    table.stream("the same image twice in a reply", [A], [[cached(A), cached(A)]])
    for url in STRANGE:
        table.stream(f"the URL {ascii(url)}", [url], [[in_flight(url, received=1)], [cached(url)]])
    table.stream("a long URL", [A + "x" * 1000], [[cached(A + "x" * 1000)]])
    table.stream("an empty URL", [""], [[missing("", "invalidURL")]])
    table.stream("type and pixels", [A], [[in_flight(A, received=1, mediaType="image/png", width=1, height=2)],
                                          [cached(A, mediaType="image/png", width=1, height=2)]])
    table.stream("details that a client did not ask for", [A], [[cached(
        A, sha256="00" * 32, fetchedAt=1, freshUntil=2, lastUsedAt=3, etag='"1"', strict=True, pinned=False)]])
    many = [f"http://images.example/{number}.png" for number in range(20)]
    table.stream("twenty images", many, [[in_flight(url, "queued") for url in many], [cached(url) for url in many]])


def followed(table):
    def follow(name, wants, replies):
        table.stream("followed: " + name, wants, replies, follow=True)

    follow("all cached", [A, B], [[cached(A), cached(B)]])
    follow("cached later", [A], [[in_flight(A, received=1)], [cached(A)]])
    follow("evicted", [A], [[cached(A)], [missing(A)]])
    follow("evicted and downloaded again", [A], [[cached(A)], [missing(A)], [in_flight(A, received=1)], [cached(A)]])
    follow("removed", [A], [[cached(A)], [missing(A, "removed")]])
    follow("failed, then tried again", [A], [
        [missing(A, "http", retryAt=1700000000)], [in_flight(A, "connecting", received=0)], [cached(A)]])
    follow("refreshed", [A], [[cached(A)], [cached(A, phase="receiving", received=1)], [cached(A, 2000)]])
    follow("an image that was dropped", [A], [[in_flight(B, received=1), in_flight(A, received=1)], [cached(A)]])
    follow("no items", [A], [[]])
    first = message([cached(A)], True)
    table.add("followed: the stream ends", [A], first + message([cached(A)]), [event(cached(A))], "lost", follow=True)
    table.add("followed: the stream ends without items", [A], first + message([]), [event(cached(A))], "lost",
              follow=True)


def forms(table):
    """Other spellings of the same JSON."""
    seen = [event(cached(A))]
    item = json.dumps(cached(A))

    def form(name, text, events=seen, end="done"):
        table.add("form: " + name, [A], text, events, end)

    form("spaces everywhere", f' \t\r\n{{ "parameters" : {{ "items" : [ {item} ] }} }}\n \0')
    form("continues is false", message([cached(A)], False))
    form("continues is null", f'{{"parameters":{{"items":[{item}]}},"continues":null}}\0')
    form("continues comes first", f'{{"continues":true,"parameters":{{"items":[{item}]}}}}\0', end="open")
    form("error is null", message([cached(A)], error=None))
    form("an unknown member", message([cached(A)], later={"a": [1, 2, {"b": None}]}))
    form("an unknown member of the parameters",
         f'{{"parameters":{{"later":{{"items":[1]}},"items":[{item}],"more":"]}}"}}}}\0')
    form("an unknown member of the item", message([cached(A, later=[{"url": B}], text="}]\\\"")]))
    form("absent members are null", message([cached(A, phase=None, received=None, total=None, failure=None)]))
    form("every character escaped", message([cached(A)]).replace(A, "".join(f"\\u{ord(c):04x}" for c in A)))
    form("slashes escaped", message([cached(A)]).replace("/", "\\/"))
    form("the members in another order", message([dict(reversed(list(cached(A).items())))]))
    form("another reply after the last", message([cached(A)]) + message([missing(A, "http")]))
    form("garbage after the last reply", message([cached(A)]) + "garbage\0")
    form("numbers that are not used", message([cached(A, percent=12.5, x=-1.5e-3, y=1e300)]))
    astral = "http://images.example/🐈.png"
    table.add("form: a surrogate pair", [astral], message([cached(astral)]), [event(cached(astral))], "done")
    table.add("form: UTF-8 that is not escaped", [STRANGE[1]],
              json.dumps({"parameters": {"items": [cached(STRANGE[1])]}}, ensure_ascii=False) + "\0",
              [event(cached(STRANGE[1]))], "done")
    table.add("form: names of members escaped", [A], message([cached(A)]).replace('"items"', '"\\u0069tems"'),
              seen, "done")


def errors(table):
    def error(name, kind, text, events=(), **members):
        table.add("error: " + name, [A], text, events, "failed", kind, **members)

    for word in ("TooMany", "NoStream", "MessageTooLarge", "InvalidMessage"):
        error(word, word[0].lower() + word[1:], json.dumps(
            {"error": "io.cached.Cache." + word, "parameters": {"limit": 10}}) + "\0")
    for word in ("InterfaceNotFound", "MethodNotFound", "MethodNotImplemented", "InvalidParameter", "ExpectedMore",
                 "PermissionDenied"):
        error(word, word[0].lower() + word[1:], json.dumps(
            {"error": "org.varlink.service." + word, "parameters": {}, "reason": "a sentence"}) + "\0")
    error("of a later daemon", "unheardOf", '{"error":"io.cached.Cache.UnheardOf"}\0')
    error("without parameters", "tooMany", '{"error":"io.cached.Cache.TooMany"}\0')
    error("parameters are null", "tooMany", '{"error":"io.cached.Cache.TooMany","parameters":null}\0')
    error("after an item", "tooMany", message([in_flight(A)], True) + '{"error":"io.cached.Cache.TooMany"}\0',
          [event(in_flight(A))])
    table.add("error: ShuttingDown", [A], '{"error":"io.cached.Cache.ShuttingDown","parameters":{}}\0', [], "lost")
    table.add("error: ShuttingDown after an item", [A], message([in_flight(A)], True)
              + '{"error":"io.cached.Cache.ShuttingDown","parameters":{}}\0', [event(in_flight(A))], "lost")


def cut_off(table):
    """Less than a reply leaves the stream open."""
    whole = message([cached(A)])
    for length in (0, 1, 2, 10, 30, len(whole) // 2, len(whole) - 2, len(whole) - 1):
        table.add(f"cut off after {length} bytes", [A], whole[:length])
    first = message([in_flight(A, received=1)], True)
    for length in (1, 20, len(whole) - 1):
        table.add(f"cut off {length} bytes after a reply", [A], first + whole[:length],
                  [event(in_flight(A, received=1))])
    table.add("cut off in a character", [STRANGE[1]], '{"parameters":{"items":[{"url":"http://images.example/ä'
              .encode()[:-1])


def malformed(table):
    first, seen = message([in_flight(A)], True), [event(in_flight(A))]
    texts = {
        "nothing": "", "a space": " ", "a word": "hello", "HTTP": "HTTP/1.1 400 Bad Request\r\n\r\n",
        "an open object": "{", "an open list": "[", "an open text": '{"parameters', "a comma too many": '{"a":1,}',
        "no comma": '{"a":1 "b":2}', "no colon": '{"a" 1}', "single quotes": "{'parameters':{}}",
        "a name without quotes": "{parameters:{}}", "a comment": '{"parameters":{"items":[]}} // done',
        "two objects": '{"continues":true}{"continues":true}', "a bracket too many": '{"parameters":{"items":[]}}}',
        "wrong brackets": '{"parameters":{"items":[}]}', "a bad escape": '{"parameters":{"items":[{"url":"\\x41"}]}}',
        "a short escape": '{"parameters":{"items":[{"url":"\\u41"}]}}', "NaN": '{"parameters":{"items":[]},"x":NaN}',
        "infinity": '{"parameters":{"items":[]},"x":-Infinity}', "a hexadecimal number": '{"x":0x10}',
        "a leading zero": '{"x":01}', "a number with a plus": '{"x":+1}', "a dot without digits": '{"x":1.}',
        "a bare word": '{"x":yes}', "True": '{"x":True}', "a line break in a text": '{"x":"a\nb"}',
        "a control character in a text": '{"x":"a\u0001b"}', "a byte order mark": "\ufeff" + message([cached(A)])[:-1],
        "a list": "[]", "a number": "1", "a text": '"parameters"', "null": "null", "true": "true",
    }
    for name, text in texts.items():
        table.refused("malformed: " + name, text + "\0")
    table.refused("malformed: after a reply", first + "{]\0", events=seen)
    table.refused("malformed: nothing after a reply", first + "\0", events=seen)
    table.refused("malformed: deep lists", "[" * 3_000 + "\0")
    for name, content in {"a lone continuation byte": b'{"x":"\x80"}\0', "a lone first byte": b'{"x":"\xc3"}\0',
                          "an overlong form": b'{"x":"\xc0\xaf"}\0', "a surrogate": b'{"x":"\xed\xa0\x80"}\0',
                          "beyond Unicode": b'{"x":"\xf4\x90\x80\x80"}\0', "bytes": bytes(range(255, 0, -1)) + b"\0",
                          "UTF-16": '{"x":1}'.encode("utf-16-le")}.items():
        table.refused("malformed: " + name, content)


def wrong_types(table):
    def item(name, **members):
        base = {**cached(A), **members}
        table.refused("type: " + name, message([{k: v for k, v in base.items() if v != "absent"}]))

    table.refused("type: no parameters", "{}\0")
    table.refused("type: no items", '{"parameters":{}}\0')
    for name, value in (("null", None), ("an object", {}), ("a text", "x"), ("a number", 1)):
        table.refused(f"type: items is {name}", message(value))
    for name, value in (("a list", []), ("a text", "x"), ("a number", 1), ("true", True)):
        table.refused(f"type: parameters is {name}", json.dumps({"parameters": value}) + "\0")
    for name, value in (("a text", "yes"), ("a number", 1), ("a list", [])):
        table.refused(f"type: continues is {name}", message([cached(A)], value))
    for name, value in (("a number", 1), ("a list", []), ("an object", {}), ("true", True), ("an empty text", "")):
        table.refused(f"type: error is {name}", json.dumps({"error": value, "parameters": {}}) + "\0")
    for name, value in (("null", None), ("a list", []), ("a text", A), ("a number", 1)):
        table.refused(f"type: an item is {name}", message([value]))
    for name, value in (("absent", "absent"), ("null", None), ("a number", 1), ("a list", [A])):
        item(f"url is {name}", url=value)
        item(f"state is {name}", state=value)
        item(f"path of a cached image is {name}", path=value)
    item("state is unknown", state="here")
    item("state is in upper case", state="Cached")
    item("state is empty", state="")
    item("path is empty", path="")
    item("path is relative", path="cache/a")
    item("path has a zero byte", path=path(A).replace("cached/", "cac\0hed/"))
    item("path is that of another file", path="/etc/passwd")
    item("path is that of a download", path=path(A) + ".part")
    item("path is a name with something before it", path=path(A).replace("cached/", "cached/a"))
    for key in ("received", "total", "size"):
        for name, value in (("negative", -1), ("a text", "1"), ("a fraction", 1.5), ("true", True), ("a list", [1])):
            item(f"{key} is {name}", **{key: value})
    for name, value in (("a text", "x"), ("a list", []), ("true", True), ("empty", {}),
                        ("without a kind", {"message": "x"}), ("without a message", {"kind": "http"}),
                        ("with an empty kind", {"kind": "", "message": "x"}),
                        ("with a kind that is a number", {"kind": 1, "message": "x"})):
        item(f"failure is {name}", failure=value)
    item("phase is a number", phase=1)


def limits(table):
    table.refused("the last reply leaves out an image", message([cached(A)]), [A, B], [event(cached(A))])
    table.refused("the last reply has no items", message([]))
    table.refused("the last reply has an image in flight", message([in_flight(A)]), events=[event(in_flight(A))])
    table.add("longer than the limit", [A], "{" + " " * 200, [], "failed", "badReply", limit=100)
    table.add("as long as the limit", [A], "{" + " " * 99, limit=100)
