"""What the client promises: python3 behaviour.py TEST DIRECTORY SOCKET ORIGIN. Prints nothing if it holds.

The origin has the images /0.png to /999.png, /private.png for the token `ada`, and /slow/0.png to
/slow/119.png of 200,000 bytes, which end only when the caller has read the line `open`. /cut.png ends early,
/portal.png is a page, /moved.png leads to /private.png of an origin that has another name, and /growing.png has 100
bytes more each time. The caller restarts the daemon when it reads the line `restart`. `cached` and `cachectl` are in
`$PROGRAMS`.
"""

import asyncio
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

from cached_client import Cache, CacheError, FakeCache, _daemon, name, variant

test, DIRECTORY, SOCKET, ORIGIN = sys.argv[1:]
os.environ.pop("CACHED_START", None)
_daemon.FOLDERS.clear()  # Only the programs of a test are there.
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


def error_of(action, *arguments, **options):
    try:
        action(*arguments, **options)
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
            load.want(window, "visible")
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
    os.environ["PATH"] = "/nonexistent"
    alone = Cache(DIRECTORY, SOCKET + ".none")
    assert alone.peek(a).state == "cached" and alone.get(a).state == "cached" and alone.open(a).read()
    assert [item.state for item in alone.status([a, MISSING])] == ["cached", "missing"]
    began = time.monotonic()
    items = last(alone.load([a, MISSING]))
    assert items[a].state == "cached" and items[MISSING].failure.kind == "noDaemon"
    for action in (alone.get, alone.open, alone.pin, alone.remove, alone.refresh):
        assert error_of(action, MISSING) == "noDaemon"
    assert error_of(alone.refresh, a) == "noDaemon" and error_of(alone.import_file, a, "/dev/null") == "noDaemon"
    assert kinds(alone.load([MISSING, MISSING + "?"])) == {"noDaemon"}
    assert not alone.is_available and cache.is_available
    # Nobody waits for a daemon that cannot come.
    assert time.monotonic() - began < 5


def a_load_that_follows_finds_a_daemon_later():
    with tempfile.TemporaryDirectory() as place:
        with Cache(place, place + "/s", start=False).load([f"{ORIGIN}/0.png"], follow=True) as load:
            assert next(load).failure.kind == "noDaemon"
            os.symlink(SOCKET, place + "/s")
            while next(load).state != "cached":
                pass


def patience_is_for_a_daemon_that_was_there():
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place + "/s")  # Nobody listens, as after a crash.
        client, began = Cache(place, place + "/s", patience=0.3, start=False), time.monotonic()
        assert error_of(client.get, MISSING) == "noDaemon" and time.monotonic() - began >= 0.3


def program(place, name, text):
    os.makedirs(place + "/bin", exist_ok=True)
    path = pathlib.Path(place, "bin", name)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    os.environ["PATH"] = f"{place}/bin:/usr/bin:/bin"


def a_start_that_fails():
    with tempfile.TemporaryDirectory() as place:
        ran = pathlib.Path(place, "ran")
        program(place, "cached", f'echo "$@" >>{ran}; echo cached: the folder is broken >&2; echo Usage: cached >&2; exit 78\n')
        client = Cache(place, place + "/s")
        for action in (client.get, client.pin):
            try:
                action(MISSING)
            except CacheError as error:
                assert error.kind == "noDaemon" and "the folder is broken" in str(error), error
        options = f"--detach --idle-exit 10min --socket {place}/s --directory {place}\n"
        assert ran.read_text() == 2 * options, ran.read_text()
        os.environ["CACHED_START"] = "no"
        for off in (Cache(place, place + "/s"), Cache(place, place + "/s", start=False)):
            assert error_of(off.get, MISSING) == "noDaemon" and not off.is_available
        del os.environ["CACHED_START"]
        assert ran.read_text() == 2 * options and client.is_available and client.status([MISSING])
        # It never ends.
        program(place, "cached", "exec sleep 20\n")
        began = time.monotonic()
        assert error_of(Cache(place, place + "/s", patience=0.3).get, MISSING) == "noDaemon"
        assert error_of(client.get, MISSING, timeout=0.2) == "deadline"
        assert time.monotonic() - began < 5
        # Another program's daemon holds the directory, and answers a moment later.
        program(place, "cached", f"(sleep 0.2; ln -s {SOCKET} {place}/s) & echo held >&2; exit 75\n")
        assert client.get(f"{ORIGIN}/0.png").state == "cached"


