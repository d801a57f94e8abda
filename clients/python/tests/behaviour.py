"""What the client promises: python3 behaviour.py TEST DIRECTORY SOCKET ORIGIN. Prints nothing if it holds.

The origin has the images /0.png to /999.png, /private.png for the token `ada`, and /slow/0.png to
/slow/119.png of 200,000 bytes, which end only when the caller has read the line `open`. The caller restarts the
daemon when it reads the line `restart`.
"""

import asyncio
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from cached_client import Cache, CacheError

test, DIRECTORY, SOCKET, ORIGIN = sys.argv[1:]
MISSING = "http://missing.example/a.png"
cache = Cache(DIRECTORY, SOCKET)


def plain(numbers):
    return [f"{ORIGIN}/{number}.png" for number in numbers]


def slow(numbers):
    return [f"{ORIGIN}/slow/{number}.png" for number in numbers]


def last(load):
    """The last item of each URL."""
    return {item.url: item for item in load}


def kinds(load):
    return {item.failure.kind for item in last(load).values()}


def error_of(action, *arguments):
    try:
        action(*arguments)
    except CacheError as error:
        assert str(error) and len(str(error)) < 400, error
        return error.kind
    raise AssertionError(f"{action} did not fail")


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def loads():
    a, none = f"{ORIGIN}/0.png", f"{ORIGIN}/none.png"
    assert cache.peek(a).state == "missing"
    items = last(cache.load([a, none, "nonsense", a, "http://a.example/" + "a" * 9000]))
    assert [item.state for item in items.values()].count("failed") == 3 and items[a].state == "cached"
    assert items[none].failure.kind == "http" and items[none].failure.http_status == 404
    assert cache.peek(a)[:2] == (a, "cached") and cache.peek(a).path == items[a].path
    assert cache.get(a).path == items[a].path
    assert error_of(cache.get, none) == "http" and error_of(cache.get, "nonsense") == "invalidURL"
    private = f"{ORIGIN}/private.png#as="
    assert error_of(cache.get, private + "bob") == "http"
    assert cache.get(private + "ada", headers={"Authorization": "Bearer ada"}).state == "cached"
    assert cache.get(private + "ada").state == "cached"
    assert [item.state for item in cache.status([MISSING, a, MISSING])] == ["missing", "cached", "missing"]

    async def twice():
        one, other = [[item async for item in cache.aload(plain([number]))] for number in (1, 0)]
        assert one[-1].state == "cached" and other[-1].state == "cached"
    asyncio.run(twice())


def opens_a_file():
    a = f"{ORIGIN}/0.png"
    item = cache.get(a)
    with cache.open(item) as file:
        content = file.read()
    assert len(content) == item.size
    # A sandbox sees no directory, and a path that it gets leads nowhere.
    outside = Cache("/nonexistent", SOCKET)
    for image in (a, item._replace(path="/nonexistent/a"), outside.get(a)):
        with outside.open(image) as file:
            assert file.read() == content
    assert error_of(outside.open, MISSING) == "notCached" and error_of(outside.open, "nonsense") == "invalidURL"


def a_window():
    """120 images through a window of 10: a download that leaves the window stops within 200 ms."""
    longest = 0
    with cache.load([], follow=True) as load:
        for start in range(0, 120, 10):
            window, seen = slow(range(start, start + 10)), set()
            began = time.monotonic()
            load.show(window, "visible")
            while start and any(item.state == "inFlight" for item in cache.status(slow(range(start - 10, start)))):
                pass
            longest = max(longest, time.monotonic() - began)
            while len(seen) < 10:
                item = next(load)
                assert item.url in window and item.state == "inFlight", item
                seen.add(item.url)
        assert longest < 0.2, longest
        print("open", flush=True)
        done = set()
        while len(done) < 10:
            item = next(load)
            assert item.state in ("inFlight", "cached"), item
            done |= {item.url} if item.state == "cached" else set()
    print(f"dropped in {longest * 1000:.0f} ms")


def leaving_ends_downloads():
    async def leave():
        async for item in cache.aload(slow([0])):
            if item.received:
                break

    async def cancelled():
        load = cache.aload(slow([1]))
        task = asyncio.ensure_future(all_of(load))
        await asyncio.sleep(0.1)
        task.cancel()

    async def all_of(load):
        return [item async for item in load]

    for action in (leave, cancelled):
        asyncio.run(action())
        wait_until(lambda: all(item.state == "missing" for item in cache.status(slow([0, 1]))))


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.005)


