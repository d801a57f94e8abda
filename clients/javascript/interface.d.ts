/**
 * The messages of the daemon.
 *
 * Made by .ci/interface from the files in etc/: change those, then run `make interface`.
 */

/** The urgency of a fetch. A shared download has the highest priority of its callers. */
export type Priority = 'background' | 'normal' | 'visible'

/** Why an attempt to fetch a URL failed. */
export interface Failure {
  /** A word that programs can compare, for example invalidURL: the text is not a valid URL. */
  kind: string
  /** One sentence for a person. */
  message: string
  /** The HTTP status that the origin answered, if any. */
  httpStatus?: number
  /** The time before which the cache does not ask the origin again. */
  retryAt?: number
}

/** The number of values in each of a few ranges. */
export interface Histogram {
  /**
   * The upper bounds of the ranges, ascending. A range includes its bound and begins above the one
   * before it.
   */
  bounds: Array<number>
  /** The number of values in each range, and at the end the number of values above all bounds. */
  counts: Array<number>
  /** The sum of all values. */
  sum: number
}

/** The cache's knowledge about one URL. The state determines which fields are present. */
export interface Item {
  /** The URL, byte for byte as it was requested. */
  url: string
  /** The file's name: the UUIDv5 of the URL. */
  key: string
  /** Whether a complete file exists. */
  state: 'missing' | 'inFlight' | 'cached'
  /**
   * The phase of the download. Present while one is in flight, also while a cached image is being
   * refreshed.
   */
  phase?: 'queued' | 'connecting' | 'receiving' | 'retrying' | 'deriving' | 'publishing'
  /**
   * Bytes received so far, including those of a resumed download. Present while a download is in
   * flight, and if the image is missing and the next download can continue an interrupted one. In
   * changes only of a download in flight.
   */
  received?: number
  /** Expected bytes; absent while unknown. */
  total?: number
  /** The received share, 0 to 100; absent while the total is unknown. */
  percent?: number
  /** The absolute path of the file. Present if the image is cached. */
  path?: string
  /** The length of the file. Present if the image is cached. */
  size?: number
  /**
   * The media type found in the bytes, for example image/png. Present if the image is cached, and
   * in flight as soon as the bytes show it; so are width and height, once it is known how a viewer
   * turns the image.
   */
  mediaType?: string
  /** In pixels, as a viewer shows the image: cropped and turned as the file says. */
  width?: number
  /** In pixels, likewise. */
  height?: number
  /**
   * How a viewer turns the stored pixels: 2 to 8, with the meaning of Exif's tag Orientation.
   * Absent if it leaves them as they are. Of 5 to 8, the width is the height of the stored pixels.
   */
  orientation?: number
  /** The digest of the file, 64 hexadecimal digits. Only with details. */
  sha256?: string
  /**
   * The number of URLs whose images are this one file, because their bytes are equal. Only with
   * details, and if there are several.
   */
  names?: number
  /**
   * The URL that the image is downloaded from. Only with details, and if it is not the URL that
   * names the image.
   */
  sourceURL?: string
  /** When the bytes were received from the origin. Only with details. */
  fetchedAt?: number
  /** Until when the image is fresh. Only with details. */
  freshUntil?: number
  /** When the file was last used. Only with details. */
  lastUsedAt?: number
  /** The entity tag that the origin sent (RFC 9110 §8.8.3), with its quotes. Only with details. */
  etag?: string
  /** The Last-Modified time that the origin sent (RFC 9110 §8.8.2). Only with details. */
  modified?: number
  /**
   * Whether a stale image must not be used before the origin has confirmed it. Only with details,
   * and if it is true.
   */
  strict?: boolean
  /**
   * Whether freshUntil is that of the daemon's own rule (CACHED_MIN_FRESHNESS), because the
   * origin's is earlier. Only with details, and if it is true.
   */
  freshByRule?: boolean
  /**
   * If redirects led to another URL: the last two groups of the key of that URL. Only with
   * details, and if the origin sent etag or modified.
   */
  redirect?: string
  /**
   * Where the bytes come from, if that is not the origin: of a download in flight, and with
   * details of a cached image.
   */
  source?: 'origin' | 'store'
  /** Whether the file is protected from eviction. In Status only with details. */
  pinned?: boolean
  /** Why the entry has its place in the order of eviction. Only in a List in that order. */
  rank?: 'neverUsed' | 'leastRecentlyUsed' | 'pinned'
  /**
   * The path of the largest smaller image that was derived from the same original and is cached,
   * to be shown until this one is there. Only with details, and if the image is not cached.
   */
  standIn?: string
  /**
   * Why the last attempt failed. An image that is cached but could not be refreshed has it too. In
   * the last reply to Fetch: why the request could not be fulfilled. Of a queued download it can
   * also be why its host is asked nothing until retryAt, or that prefetching is off.
   */
  failure?: Failure
}

