"""The daemon as seen by the package `asyncvarlink`: SOCKET GATED-URL PLAIN-URL BAD-URL.

The package takes its types from annotations. It refuses a reply with an undeclared member, a missing
member or a value of another type. It has no parser of interface descriptions.
"""

import asyncio
import json
import sys
import typing

from asyncvarlink import (
    VarlinkClientProtocol, VarlinkInterface, connect_unix_varlink, varlinkmethod)
from asyncvarlink.serviceerrors import InterfaceNotFound, InvalidParameter
from asyncvarlink.serviceinterface import VarlinkServiceInterface

socket, gated, plain, bad = sys.argv[1:]


class FailureOptional(typing.TypedDict, total=False):
    httpStatus: int
    retryAt: int


class Failure(FailureOptional):
    kind: str
    message: str


class ItemOptional(typing.TypedDict, total=False):
    phase: typing.Literal["queued", "connecting", "receiving", "retrying", "publishing"]
    received: int
    total: int
    percent: float
    path: str
    size: int
    mediaType: str
    width: int
    height: int
    sha256: str
    fetchedAt: int
    freshUntil: int
    lastUsedAt: int
    pinned: bool
    failure: Failure


class Item(ItemOptional):
    url: str
    key: str
    state: typing.Literal["missing", "inFlight", "cached"]


class Items(typing.TypedDict):
    items: list[Item]


class PageOptional(typing.TypedDict, total=False):
    after: str


class Page(PageOptional):
    items: list[Item]


class Removal(typing.TypedDict):
    entries: int
    bytes: int


class Histogram(typing.TypedDict):
    bounds: list[float]
    counts: list[int]
    sum: float


class UserShare(typing.TypedDict):
    user: int
    connections: int
    downloads: int
    waiting: int


class StatisticsOptional(typing.TypedDict, total=False):
    histograms: dict[str, Histogram]
    failures: dict[str, int]
    users: list[UserShare]


class Statistics(StatisticsOptional):
    stats: dict[str, typing.Any]


Priority = typing.Literal["background", "normal", "visible"]


class Cache(VarlinkInterface, name="io.cached.Cache"):
    errors = (InvalidParameter,)

    # An optional without a default is sent as null; one with a default is omitted.
    @varlinkmethod
    def Status(self, *, urls: list[str], details: bool | None) -> Items: ...

    @varlinkmethod
    def Fetch(
        self, *, urls: list[str], priority: Priority | None = None, refresh: bool | None = None,
        wait: bool | None = None, sha256: str | None = None) -> Items: ...

    @varlinkmethod
    def List(
        self, *, order: typing.Literal["recency", "size", "age"] | None = None,
        limit: int | None = None, after: str | None = None) -> Page: ...

    @varlinkmethod
    def Remove(
        self, *, urls: list[str] | None, prefix: str | None, all: bool | None) -> Removal: ...

    @varlinkmethod(allow_foreign=True)
    def Stats(self) -> Statistics: ...


class Stream(VarlinkInterface, name="io.cached.Cache"):
    @varlinkmethod
    def Fetch(self, *, urls: list[str]) -> typing.Iterator[Items]: ...


async def main() -> None:
    result = {}
    transport, protocol = await connect_unix_varlink(VarlinkClientProtocol, socket)
    service = protocol.make_proxy(VarlinkServiceInterface)
    cache = protocol.make_proxy(Cache)

    result["info"] = await service.GetInfo()
    result["description"] = (
        await service.GetInterfaceDescription(interface="io.cached.Cache"))["description"]
    try:
        await service.GetInterfaceDescription(interface="io.other")
    except InterfaceNotFound as error:
        result["unknownInterface"] = error.p_interface

    result["missing"] = (await cache.Status(urls=[plain, bad], details=None))["items"]
    result["fetched"] = (await cache.Fetch(urls=[plain]))["items"]
    result["details"] = (await cache.Status(urls=[plain], details=True))["items"]
    result["list"] = (await cache.List(order="size", limit=10))["items"]
    result["stats"] = (await cache.Stats())["stats"]
    result["unwaited"] = (await cache.Fetch(urls=[gated], wait=False))["items"]
    async for reply in protocol.make_proxy(Stream).Fetch(urls=[gated]):
        if "first" not in result:
            result["first"] = reply["items"]
            # The test opens the gate when it reads this line.
            print("streaming", flush=True)
        result["last"] = reply["items"]
    result["removed"] = await cache.Remove(urls=[plain], prefix=None, all=None)
    result["after"] = (await cache.Status(urls=[plain], details=None))["items"]
    try:
        await cache.List(limit=-1)
    except InvalidParameter as error:
        result["invalidParameter"] = error.p_parameter
    await cache.Stats.oneway()
    result["stillThere"] = (await cache.Status(urls=[plain], details=None))["items"]
    transport.close()
    print(json.dumps(result))


asyncio.run(main())