def the_socket_unit_comes_first():
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as manager:
        os.makedirs(place + "/systemd")
        os.makedirs(place + "/cached")
        manager.bind(place + "/systemd/private")
        os.environ.update(XDG_RUNTIME_DIR=place, CACHED_DIRECTORY=DIRECTORY)
        program(place, "cached", f"ln -s {SOCKET} {place}/cached/cached.sock\n")
        program(place, "systemctl", f'test "$*" = "--user start cached.socket" && touch {place}/unit && '
                                    f"ln -s {SOCKET} {place}/cached/cached.sock\n")
        assert Cache().get(f"{ORIGIN}/0.png").state == "cached" and os.path.exists(place + "/unit")
        os.unlink(place + "/cached/cached.sock")
        program(place, "systemctl", "echo Unit cached.socket not found. >&2; exit 5\n")
        assert Cache().get(f"{ORIGIN}/1.png").state == "cached"


def three_programs_start_one_daemon():
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(place + "/run")
        # As in a Flatpak, which has caches of its own. The library looks where its daemon writes.
        caches = {"XDG_CACHE_HOME": place + "/.cache", "HOST_XDG_CACHE_HOME": place + "/host"}
        environment = {**os.environ, **caches, "HOME": place, "XDG_RUNTIME_DIR": place + "/run",
                       "CACHED_ALLOW_NETWORK": "127.0.0.0/8", "PATH": f"{os.environ['PROGRAMS']}:{os.environ['PATH']}"}
        script = """if True:
            import socket, struct, sys, time
            from cached_client import Cache
            cache, began = Cache(), time.monotonic()
            path, took = cache.get(sys.argv[1]).path, time.monotonic() - began
            assert cache.peek(sys.argv[1]).path == path
            with cache._connect() as connection:
                daemon = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            print(struct.unpack("3i", daemon)[0], took, path)
            """
        running = [subprocess.Popen([sys.executable, "-c", script, url], env=environment, stdout=subprocess.PIPE)
                   for url in plain(range(3))]
        try:
            answers = [each.communicate(timeout=30)[0].decode().split() for each in running]
            assert all(each.returncode == 0 for each in running), answers
            assert len({daemon for daemon, _, _ in answers}) == 1, answers
            assert all(os.path.getsize(path) for _, _, path in answers)
            print("first pictures after " + ", ".join(f"{float(took) * 1000:.0f} ms" for _, took, _ in answers))
        finally:
            os.kill(int(pathlib.Path(place, ".cache/cached/.lock").read_text()), 15)
            wait_until(lambda: not os.path.exists(place + "/run/cached/cached.sock"))


def every_verb():
    a, b = plain(range(2))
    size = cache.get(f"{ORIGIN}/growing.png").size
    assert cache.get(f"{ORIGIN}/growing.png").size == size
    assert cache.refresh(f"{ORIGIN}/growing.png").size == size + 100
    # One failed attempt, and a deadline.
    began = time.monotonic()
    assert error_of(cache.get, f"{ORIGIN}/cut.png", attempts=1) == "truncated"
    assert time.monotonic() - began < 3
    assert error_of(cache.get, slow([0])[0], timeout=0.2) == "deadline"
    cache.get(a)
    items = last(cache.load([a, *slow([1])], timeout=1))
    assert items[a].state == "cached" and items[slow([1])[0]].failure.kind == "deadline"
    # Types that the caller can decode: in the directory, and from the daemon.
    for url in (a, b):
        assert error_of(cache.get, url, accept=["image/jpeg"]) == "notAccepted"
        assert cache.get(url, accept=["image/jpeg", "image/png"]).media_type == "image/png"
    assert cache.peek(a).media_type == "image/png" and cache.peek(a).width
    # Accounts.
    private, token = f"{ORIGIN}/private.png", {"Authorization": "Bearer ada"}
    item = cache.get(private, account="a'da ü", headers=token)
    assert item.url == variant(private, account="a'da ü") == private + "#as=a%27da%20%C3%BC"
    assert cache.peek(private, account="a'da ü").state == "cached" and cache.peek(private).state == "missing"
    assert cache.remove(account="a'da ü") == 1 and cache.peek(item.url).state == "missing"
    # Sizes are rounded up, and the largest one is the image itself.
    assert [variant(a, side=side) for side in (1, 200, 2048, 4000)] == \
        [a + "#side=32", a + "#side=256", a + "#side=2048", a]
    assert variant(a, side=64, account="x") == a + "#as=x&side=64"
    # Pins, removal.
    assert [item.state for item in cache.pin(a, MISSING)] == ["cached", "failed"]
    assert cache.unpin(a)[0].state == "cached"
    assert cache.remove(a, MISSING) == 1 and cache.peek(a).state == "missing" and cache.remove() == 0
    # A file of the application moves in.
    os.environ["PATH"] = f"{os.environ['PROGRAMS']}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place, "-a file.png")
        file.write_bytes(pathlib.Path(cache.get(b).path).read_bytes())
        assert cache.import_file(MISSING, file).size == 5000 and cache.status([MISSING])[0].state == "cached"
        file.write_bytes(b"text")
        assert error_of(cache.import_file, MISSING + "?", file) == "notImported"
        assert error_of(cache.import_file, MISSING + "?", place + "/none") == "notImported"
        assert error_of(cache.import_file, "nonsense", file) == "invalidURL"
    # The set of a load.
    with cache.load([b], follow=True) as load:
        assert next(load).url == b
        load.add([a], "visible")
        while (item := next(load)).state != "cached":
            assert item.url == a
        load.add(slow([2, 3]))
        while next(load).url != slow([3])[0]:
            pass
        load.drop(slow([2, 3]))
        wait_until(lambda: all(item.state == "missing" for item in cache.status(slow([2, 3]))))
        load.want([])
        for change in (load.want, load.add, load.drop):
            change([b])
    for options in ({"timeout": 1}, {"refresh": True}):
        try:
            cache.load([a], follow=True, **options)
        except ValueError:
            continue
        raise AssertionError(options)
    with cache.pressure() as levels:
        assert next(levels) in ("normal", "warning", "critical")

    async def level():
        async for each in cache.apressure():
            return each
    assert asyncio.run(level()) in ("normal", "warning", "critical")