/** An image that a Fetch asks for. */
export interface Want {
  url: string
  /**
   * The URL that names the image, if it is not url itself: the same for all URLs that mean this
   * image, with a signature or on a mirror for example. It is never requested, and is the url of
   * the image in all other calls. Only managers may give one.
   */
  key?: string
  /**
   * Other URLs of the image, at most 16: mirrors, gateways, other places of an icon. When url has
   * failed for good, the first of them is asked, and so on, each once. The name stays that of url
   * or key; sourceURL says which it was. Only managers may give any, and not together with
   * headers.
   */
  also?: Array<string>
  /**
   * Whether to pin the image, as Pin does: at once if it is cached, and else when it is published.
   * The reply waits for that, but not the one to Adjust. Only managers may.
   */
  pinned?: boolean
  /** The default is that of the call. If an image is wanted twice, the higher priority counts. */
  priority?: Priority
  /**
   * The failed attempts after which this call takes the failure, 1 or more; absent, the daemon's
   * own attempts count. The download goes on for others.
   */
  attempts?: number
  /**
   * Milliseconds after which this call takes the failure deadline if the image has not come, 1 or
   * more. The download goes on for others.
   */
  timeout?: number
  /**
   * Header fields for the request of an account, such as Authorization, Cookie or Accept: at most
   * 16, of 8 KiB together. Only with a URL that names the account (#as=NAME). They are kept in
   * memory until the call and its download end, and sent to the origin of the URL alone. Not Host,
   * Range, If-Match and its like, and the fields of a connection: with those the image has the
   * failure invalidHeaders.
   */
  headers?: Record<string, string>
}

/** The order of the entries in List. */
export type ListOrder = 'recency' | 'size' | 'age' | 'eviction'

/** How short of memory or disk space the machine is. */
export type PressureLevel = 'warning' | 'critical'

/** How short of memory the machine is, or the control group of the daemon. */
export type MemoryPressure = 'normal' | 'warning' | 'critical'

/** Which images a List contains. */
export type ListState = 'cached' | 'inFlight' | 'fresh' | 'stale' | 'pinned' | 'duplicates' | 'failed'

/** What happened to an image. */
export type HistoryKind = 'fetched' | 'confirmed' | 'derived' | 'failed' | 'evicted' | 'removed' | 'damaged'

/** Why it happened. */
export type HistoryReason = 'budget' | 'diskSpace' | 'pressure' | 'requested' | 'unused' | 'gone' | 'notStored' | 'outside' | 'cancelled' | 'store'

/** Something that happened to an image. */
export interface HistoryEvent {
  at: number
  kind: HistoryKind
  key: string
  /** Empty if it is not known. */
  url: string
  /** The bytes of the image or, of an entry that has gone, those of the disk that it used. */
  bytes?: number
  reason?: HistoryReason
  /** The number of the user who asked for the removal. */
  user?: number
  /** Why the download failed. */
  failure?: Failure
}

/**
 * Figures of the last 24 hours, one value of each for each time. A figure that did not change is
 * not repeated every minute.
 */
export interface HistorySamples {
  /** When they were taken, ascending. */
  at: Array<number>
  /**
   * bytesUsed, entries, bytesReceived, hits, misses, published, failed, evicted and bytesEvicted,
   * as in Stats. Counters begin at 0 when the daemon starts.
   */
  figures: Record<string, Array<number>>
}

/** What one user of the machine takes of the daemon. */
export interface UserShare {
  /** The number of the user. */
  user: number
  /** Connected clients. */
  connections: number
  /** Running downloads. */
  downloads: number
  /** Images that callers of the user wait for. */
  waiting: number
}

/** The parameters of Status. */
export interface StatusParameters {
  /** In any order and with repetitions. The items of the reply have the same order. */
  urls: Array<string>
  /** Whether to read the digest, times and pin from the files' attributes too. */
  details?: boolean
  /**
   * Names of files in the cache directory. Their items follow those of urls. The url of an item is
   * empty if it is not known.
   */
  keys?: Array<string>
}

/** The reply to Status. */
export interface StatusReply {
  items: Array<Item>
}

/** The parameters of Open. */
export interface OpenParameters {
  url: string
}

