"""The messages of a `Fetch` stream: bytes in, items out. No I/O and no clock."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ._item import CacheError, Item

if TYPE_CHECKING:
    from .interface import Priority

#: The longest call that the daemon accepts, in bytes.
LONGEST_CALL = 16 << 20
_STATES = ("missing", "inFlight", "cached")
#: The path of an image. A daemon can name any path, and a program would read that file.
_PATH_OF_IMAGE = re.compile(r"/([^\0]*/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Messages:
    """Cuts bytes into messages, each ended by a zero byte."""

    def __init__(self) -> None:
        self._buffer, self._searched = bytearray(), 0

    def take(self, data: bytes, limit: int) -> Iterator[bytes]:
        """The whole messages, without the zero byte. CacheError `badReply` if one is longer than the limit, in bytes."""
        self._buffer += data
        while True:
            end = self._buffer.find(0, self._searched)
            if end < 0:
                self._searched = len(self._buffer)
                if len(self._buffer) > limit:
                    bad(f"it is longer than {limit} bytes")
                return
            message = bytes(self._buffer[:end])
            del self._buffer[:end + 1]
            self._searched = 0
            yield message


class Stream:
    """What is wanted, what the daemon last said about it, and what the application has not seen yet.

    The application sees the newest state of each image, never a backlog: a change that it has not seen
    is replaced by the next one.
    """

    def __init__(self, follow: bool = False, limit: int | None = None, *,
                 headers: Mapping[str, str] | None = None, attempts: int | None = None, refresh: bool = False,
                 accept: Iterable[str] | None = None):
        self.follow = follow
        #: What each want has beside its URL and priority.
        self._extra: dict[str, Any] = {**({"headers": dict(headers)} if headers else {}),
                                       **({"attempts": attempts} if attempts is not None else {})}
        self._flags = {**({"follow": True} if follow else {}), **({"refresh": True} if refresh else {})}
        self._accept = None if accept is None else frozenset(accept)
        #: The longest reply that is accepted, in bytes; by default as much as the wanted images can need.
        self._limit = limit
        #: The images requested from the daemon, by URL, with their priorities.
        self.wants: dict[str, Priority] = {}
        #: The wanted URLs whose final state is not known.
        self.undecided: dict[str, None] = {}
        self._reported: dict[str, Item] = {}
        self._changed: dict[str, Item] = {}
        #: `open`; `done` after the last reply; `lost` if the daemon stops, or ends a stream with `follow`.
        self.state = "open"
        self._messages = Messages()

    def want(self, url: str, priority: Priority) -> None:
        self.wants[url] = priority
        self.undecided[url] = None

    def drop(self, url: str) -> None:
        for table in (self.wants, self.undecided, self._reported, self._changed):
            table.pop(url, None)

    def call(self) -> bytes:
        """The call that opens the stream: for all that is wanted, or for all that is not decided."""
        self._messages = Messages()
        self.state = "open"
        wants = self.calls_for((url, self.wants[url]) for url in self.asked)
        return encode("Fetch", {"wants": wants, **self._flags}, more=True)

    def calls_for(self, pairs: Iterable[tuple[str, Priority]]) -> list[dict[str, Any]]:
        """The wants of a call."""
        return [{"url": url, **({"priority": priority} if priority != "normal" else {}), **self._extra}
                for url, priority in pairs]

    @property
    def asked(self) -> Iterable[str]:
        return self.wants if self.follow else self.undecided

    def accepts(self, item: Item) -> bool:
        """Whether the caller can decode a cached image. One of unknown type passes."""
        return self._accept is None or item.media_type is None or item.media_type in self._accept

    def report(self, item: Item) -> None:
        """Shows an item to the application unless it has seen the same already."""
        if item.state == "cached" and not self.accepts(item):
            item = Item(item.url, "failed", failure=CacheError(
                "notAccepted", f"the image is {item.media_type}, which is not among the accepted types"))
        if self._reported.get(item.url) != item:
            self._reported[item.url] = item
            self._changed[item.url] = item

    def fail(self, error: CacheError) -> None:
        """Reports the failure of each image that is not decided. A cached one that is refreshed stays."""
        for url in self.undecided:
            seen = self._reported.get(url)
            if seen is None or seen.state != "cached":
                self.report(Item(url, "failed", failure=error))

    @property
    def has_changes(self) -> bool:
        return bool(self._changed)

    def pop(self) -> Item | None:
        """The next change that the application has not seen."""
        for url in self._changed:
            return self._changed.pop(url)
        return None

    def feed(self, data: bytes) -> bool:
        """Takes bytes of the daemon; whether a whole reply was among them.

        CacheError `badReply`, or that of a reply with an error. The stream is of no use after it.
        """
        if self.state != "open":
            return False
        replied = False
        for message in self._messages.take(data, self._limit or LONGEST_CALL + 4096 * len(self.wants)):
            self._take(message)
            replied = True
            if self.state != "open":
                break
        return replied

    def _take(self, message: bytes) -> None:
        reply = decode(message)
        if reply is None:
            self.state = "lost"
            return
        items = reply["parameters"].get("items")
        if not isinstance(items, list):
            bad("it has no items")
        is_last = not reply["continues"]
        for item in [read_item(members) for members in items]:
            if item.url not in self.wants:
                continue  # The image was dropped while the reply was on its way.
            if item.state == "failed" or item.state == "cached" and item.phase is None \
                    or is_last and item.state != "inFlight":
                self.undecided.pop(item.url, None)
            else:
                self.undecided[item.url] = None
            self.report(item)
        if is_last:
            self.state = "lost" if self.follow else "done"
            if self.undecided and not self.follow:
                bad("the last one does not decide every image")


def encode(method: str, parameters: dict[str, Any], **flags: bool) -> bytes:
    """A call. CacheError `tooMany` if the daemon would refuse its length."""
    call = {"method": "io.cached.Cache." + method, "parameters": parameters, **flags}
    message = json.dumps(call, ensure_ascii=False, separators=(",", ":")).encode() + b"\0"
    if len(message) > LONGEST_CALL:
        raise CacheError("tooMany", f"the URLs are longer than {LONGEST_CALL} bytes; ask for fewer at once")
    return message


def bad(reason: str) -> NoReturn:
    raise CacheError("badReply", f"the answer from the socket is not one of cached: {reason}; check the socket")


def decode(message: bytes) -> dict[str, Any] | None:
    """A reply with `parameters` and `continues`; None if the daemon is stopping.

    CacheError if it is not a reply, or has an error.
    """
    try:
        reply = json.loads(message.decode(), parse_constant=bad)
    except (ValueError, RecursionError):
        bad("it is not JSON")
    if not isinstance(reply, dict):
        bad("it is not an object")
    error, parameters, continues = (reply.get(key) for key in ("error", "parameters", "continues"))
    parameters = {} if parameters is None else parameters
    if not isinstance(parameters, dict) or not isinstance(continues, (bool, type(None))):
        bad("its members have other types")
    if error is None:
        return {"parameters": parameters, "continues": continues}
    if not isinstance(error, str) or not error:
        bad("its error is not a name")
    if error == "io.cached.Cache.ShuttingDown":
        return None
    word = error.rpartition(".")[2]
    reason = reply.get("reason")
    detail = reason if isinstance(reason, str) else json.dumps(parameters)
    raise CacheError(word[:1].lower() + word[1:], f"the daemon refused the call: {word}, {detail}")


def read_item(members: object) -> Item:
    """An item of a reply. CacheError `badReply` if it is none."""
    if not isinstance(members, dict):
        bad("an item is not an object")
    url, state, path = _text(members, "url"), _text(members, "state"), _text(members, "path")
    if url is None or state not in _STATES:
        bad("an item has no URL, or a state that does not exist")
    if state == "cached" and not _PATH_OF_IMAGE.fullmatch(path or ""):
        bad("a cached image has no path of an image")
    failure = _read_failure(members.get("failure"))
    return Item(
        url, "failed" if state == "missing" and failure else state, _number(members, "received"),
        _number(members, "total"), path, _number(members, "size"), failure, _text(members, "phase"),
        _text(members, "mediaType"), _number(members, "width"), _number(members, "height"))


def write_item(item: Item) -> dict[str, Any]:
    """An item as the daemon writes it."""
    failure = item.failure and {"kind": item.failure.kind, "message": item.failure.message,
                                **({"httpStatus": item.failure.http_status} if item.failure.http_status else {})}
    members = {"url": item.url, "state": "missing" if item.state == "failed" else item.state, "phase": item.phase,
               "received": item.received, "total": item.total, "path": item.path, "size": item.size,
               "mediaType": item.media_type, "failure": failure}
    return {key: value for key, value in members.items() if value is not None}


def _read_failure(members: object) -> CacheError | None:
    if members is None:
        return None
    if not isinstance(members, dict):
        bad("a failure is not an object")
    kind, message = _text(members, "kind"), _text(members, "message")
    if not kind or message is None:
        bad("a failure has no kind or no message")
    return CacheError(kind, message, _number(members, "httpStatus"), _number(members, "retryAt"))


def _text(members: dict[str, Any], key: str) -> str | None:
    value = members.get(key)
    if value is not None and not isinstance(value, str):
        bad(f"{key} is not a text")
    return value


def _number(members: dict[str, Any], key: str) -> int | None:
    value = members.get(key)
    if value is not None and (type(value) is not int or value < 0):
        bad(f"{key} is not a number from 0")
    return value