def an_image_without_its_directory():
    """As in a sandbox that sees the socket alone. `opens_a_file` opens one there."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place + "/s")
        listener.listen()
        load = Cache(place, place + "/s").load([MISSING])
        load.step()
        with listener.accept()[0] as daemon:
            daemon.recv(1 << 16)
            item = {"url": MISSING, "state": "cached", "path": f"/nonexistent/{name(MISSING)}", "size": 5, "mediaType": "image/png"}
            daemon.sendall(json.dumps({"parameters": {"items": [item]}}).encode() + b"\0")
        item = last(load)[MISSING]
        assert item.state == "cached" and item.path is None and item.size == 5


def plain_mode():
    os.environ["PATH"] = "/nonexistent"
    with tempfile.TemporaryDirectory() as place:
        folder = place + "/plain"
        alone = Cache(place + "/none", place + "/s", fallback=folder)
        a, b = plain(range(2))
        assert alone.peek(a).state == "missing" and not alone.is_available
        item = alone.get(a)
        assert item.path == f"{folder}/{name(a)}" and os.path.getsize(item.path) == item.size == 5000
        assert alone.peek(a) == alone.get(a) and alone.peek(a).media_type == "image/png"
        with alone.open(a) as file:
            assert len(file.read()) == 5000
        for path, kind in (("/none.png", "http"), ("/cut.png", "truncated"), ("/portal.png", "notAnImage"),
                           ("/0.png#side=64", "underivable")):
            assert error_of(alone.get, ORIGIN + path) == kind, path
        assert error_of(alone.get, "nonsense") == "invalidURL" and error_of(alone.get, "file:///etc/passwd") == "invalidURL"
        assert error_of(alone.get, "http://127.0.0.1:1/a.png") == "unreachable"
        assert error_of(alone.get, a, accept=["image/jpeg"]) == "notAccepted"
        # The token goes to the origin of the URL and to no other.
        token = {"Authorization": "Bearer ada"}
        assert alone.get(f"{ORIGIN}/private.png", account="ada", headers=token).state == "cached"
        assert error_of(alone.get, f"{ORIGIN}/moved.png", account="ada", headers=token) == "http"
        assert error_of(alone.get, slow([0])[0], timeout=0.2) == "deadline"
        size = alone.get(f"{ORIGIN}/growing.png").size
        assert alone.refresh(f"{ORIGIN}/growing.png").size == size + 100
        assert error_of(alone.pin, a) == "noDaemon"
        assert alone.remove(a, MISSING) == 1 and alone.peek(a).state == "missing"
        urls = plain(range(20))
        assert {item.state for item in last(alone.load([*urls, ORIGIN + "/cut.png"])).values()} == {"cached", "failed"}

        async def some():
            async with alone.aload([b], follow=True) as load:
                load.add([f"{ORIGIN}/30.png"])
                done = set()
                async for item in load:
                    done |= {item.url} if item.state == "cached" else set()
                    if len(done) == 2:
                        return
        asyncio.run(some())
        # An interrupted download leaves nothing, and only whole images have names.
        print("open", flush=True)
        wait_until(lambda: not any(each.endswith(".part") for each in os.listdir(folder)))
        wait_until(lambda: len(os.listdir("/proc/self/task")) == 1)
        assert all(os.path.getsize(f"{folder}/{each}") >= 5000 for each in os.listdir(folder))
        # With a daemon, the daemon is used.
        assert Cache(DIRECTORY, SOCKET, fallback=folder).get(f"{ORIGIN}/40.png").path.startswith(DIRECTORY)


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
                         (Cache(DIRECTORY, SOCKET + ".none", start=False), [MISSING + "?", MISSING, "http://a"])):
        last_of.clear()
        watch = LoadWatch(client.load(urls), show)
        loop.run()
        assert set(last_of) == set(urls) and watch.done
    last_of.clear()
    watch = LoadWatch(cache.load([], follow=True), show)
    GLib.timeout_add(20, lambda: watch.want(plain(range(10, 13))))
    loop.run()
    watch.want(slow([0]))
    GLib.timeout_add(100, loop.quit)
    loop.run()
    assert last_of[slow([0])[0]].state == "inFlight"
    watch.close()
    wait_until(lambda: cache.status(slow([0]))[0].state == "missing")


def a_fake():
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place, "a.png")
        file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
        a, b, c, d, other = (f"http://images.example/{each}" for each in ("a", "b", "c", "d", "other"))
        cut = CacheError("truncated", "the connection ended")
        fake = FakeCache({a: file, b: [0.1, 0.5, file], c: [cut, file], d: [0.5]})
        assert fake.is_available and fake.peek(a).media_type == "image/png" and fake.peek(b).state == "missing"
        states = [(item.url, item.state, item.fraction) for item in fake.load([a, b])]
        assert states == [(a, "cached", 1), (b, "inFlight", 0.1), (b, "inFlight", 0.5), (b, "cached", 1)], states
        assert error_of(fake.get, c) == "truncated" and fake.get(c).size == 108
        assert error_of(fake.get, other) == "http" and error_of(fake.get, d, timeout=0.05) == "deadline"
        assert error_of(fake.get, a, accept=["image/webp"]) == "notAccepted"
        with fake.open(a) as opened:
            assert len(opened.read()) == 108
        with fake.load([a], "visible", follow=True) as load:
            assert next(load).state == "cached" and fake.wanted == {a: "visible"}
            fake.set(a, None)
            assert next(load).state == "missing"
            fake.set(a, [0.2, file])
            assert [next(load).state, next(load).state] == ["inFlight", "cached"]
            assert fake.pin(a)[0].state == "cached" and fake.pinned == {a}
            assert fake.remove(a) == 1 and next(load).state == "missing" and not fake.pinned
        assert not fake.wanted and [method for method, _ in fake.calls] == ["Pin", "Remove"]
        assert fake.import_file(a + "#as=ada&side=64", file).state == "cached" and fake.remove(account="ada") == 1

        async def watched():
            seen = []
            async with fake.aload([b], follow=True) as load:
                async for item in load:
                    seen.append(item.state)
                    if len(seen) == 1:
                        asyncio.get_running_loop().call_soon(fake.set, b, None)
                    else:
                        return seen
        assert asyncio.run(watched()) == ["cached", "missing"]
        with fake.pressure() as levels:
            assert next(levels) == "normal"
            fake.press("critical")
            assert next(levels) == "critical"
        gone = FakeCache({a: file}, is_available=False)
        assert not gone.is_available and gone.get(a).state == "cached"
        assert error_of(gone.get, b) == "noDaemon" and error_of(gone.pin, a) == "noDaemon"


def it_is_imported_quickly():
    """25 ms of CPU at most, without asyncio; the fastest of some runs. And on systems that lack what Linux has."""
    script = """if True:
        import sys, time
        began = time.process_time()
        import cached_client
        took = time.process_time() - began
        assert not {"asyncio", "subprocess", "urllib.request", "ssl"} & set(sys.modules)
        print(took)
        """
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
        took = [float(subprocess.check_output([sys.executable, "-c", script], env=environment)) for _ in range(15)]
    assert min(took) <= 0.025, took
    print(f"{min(took) * 1000:.1f} ms")
    windows = """if True:
        import sys, os, socket, select, tempfile
        pair = socket.socketpair
        socket.socketpair = lambda: pair(1)  # That of Windows is made of TCP.
        sys.modules["fcntl"] = None
        for module, names in ((os, "getxattr geteuid O_NOFOLLOW O_NONBLOCK O_CLOEXEC"), (socket, "AF_UNIX recv_fds"),
                              (select, "poll")):
            for name in names.split():
                delattr(module, name)
        os.name = "nt"
        from cached_client import Cache, CacheError
        url, place = sys.argv[1:]
        try:
            Cache(place).get(url)
        except CacheError as error:
            assert error.kind == "noDaemon"
        cache = Cache(place, fallback=place + "/plain")
        assert not cache.is_available and cache.peek(url).state == "missing"
        assert cache.get(url).size == cache.peek(url).size == len(cache.open(url).read())
        """
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-c", windows, f"{ORIGIN}/0.png", place], check=True)


def the_readme():
    """Its examples run."""
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    environment = {**os.environ, "CACHED_DIRECTORY": DIRECTORY, "CACHED_SOCKET": SOCKET}
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