/** The reply to Open. */
export interface OpenReply {
  item: Item
}

/** The parameters of Fetch. */
export interface FetchParameters {
  /** In any order and with repetitions. The items of the reply have the same order. */
  urls?: Array<string>
  /** More images, with a priority each. Their items follow those of urls. */
  wants?: Array<Want>
  /** The default is normal. */
  priority?: Priority
  /** Whether to ask the origin even if the entry is still fresh. */
  refresh?: boolean
  /** false replies at once. The daemon continues the downloads on its own. */
  wait?: boolean
  /**
   * The expected SHA-256 of every image, as 64 hexadecimal digits. An image with another digest is
   * a failure. If a manager calls and any entry has these bytes, nothing is downloaded.
   */
  sha256?: string
  /**
   * Only with more: the stream goes on when all images are decided. It reports evictions, removals
   * and refreshes, and fetches again at retryAt what failed for a reason that passes.
   */
  follow?: boolean
}

/** The reply to Fetch. */
export interface FetchReply {
  items: Array<Item>
}

/** The parameters of Adjust. */
export interface AdjustParameters {
  add?: Array<Want>
  /** URLs that are no longer wanted. They are dropped before others are added. */
  drop?: Array<string>
}

/** The reply to Adjust. */
export interface AdjustReply {
  items: Array<Item>
}

/** The parameters of Watch. */
export interface WatchParameters {
  /** Absent: everything, unless pressure is set. */
  urls?: Array<string>
  /**
   * Whether to watch downloads only, without urls: each download when it is requested, when it
   * starts and when it ends. A download that takes less than 100 ms is not reported.
   */
  downloads?: boolean
  /**
   * Whether to report memory pressure: the level at the beginning and each other level. Without
   * urls and downloads the stream reports nothing else.
   */
  pressure?: boolean
}

/** The reply to Watch. */
export interface WatchReply {
  /** The items that changed since the last reply. The first replies contain all items. */
  items: Array<Item>
  /** The keys that are no longer cached or in flight, whatever the reason. */
  removed: Array<string>
  /** Only with pressure, in replies that report a level. */
  pressure?: MemoryPressure
}

/** The parameters of List. */
export interface ListParameters {
  /** The default is recency. */
  order?: ListOrder
  /** The most items to return. The daemon can return fewer. */
  limit?: number
  /** The after of the previous page's reply. */
  after?: string
  /** Whether to reverse the order. */
  reverse?: boolean
  /** Only images whose URL starts with these bytes. */
  prefix?: string
  /** Only images of this host, in upper or lower case, without a port. */
  host?: string
  /**
   * Only images whose URL or key contains this text. Upper and lower case of ASCII count as the
   * same.
   */
  contains?: string
  /** Only images of this account: those whose URL has #as=NAME. */
  account?: string
  /** Only images of this type, for example image/png. Not of downloads. */
  mediaType?: string
  /**
   * Only images with this digest, as 64 hexadecimal digits in lower case: copies of one image. Not
   * downloads.
   */
  sha256?: string
  state?: ListState
  /**
   * Whether to leave out the images that were derived from others: those whose URL has side=N. One
   * of an original that was as small, but turned, can be listed.
   */
  originals?: boolean
  /** Only images that were not used in the last so many seconds. Not downloads. */
  unusedFor?: number
  /** Whether to return keys in place of items. */
  keysOnly?: boolean
}

/** The reply to List. */
export interface ListReply {
  /** Empty with keysOnly. */
  items: Array<Item>
  /** The position after this page; absent on the last page. */
  after?: string
  /** Only with keysOnly. */
  keys?: Array<string>
}

/** The parameters of Remove. */
export interface RemoveParameters {
  /** The URLs to remove, pinned or not. */
  urls?: Array<string>
  /** Removes entries whose URL starts with these bytes. */
  prefix?: string
  /**
   * Removes entries of this account: those whose URL has #as=NAME. If nothing else is given,
   * pinned ones too.
   */
  account?: string
  /** Removes entries of this host, in upper or lower case, without a port. */
  host?: string
  /** Removes entries of this type, for example image/png. No downloads. */
  mediaType?: string
  /** Removes the entries in this state: cached, fresh or stale. No downloads. */
  state?: ListState
  /** Removes entries that were not used in the last so many seconds. No downloads. */
  unusedFor?: number
  /** Whether to remove all entries. */
  all?: boolean
  /**
   * Only with urls: whether to delete the images from the store too, if there is one that may be
   * written to. Other machines keep theirs until they are stale.
   */
  store?: boolean
}

