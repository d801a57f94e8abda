"""The messages of the daemon.

Made by .ci/interface from the files in etc/: change those, then run `make interface`.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


# The urgency of a fetch. A shared download has the highest priority of its callers.
Priority = Literal["background", "normal", "visible"]


class _Failure(TypedDict):
    # A word that programs can compare, for example invalidURL: the text is not a valid URL.
    kind: str
    # One sentence for a person.
    message: str


# Why an attempt to fetch a URL failed.
class Failure(_Failure, total=False):
    # The HTTP status that the origin answered, if any.
    httpStatus: int
    # The time before which the cache does not ask the origin again.
    retryAt: int


# The number of values in each of a few ranges.
class Histogram(TypedDict):
    # The upper bounds of the ranges, ascending. A range includes its bound and begins above the
    # one before it.
    bounds: list[float]
    # The number of values in each range, and at the end the number of values above all bounds.
    counts: list[int]
    # The sum of all values.
    sum: float


class _Item(TypedDict):
    # The URL, byte for byte as it was requested.
    url: str
    # The file's name: the UUIDv5 of the URL.
    key: str
    # Whether a complete file exists.
    state: Literal["missing", "inFlight", "cached"]


# The cache's knowledge about one URL. The state determines which fields are present.
class Item(_Item, total=False):
    # The phase of the download. Present while one is in flight, also while a cached image is being
    # refreshed.
    phase: Literal["queued", "connecting", "receiving", "retrying", "deriving", "publishing"]
    # Bytes received so far, including those of a resumed download. Present while a download is in
    # flight, and if the image is missing and the next download can continue an interrupted one. In
    # changes only of a download in flight.
    received: int
    # Expected bytes; absent while unknown.
    total: int
    # The received share, 0 to 100; absent while the total is unknown.
    percent: float
    # The absolute path of the file. Present if the image is cached.
    path: str
    # The length of the file. Present if the image is cached.
    size: int
    # The media type found in the bytes, for example image/png. Present if the image is cached, and
    # in flight as soon as the bytes show it; so are width and height, once it is known how a
    # viewer turns the image.
    mediaType: str
    # In pixels, as a viewer shows the image: cropped and turned as the file says.
    width: int
    # In pixels, likewise.
    height: int
    # How a viewer turns the stored pixels: 2 to 8, with the meaning of Exif's tag Orientation.
    # Absent if it leaves them as they are. Of 5 to 8, the width is the height of the stored
    # pixels.
    orientation: int
    # The digest of the file, 64 hexadecimal digits. Only with details.
    sha256: str
    # The number of URLs whose images are this one file, because their bytes are equal. Only with
    # details, and if there are several.
    names: int
    # The URL that the image is downloaded from. Only with details, and if it is not the URL that
    # names the image.
    sourceURL: str
    # When the bytes were received from the origin. Only with details.
    fetchedAt: int
    # Until when the image is fresh. Only with details.
    freshUntil: int
    # When the file was last used. Only with details.
    lastUsedAt: int
    # The entity tag that the origin sent (RFC 9110 §8.8.3), with its quotes. Only with details.
    etag: str
    # The Last-Modified time that the origin sent (RFC 9110 §8.8.2). Only with details.
    modified: int
    # Whether a stale image must not be used before the origin has confirmed it. Only with details,
    # and if it is true.
    strict: bool
    # Whether freshUntil is that of the daemon's own rule (CACHED_MIN_FRESHNESS), because the
    # origin's is earlier. Only with details, and if it is true.
    freshByRule: bool
    # If redirects led to another URL: the last two groups of the key of that URL. Only with
    # details, and if the origin sent etag or modified.
    redirect: str
    # Where the bytes come from, if that is not the origin: of a download in flight, and with
    # details of a cached image.
    source: Literal["origin", "store"]
    # Whether the file is protected from eviction. In Status only with details.
    pinned: bool
    # Why the entry has its place in the order of eviction. Only in a List in that order.
    rank: Literal["neverUsed", "leastRecentlyUsed", "pinned"]
    # The path of the largest smaller image that was derived from the same original and is cached,
    # to be shown until this one is there. Only with details, and if the image is not cached.
    standIn: str
    # Why the last attempt failed. An image that is cached but could not be refreshed has it too.
    # In the last reply to Fetch: why the request could not be fulfilled. Of a queued download it
    # can also be why its host is asked nothing until retryAt, or that prefetching is off.
    failure: Failure


class _Want(TypedDict):
    url: str


# An image that a Fetch asks for.
class Want(_Want, total=False):
    # The URL that names the image, if it is not url itself: the same for all URLs that mean this
    # image, with a signature or on a mirror for example. It is never requested, and is the url of
    # the image in all other calls. Only managers may give one.
    key: str
    # Other URLs of the image, at most 16: mirrors, gateways, other places of an icon. When url has
    # failed for good, the first of them is asked, and so on, each once. The name stays that of url
    # or key; sourceURL says which it was. Only managers may give any, and not together with
    # headers.
    also: list[str]
    # Whether to pin the image, as Pin does: at once if it is cached, and else when it is
    # published. The reply waits for that, but not the one to Adjust. Only managers may.
    pinned: bool
    # The default is that of the call. If an image is wanted twice, the higher priority counts.
    priority: Priority
    # The failed attempts after which this call takes the failure, 1 or more; absent, the daemon's
    # own attempts count. The download goes on for others.
    attempts: int
    # Milliseconds after which this call takes the failure deadline if the image has not come, 1 or
    # more. The download goes on for others.
    timeout: int
    # Header fields for the request of an account, such as Authorization, Cookie or Accept: at most
    # 16, of 8 KiB together. Only with a URL that names the account (#as=NAME). They are kept in
    # memory until the call and its download end, and sent to the origin of the URL alone. Not
    # Host, Range, If-Match and its like, and the fields of a connection: with those the image has
    # the failure invalidHeaders.
    headers: dict[str, str]


# The order of the entries in List.
ListOrder = Literal["recency", "size", "age", "eviction"]


# How short of memory or disk space the machine is.
PressureLevel = Literal["warning", "critical"]


# How short of memory the machine is, or the control group of the daemon.
MemoryPressure = Literal["normal", "warning", "critical"]


# Which images a List contains.
ListState = Literal["cached", "inFlight", "fresh", "stale", "pinned", "duplicates", "failed"]


# What happened to an image.
HistoryKind = Literal["fetched", "confirmed", "derived", "failed", "evicted", "removed", "damaged"]


# Why it happened.
HistoryReason = Literal["budget", "diskSpace", "pressure", "requested", "unused", "gone", "notStored", "outside", "cancelled", "store"]


class _HistoryEvent(TypedDict):
    at: int
    kind: HistoryKind
    key: str
    # Empty if it is not known.
    url: str


# Something that happened to an image.
class HistoryEvent(_HistoryEvent, total=False):
    # The bytes of the image or, of an entry that has gone, those of the disk that it used.
    bytes: int
    reason: HistoryReason
    # The number of the user who asked for the removal.
    user: int
    # Why the download failed.
    failure: Failure


# Figures of the last 24 hours, one value of each for each time. A figure that did not change is
# not repeated every minute.
class HistorySamples(TypedDict):
    # When they were taken, ascending.
    at: list[int]
    # bytesUsed, entries, bytesReceived, hits, misses, published, failed, evicted and bytesEvicted,
    # as in Stats. Counters begin at 0 when the daemon starts.
    figures: dict[str, list[int]]


# What one user of the machine takes of the daemon.
class UserShare(TypedDict):
    # The number of the user.
    user: int
    # Connected clients.
    connections: int
    # Running downloads.
    downloads: int
    # Images that callers of the user wait for.
    waiting: int


class _StatusParameters(TypedDict):
    # In any order and with repetitions. The items of the reply have the same order.
    urls: list[str]


# The parameters of Status.
class StatusParameters(_StatusParameters, total=False):
    # Whether to read the digest, times and pin from the files' attributes too.
    details: bool
    # Names of files in the cache directory. Their items follow those of urls. The url of an item
    # is empty if it is not known.
    keys: list[str]


# The reply to Status.
class StatusReply(TypedDict):
    items: list[Item]


# The parameters of Open.
class OpenParameters(TypedDict):
    url: str


# The reply to Open.
class OpenReply(TypedDict):
    item: Item


# The parameters of Fetch.
class FetchParameters(TypedDict, total=False):
    # In any order and with repetitions. The items of the reply have the same order.
    urls: list[str]
    # More images, with a priority each. Their items follow those of urls.
    wants: list[Want]
    # The default is normal.
    priority: Priority
    # Whether to ask the origin even if the entry is still fresh.
    refresh: bool
    # false replies at once. The daemon continues the downloads on its own.
    wait: bool
    # The expected SHA-256 of every image, as 64 hexadecimal digits. An image with another digest
    # is a failure. If a manager calls and any entry has these bytes, nothing is downloaded.
    sha256: str
    # Only with more: the stream goes on when all images are decided. It reports evictions,
    # removals and refreshes, and fetches again at retryAt what failed for a reason that passes.
    follow: bool


# The reply to Fetch.
class FetchReply(TypedDict):
    items: list[Item]


# The parameters of Adjust.
class AdjustParameters(TypedDict, total=False):
    add: list[Want]
    # URLs that are no longer wanted. They are dropped before others are added.
    drop: list[str]


# The reply to Adjust.
class AdjustReply(TypedDict):
    items: list[Item]


# The parameters of Watch.
class WatchParameters(TypedDict, total=False):
    # Absent: everything, unless pressure is set.
    urls: list[str]
    # Whether to watch downloads only, without urls: each download when it is requested, when it
    # starts and when it ends. A download that takes less than 100 ms is not reported.
    downloads: bool
    # Whether to report memory pressure: the level at the beginning and each other level. Without
    # urls and downloads the stream reports nothing else.
    pressure: bool


class _WatchReply(TypedDict):
    # The items that changed since the last reply. The first replies contain all items.
    items: list[Item]
    # The keys that are no longer cached or in flight, whatever the reason.
    removed: list[str]


# The reply to Watch.
class WatchReply(_WatchReply, total=False):
    # Only with pressure, in replies that report a level.
    pressure: MemoryPressure


# The parameters of List.
class ListParameters(TypedDict, total=False):
    # The default is recency.
    order: ListOrder
    # The most items to return. The daemon can return fewer.
    limit: int
    # The after of the previous page's reply.
    after: str
    # Whether to reverse the order.
    reverse: bool
    # Only images whose URL starts with these bytes.
    prefix: str
    # Only images of this host, in upper or lower case, without a port.
    host: str
    # Only images whose URL or key contains this text. Upper and lower case of ASCII count as the
    # same.
    contains: str
    # Only images of this account: those whose URL has #as=NAME.
    account: str
    # Only images of this type, for example image/png. Not of downloads.
    mediaType: str
    # Only images with this digest, as 64 hexadecimal digits in lower case: copies of one image.
    # Not downloads.
    sha256: str
    state: ListState
    # Whether to leave out the images that were derived from others: those whose URL has side=N.
    # One of an original that was as small, but turned, can be listed.
    originals: bool
    # Only images that were not used in the last so many seconds. Not downloads.
    unusedFor: int
    # Whether to return keys in place of items.
    keysOnly: bool


class _ListReply(TypedDict):
    # Empty with keysOnly.
    items: list[Item]


# The reply to List.
class ListReply(_ListReply, total=False):
    # The position after this page; absent on the last page.
    after: str
    # Only with keysOnly.
    keys: list[str]


# The parameters of Remove.
class RemoveParameters(TypedDict, total=False):
    # The URLs to remove, pinned or not.
    urls: list[str]
    # Removes entries whose URL starts with these bytes.
    prefix: str
    # Removes entries of this account: those whose URL has #as=NAME. If nothing else is given,
    # pinned ones too.
    account: str
    # Removes entries of this host, in upper or lower case, without a port.
    host: str
    # Removes entries of this type, for example image/png. No downloads.
    mediaType: str
    # Removes the entries in this state: cached, fresh or stale. No downloads.
    state: ListState
    # Removes entries that were not used in the last so many seconds. No downloads.
    unusedFor: int
    # Whether to remove all entries.
    all: bool
    # Only with urls: whether to delete the images from the store too, if there is one that may be
    # written to. Other machines keep theirs until they are stale.
    store: bool


class _RemoveReply(TypedDict):
    # The number of removed entries.
    entries: int
    # The bytes that they used.
    bytes: int


# The reply to Remove.
class RemoveReply(_RemoveReply, total=False):
    # Why some entries could not be removed.
    failure: Failure


# The parameters of Pin.
class PinParameters(TypedDict):
    # In any order and with repetitions. The items of the reply have the same order.
    urls: list[str]
    # false ends the protection.
    pinned: bool


# The reply to Pin.
class PinReply(TypedDict):
    items: list[Item]


# The parameters of Evict.
class EvictParameters(TypedDict, total=False):
    # The size. Not with a filter.
    toBytes: int
    prefix: str
    account: str
    host: str
    mediaType: str
    state: ListState
    # Evicts entries that were not used in the last so many seconds.
    unusedFor: int


class _EvictReply(TypedDict):
    entries: int
    bytes: int


# The reply to Evict.
class EvictReply(_EvictReply, total=False):
    failure: Failure


# The parameters of Pressure.
class PressureParameters(TypedDict):
    level: PressureLevel


class _PressureReply(TypedDict):
    entries: int
    bytes: int


# The reply to Pressure.
class PressureReply(_PressureReply, total=False):
    failure: Failure


# The parameters of History.
class HistoryParameters(TypedDict, total=False):
    # Only events of these images.
    urls: list[str]
    # Only events of these kinds.
    kinds: list[HistoryKind]
    # Only events at this time or later.
    since: int
    # The most events to return, of more the newest. The default is 1,000.
    limit: int
    # Whether to return samples of the figures too.
    samples: bool


class _HistoryReply(TypedDict):
    events: list[HistoryEvent]


# The reply to History.
class HistoryReply(_HistoryReply, total=False):
    # Only with samples.
    samples: HistorySamples


# The parameters of Stats.
class StatsParameters(TypedDict):
    pass


class _StatsReply(TypedDict):
    # One flat object. The names contain the units: entries, bytesUsed, bytesBudget, directory, ...
    stats: dict[str, Any]


# The reply to Stats.
class StatsReply(_StatsReply, total=False):
    # The times and sizes of downloads since the start. The end of each name is the unit:
    # firstByteSeconds, downloadSeconds, publishSeconds, imageBytes.
    histograms: dict[str, Histogram]
    # The downloads that failed since the start, by the kind of the failure.
    failures: dict[str, int]
    # The users who have connections or downloads now, in the order of their numbers.
    users: list[UserShare]


# The parameters of CheckStore.
class CheckStoreParameters(TypedDict):
    pass


# The reply to CheckStore.
class CheckStoreReply(TypedDict, total=False):
    # The bucket and the prefix, as s3://BUCKET/PREFIX. Absent without a store, and then all other
    # fields are too.
    store: str
    # The address of the server.
    endpoint: str
    # read-write, read or write.
    mode: str
    # How downloads use the store now: ok, late or refused.
    state: str
    # Seconds that the clock of this machine is ahead of the store's.
    clockDifference: int
    # The time of each request that succeeded, in milliseconds.
    getMilliseconds: float
    putMilliseconds: float
    deleteMilliseconds: float
    # Whether the store refuses to create an object a second time.
    isCreationExclusive: bool
    # What is wrong: the step, the store's own code, and what to do. Absent if all is well.
    problem: str


# The parameters of Verify.
class VerifyParameters(TypedDict, total=False):
    # Whether to download all damaged entries again and wait for them.
    repair: bool


class _VerifyReply(TypedDict):
    # The number of compared entries.
    checked: int
    # The first 10,000 damaged entries: cached if downloaded again, missing if that is impossible
    # because their URL is lost, and otherwise with a failure: what is wrong, and whether the file
    # was removed. Only in the last reply.
    damaged: list[Item]


# The reply to Verify.
class VerifyReply(_VerifyReply, total=False):
    # The number of entries at the start.
    total: int
    # The number of damaged entries.
    damagedCount: int
    # The number of damaged entries that were not repaired.
    leftCount: int
    # Why the entries could not be read.
    failure: Failure


# The parameters of Where.
class WhereParameters(TypedDict):
    pass


class _WhereReply(TypedDict):
    # The absolute path of the cache directory.
    directory: str
    # The absolute path of the socket.
    socket: str
    version: str
    # Whether several users share the cache, so that it keeps no private images.
    shared: bool


# The reply to Where.
class WhereReply(_WhereReply, total=False):
    # The rules that say which parts of a query do not count in the name of an image, as in the
    # setting CACHED_IGNORE_QUERY. Absent if there are none.
    ignoreQuery: str