def a_restart():
    urls, cached = plain(range(900)) + slow(range(100)), set()
    for item in cache.load(urls):
        # A daemon that stops can report an interrupted download.
        assert item.state != "failed", item
        if item.state == "cached":
            cached.add(item.url)
            if len(cached) == 100:
                print("restart", flush=True)
    assert len(cached) == 1000, len(cached)
    assert all(item.state == "cached" for item in map(cache.peek, urls))


def a_child_reads_nothing_of_its_parent():
    load = cache.load(plain(range(20)))
    first = next(load)
    child = os.fork()
    if child == 0:
        own = Cache(DIRECTORY, SOCKET).get(f"{ORIGIN}/30.png")
        os._exit(0 if "forked" in {i.failure and i.failure.kind for i in load} and own.state == "cached" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert all(item.state == "cached" for item in last([first, *load]).values())


def many_wants():
    """10,000 at once, while the main loop goes on."""
    async def load():
        longest, before = 0.0, time.monotonic()

        async def tick():
            nonlocal longest, before
            while True:
                before = time.monotonic()
                await asyncio.sleep(0)
                longest = max(longest, time.monotonic() - before)
        ticking = asyncio.ensure_future(tick())
        urls = [f"nonsense-{number}" for number in range(10_000)]
        items = [item async for item in cache.aload(urls)]
        ticking.cancel()
        assert {item.url for item in items if item.failure.kind == "invalidURL"} == set(urls)
        assert longest < 1, longest
        print(f"the main loop waited for {longest * 1000:.0f} ms at most")
    asyncio.run(load())


def the_daemon_is_needed_for_nothing_that_is_cached():
    a = f"{ORIGIN}/0.png"
    cache.get(a)
    alone = Cache(DIRECTORY, SOCKET + ".none", patience=0.2)
    assert alone.peek(a).state == "cached" and alone.get(a).state == "cached" and alone.open(a).read()
    assert [item.state for item in alone.status([a, MISSING])] == ["cached", "missing"]
    began = time.monotonic()
    items = last(alone.load([a, MISSING]))
    assert items[a].state == "cached" and items[MISSING].failure.kind == "noDaemon"
    assert 0.2 <= time.monotonic() - began < 2
    assert error_of(alone.get, MISSING) == "noDaemon" and error_of(alone.open, MISSING) == "noDaemon"
    assert kinds(alone.load([MISSING, MISSING + "?"])) == {"noDaemon"}


def hostile_sockets():
    with tempfile.TemporaryDirectory() as place:
        path = place + "/s"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(100)
            client = Cache(place, path, patience=0.2)
            # It accepts and never answers.
            assert kinds(client.load([MISSING])) == {"noDaemon"}
            assert error_of(client.open, MISSING) == "noDaemon" and error_of(client.status, [MISSING]) == "noDaemon"
            answers = {b"": "noDaemon", b'{"parameters":{"ite': "noDaemon", b"HTTP/1.1 400\r\n\r\n\0": "badReply",
                       b"\0": "badReply", b"[" * 100_000 + b"\0": "badReply", os.urandom(1 << 16): "badReply"}
            for answer, kind in answers.items():
                listener.settimeout(0)
                while True:
                    try:
                        listener.accept()[0].close()
                    except BlockingIOError:
                        break
                load = client.load([MISSING])
                load.step()
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(answer)
                assert kinds(load) == {kind}, answer[:40]
            a_full_pipe(client)
            descriptors_that_nobody_asked_for(client, listener)


def a_full_pipe(client):
    """The daemon reads nothing, and the call does not fit into the pipe. No step waits."""
    load = client.load([f"{MISSING}?{number}" for number in range(10_000)])
    longest, steps = 0.0, 0
    while not load.done:
        began = time.monotonic()
        load.step()
        longest, steps = max(longest, time.monotonic() - began), steps + 1
        assert steps < 10_000
        time.sleep(min(load.timeout() or 0, 0.01))
    assert len(list(load)) == 10_000 and longest < 1, longest


def descriptors_that_nobody_asked_for(client, listener):
    listener.settimeout(1)
    drain(listener)
    before = descriptors()
    load = client.load([MISSING])
    load.step()
    connection, _ = listener.accept()
    with connection, open("/dev/null") as file:
        socket.send_fds(connection, [b"{}\0"], [file.fileno()] * 10)
    assert kinds(load) == {"badReply"} and descriptors() == before


def drain(listener):
    while True:
        listener.settimeout(0)
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            listener.settimeout(1)
            return


def folders_that_are_refused():
    with tempfile.TemporaryDirectory() as place:
        link, other = place + "/link", place + "/other"
        os.symlink(DIRECTORY, link)
        os.mkdir(other)
        assert error_of(Cache(link).peek, MISSING) == "storage"
        assert error_of(Cache(place + "/" + "a" * 300).peek, MISSING) == "storage"
        assert error_of(Cache("/dev/null").peek, MISSING) == "storage"
        if os.geteuid() == 0:
            os.chown(other, 12345, 12345)
            assert error_of(Cache(other).peek, MISSING) == "notPermitted"
        # The daemon knows better.
        a = Cache(link, SOCKET).get(f"{ORIGIN}/0.png")
        assert a.state == "cached" and a.path.startswith(DIRECTORY)
    assert error_of(cache.peek, "http://a.example/" + "a" * 9000) == "invalidURL"
    assert error_of(cache.peek, "http://a.example/\ud800") == "invalidURL"


def in_the_main_loop_of_glib():
    try:
        from gi.repository import GLib
    except ImportError:
        return print("there is no PyGObject")
    from cached_client.glib import LoadWatch
    loop, last_of, watch = GLib.MainLoop(), {}, None

    def show(item):
        last_of[item.url] = item
        if sum(item.state in ("cached", "failed") for item in last_of.values()) == 3:
            loop.quit()
    for client, urls in ((cache, plain(range(2)) + ["nonsense"]),
                         (Cache(DIRECTORY, SOCKET + ".none", patience=0.1), [MISSING + "?", MISSING, "http://a"])):
        last_of.clear()
        watch = LoadWatch(client.load(urls), show)
        loop.run()
        assert set(last_of) == set(urls) and watch.done
    last_of.clear()
    watch = LoadWatch(cache.load([], follow=True), show)
    GLib.timeout_add(20, lambda: watch.show(plain(range(10, 13))))
    loop.run()
    watch.show(slow([0]))
    GLib.timeout_add(100, loop.quit)
    loop.run()
    assert last_of[slow([0])[0]].state == "inFlight"
    watch.close()
    wait_until(lambda: cache.status(slow([0]))[0].state == "missing")


def the_readme():
    """Its examples run."""
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    environment = {**os.environ, "CACHE_DIRECTORY": DIRECTORY, "CACHED_SOCKET": SOCKET}
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        example = re.sub(r"https://example\.com/(\w+)", lambda m: f"{ORIGIN}/{'abc'.find(m[1])}", example)
        python = sys.executable
        if "gi.repository" in example:
            python = "/usr/bin/python3"
            if subprocess.run([python, "-c", "import gi"], stderr=subprocess.DEVNULL).returncode:
                continue
        run = subprocess.run([python, "-c", example], env=environment, stdout=subprocess.PIPE, timeout=60)
        assert run.returncode == 0 and b"noDaemon" not in run.stdout, example


def the_speed_of_peek():
    """At most 20 µs; the fastest of some rounds, because other programs run too."""
    urls = [cache.get(f"{ORIGIN}/0.png").url, MISSING]
    for url in urls:
        fastest = min(round_of_peeks(url) for _ in range(30))
        assert fastest <= 20e-6, fastest
        print(f"{cache.peek(url).state}: {fastest * 1e6:.1f} µs")


def round_of_peeks(url):
    began = time.perf_counter()
    for _ in range(500):
        cache.peek(url)
    return (time.perf_counter() - began) / 500


before = descriptors()
globals()[test]()
# GLib keeps one for its main context.
assert len(descriptors()) == len(before) + ("gi" in sys.modules), (before, descriptors())
assert len(os.listdir("/proc/self/task")) == 1, "it started a thread"