/** The reply to Remove. */
export interface RemoveReply {
  /** The number of removed entries. */
  entries: number
  /** The bytes that they used. */
  bytes: number
  /** Why some entries could not be removed. */
  failure?: Failure
}

/** The parameters of Pin. */
export interface PinParameters {
  /** In any order and with repetitions. The items of the reply have the same order. */
  urls: Array<string>
  /** false ends the protection. */
  pinned: boolean
}

/** The reply to Pin. */
export interface PinReply {
  items: Array<Item>
}

/** The parameters of Evict. */
export interface EvictParameters {
  /** The size. Not with a filter. */
  toBytes?: number
  prefix?: string
  account?: string
  host?: string
  mediaType?: string
  state?: ListState
  /** Evicts entries that were not used in the last so many seconds. */
  unusedFor?: number
}

/** The reply to Evict. */
export interface EvictReply {
  entries: number
  bytes: number
  failure?: Failure
}

/** The parameters of Pressure. */
export interface PressureParameters {
  level: PressureLevel
}

/** The reply to Pressure. */
export interface PressureReply {
  entries: number
  bytes: number
  failure?: Failure
}

/** The parameters of History. */
export interface HistoryParameters {
  /** Only events of these images. */
  urls?: Array<string>
  /** Only events of these kinds. */
  kinds?: Array<HistoryKind>
  /** Only events at this time or later. */
  since?: number
  /** The most events to return, of more the newest. The default is 1,000. */
  limit?: number
  /** Whether to return samples of the figures too. */
  samples?: boolean
}

/** The reply to History. */
export interface HistoryReply {
  events: Array<HistoryEvent>
  /** Only with samples. */
  samples?: HistorySamples
}

/** The parameters of Stats. */
export interface StatsParameters {
}

/** The reply to Stats. */
export interface StatsReply {
  /** One flat object. The names contain the units: entries, bytesUsed, bytesBudget, directory, ... */
  stats: Record<string, unknown>
  /**
   * The times and sizes of downloads since the start. The end of each name is the unit:
   * firstByteSeconds, downloadSeconds, publishSeconds, imageBytes.
   */
  histograms?: Record<string, Histogram>
  /** The downloads that failed since the start, by the kind of the failure. */
  failures?: Record<string, number>
  /** The users who have connections or downloads now, in the order of their numbers. */
  users?: Array<UserShare>
}

/** The parameters of CheckStore. */
export interface CheckStoreParameters {
}

/** The reply to CheckStore. */
export interface CheckStoreReply {
  /**
   * The bucket and the prefix, as s3://BUCKET/PREFIX. Absent without a store, and then all other
   * fields are too.
   */
  store?: string
  /** The address of the server. */
  endpoint?: string
  /** read-write, read or write. */
  mode?: string
  /** How downloads use the store now: ok, late or refused. */
  state?: string
  /** Seconds that the clock of this machine is ahead of the store's. */
  clockDifference?: number
  /** The time of each request that succeeded, in milliseconds. */
  getMilliseconds?: number
  putMilliseconds?: number
  deleteMilliseconds?: number
  /** Whether the store refuses to create an object a second time. */
  isCreationExclusive?: boolean
  /** What is wrong: the step, the store's own code, and what to do. Absent if all is well. */
  problem?: string
}

/** The parameters of Verify. */
export interface VerifyParameters {
  /** Whether to download all damaged entries again and wait for them. */
  repair?: boolean
}

/** The reply to Verify. */
export interface VerifyReply {
  /** The number of compared entries. */
  checked: number
  /**
   * The first 10,000 damaged entries: cached if downloaded again, missing if that is impossible
   * because their URL is lost, and otherwise with a failure: what is wrong, and whether the file
   * was removed. Only in the last reply.
   */
  damaged: Array<Item>
  /** The number of entries at the start. */
  total?: number
  /** The number of damaged entries. */
  damagedCount?: number
  /** The number of damaged entries that were not repaired. */
  leftCount?: number
  /** Why the entries could not be read. */
  failure?: Failure
}

/** The parameters of Where. */
export interface WhereParameters {
}

/** The reply to Where. */
export interface WhereReply {
  /** The absolute path of the cache directory. */
  directory: string
  /** The absolute path of the socket. */
  socket: string
  version: string
  /** Whether several users share the cache, so that it keeps no private images. */
  shared: boolean
  /**
   * The rules that say which parts of a query do not count in the name of an image, as in the
   * setting CACHED_IGNORE_QUERY. Absent if there are none.
   */
  ignoreQuery?: string
}
