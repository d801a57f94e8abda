/** The image cache of this machine, for Node.js and the main process of Electron. */
import type { FileHandle } from 'node:fs/promises'
import type { Priority } from './interface.js'
export type { Priority }

/**
 * The reason of a failure: `kind` for programs, and `message` for people.
 *
 * The kinds of the daemon are in docs/lookup/failures.md, for example `http` or `notAnImage`.
 * These are made here:
 *
 * - `noDaemon`: there is no daemon, and none can be started; or it did not answer for as long as `patience`
 * - `deadline`: the image has not come within the `timeout` of the call
 * - `notAccepted`: the image has a type that the caller does not accept
 * - `notCached`: there is no file that can be opened
 * - `badReply`: the answer from the socket is not one of the daemon
 * - `storage`: the cache directory is a symbolic link, not a directory, or cannot be read
 * - `notPermitted`: the cache directory belongs to another user, or is closed to this one
 * - `invalidURL`: the URL is longer than 8,192 bytes, or has no UTF-8 form
 * - `tooMany`: more URLs than one call can name
 */
export class CacheError extends Error {
  constructor(kind: string, message: string, details?: { httpStatus?: number, retryAt?: number })
  readonly kind: string
  /** The HTTP status of the origin's response, if there was one. */
  readonly httpStatus?: number
  /** Unix seconds before which the cache does not ask the origin again, if known. */
  readonly retryAt?: number
}

/** The state of one image. */
export interface Item {
  /** The URL, as it was given. */
  url: string
  state: 'missing' | 'inFlight' | 'cached' | 'failed'
  /**
   * Whether the state is certain. `peek` reads the directory, and Node.js reads neither attributes nor
   * locks: a cached image can be a copy that the daemon does not accept, and a missing one with
   * `received` can be in flight. `status` and `load` ask the daemon.
   */
  sure: boolean
  /** What a download does, if the daemon reports it. */
  phase?: 'queued' | 'connecting' | 'receiving' | 'retrying' | 'deriving' | 'publishing'
  /** Bytes received so far. If the image is missing, an interrupted download left them and can perhaps continue. */
  received?: number
  /** Bytes of the whole image, if known. */
  total?: number
  /**
   * The absolute path of the file, if the image is cached. A file there is never changed in place. Absent in a sandbox
   * that cannot read it: Node.js receives no descriptors, so share the cache directory with the sandbox.
   */
  path?: string
  /** The length of the file in bytes, if the image is cached. */
  size?: number
  /** For example `image/png`, if known. */
  mediaType?: string
  /** In pixels as a viewer shows the image, if known. */
  width?: number
  /** In pixels as a viewer shows the image, if known. */
  height?: number
  /** The reason why the image failed, or why a cached one could not be refreshed. */
  failure?: CacheError
}

/** URLs in any order and with repetitions, or a map with a priority for each. */
export type URLs = Iterable<string> | ReadonlyMap<string, Priority>

/** A variant of an image. */
export interface Variant {
  /**
   * Pixels of the longer side. The next of 32, 64, 128, 256, 512, 1024 and 2048 is taken, and above them the image as
   * it is.
   */
  side?: number
  /** An account of the application, any text of 1 to 128 bytes of UTF-8. */
  account?: string
}

/** How one image is wanted. The item has the URL of the variant, as `variant` makes it. */
export interface GetOptions extends Variant {
  /** The default is `normal`. */
  priority?: Priority
  /** Ends the load. The iteration then throws the reason of the signal. */
  signal?: AbortSignal
  /**
   * Header fields of the account, `{ Authorization: 'Bearer TOKEN' }` for example. They are sent to the origin of each
   * URL that has to be asked.
   */
  headers?: Record<string, string>
  /** Milliseconds after which the load ends; what has not come by then fails as `deadline`. Not with `follow`. */
  timeout?: number
  /** The failed attempts after which an image fails, 1 or more; by default as many as the daemon makes. */
  attempts?: number
  /**
   * The media types that the caller can decode, `['image/jpeg', 'image/png']` for example. Other images fail as
   * `notAccepted`; they stay in the cache.
   */
  accept?: Iterable<string>
  /** Whether to ask the origin of a cached image too. Not with `follow`. */
  refresh?: boolean
}

export interface LoadOptions extends GetOptions {
  /**
   * Whether to continue when all images are decided: to report evictions, removals and refreshes, and to
   * retry downloads that failed for a temporary reason.
   */
  follow?: boolean
}

/**
 * The changing states of some images, until each is cached or has failed. A slow iteration gets
 * the newest state of each image, never a backlog. Nothing happens before the first `next()`. The
 * downloads end with `close()`, with the `for await` loop, or with the signal, unless another program
 * wants them too.
 */
export class Load implements AsyncIterableIterator<Item> {
  private constructor()
  [Symbol.asyncIterator](): this
  next(): Promise<IteratorResult<Item, undefined>>
  return(value?: undefined): Promise<IteratorResult<Item, undefined>>
  /**
   * Wants these images and no others. Downloads of images that are in both sets continue.
   *
   * @throws TypeError if the load has no `follow`
   */
  want(urls: URLs, priority?: Priority): void
  /** Wants these images too; one that is wanted gets the priority. TypeError as above. */
  add(urls: URLs, priority?: Priority): void
  /** Wants these images no longer. TypeError as above. */
  drop(urls: Iterable<string>): void
  /** Ends the load and its downloads. It can be called twice. */
  close(): void
}

/**
 * The images of this machine, by URL. It holds no connection and no descriptor itself. Each thread (`Worker`) makes its
 * own.
 */
export class Cache {
  /**
   * @param options.directory the cache directory; by default `$CACHED_DIRECTORY`,
   *   `/var/cache/cached` if the machine's daemon serves, `$XDG_CACHE_HOME/cached` or `~/.cache/cached`
   * @param options.socket the socket of the daemon; by default `$CACHED_SOCKET`, otherwise the first of
   *   `$XDG_RUNTIME_DIR/cached/cached.sock` and `/run/cached/cached.sock` that accepts a connection
   * @param options.patience milliseconds to wait for a daemon that does not answer, for example while it
   *   restarts; the default is 30,000
   * @param options.start whether to start a daemon if there is none: the user's socket unit of systemd, otherwise
   *   `cached`, which ends when nobody has used it for ten minutes. By default, unless `$CACHED_START` is `no`
   * @param options.fallback whether to download in this process if there is no daemon, for systems that have none:
   *   `true`, or a folder for the images instead of `cached-plain` in the folder of the user's caches. It has no
   *   retries, freshness, limits, eviction, sizes or sharing
   */
  constructor(options?: {
    directory?: string, socket?: string, patience?: number, start?: boolean, fallback?: boolean | string
  })

  /** The absolute path of the cache directory. */
  readonly directory: string

  /** Whether a daemon answers or can be started. It takes as long as a connection. */
  isAvailable(): Promise<boolean>

  /**
   * The state of an image in the directory, in some 6 µs, without the daemon. It counts as no use. See
   * `Item.sure`. An image that is queued, or failed, is `missing` here: only the daemon knows that.
   *
   * @throws CacheError `storage`, `notPermitted` or `invalidURL`
   */
  peek(url: string, options?: Variant): Item

  /**
   * The largest smaller size of an image that is cached, to be shown until the image itself is. `url` is that of the
   * original, or of a size of it (`URL#side=256`), than which the result is smaller. It reads the directory like `peek`.
   */
  standIn(url: string): Item | undefined

  /**
   * The states from the daemon, in the order of the URLs; from the directory if no daemon runs. It starts none.
   *
   * @throws CacheError `noDaemon` if the daemon does not answer, `badReply`, or a kind of the daemon
   */
  status(urls: Iterable<string>): Promise<Item[]>

  /**
   * The states of images as they change. A load starts a daemon if there is none, and outlives a restart of it. If
   * there is no daemon, images in the directory are `cached` at once, with `sure: false`, and others fail as
   * `noDaemon`. Failures are items; nothing is thrown.
   *
   * @throws TypeError for options that do not go together, or a text in the place of a list
   */
  load(urls: URLs, options?: LoadOptions): Load

  /**
   * Waits until the image is cached, and returns it. In a sandbox without access to the directory it has no `path`.
   *
   * @throws CacheError if it fails, or the reason of the signal
   */
  get(url: string, options?: GetOptions): Promise<Item>

  /**
   * `get`, after the origin was asked whether it has a newer version. If the origin cannot be reached, the image stays
   * cached, and `failure` of the result says why.
   */
  refresh(url: string, options?: GetOptions): Promise<Item>

  /**
   * Opens the file of a cached image for reading. Close it. In a sandbox that does not see the cache directory, that needs the
   * addon.
   *
   * @throws CacheError `notCached`, or as `peek`
   */
  open(image: string | Item): Promise<FileHandle>

  /**
   * Protects cached images from eviction, until `unpin` or `remove`. The item of one that is not cached has failed.
   *
   * @throws CacheError `noDaemon`, or a kind of the daemon
   */
  pin(...urls: string[]): Promise<Item[]>
  /** Ends the protection of images. */
  unpin(...urls: string[]): Promise<Item[]>

  /**
   * Removes images and cancels their downloads: those of the URLs, or all of an account, pinned or not.
   *
   * @returns the number of removed images
   * @throws CacheError `noDaemon`, or a kind of the daemon
   */
  remove(...urls: string[]): Promise<number>
  remove(all: { account: string }): Promise<number>

  /**
   * Puts a whole image file under its URL, and returns the image. `cachectl import` does it, without a daemon. An image
   * that is already cached stays as it is.
   *
   * @throws CacheError `noDaemon` if cached is not installed, `invalidURL`, `notPermitted`; otherwise `notImported`,
   *   with the reason of the program
   */
  importFile(url: string, file: string): Promise<Item>

  /**
   * The levels of memory pressure, now and whenever it changes. Give up decoded pictures at `warning`. Without a daemon
   * it reports nothing, and it starts none. There is no end but the signal, whose reason is thrown.
   */
  pressure(options?: { signal?: AbortSignal }): AsyncGenerator<'normal' | 'warning' | 'critical', void>
}

/** A path: cached. A number from 0 to 1: in flight, with that share received. A CacheError: failed. null: missing. */
export type Step = string | number | CacheError | null

/**
 * A `Cache` for tests of applications: its images are files of the test, with progress and failures by script.
 *
 *     const cache = new FakeCache({
 *       'https://example.com/a.png': 'test/a.png',                                         // cached already
 *       'https://example.com/b.png': [0.1, 0.5, 'test/b.png'],                             // comes by steps
 *       'https://example.com/c.png': [new CacheError('truncated', 'cut'), 'test/c.png'],   // fails at first
 *     })
 *
 * A list begins as missing. Each step of a load takes the next one of an image that is not decided; a failure or a path
 * decides it for that load. Any other URL fails as `http` with status 404. There is no daemon and no download.
 */
export class FakeCache extends Cache {
  /** @param options.available what `isAvailable` says; if it is false, what is not cached fails as `noDaemon` */
  constructor(images?: Record<string, Step | Step[]>, options?: { available?: boolean })
  /** Gives an image another state, or another script. Loads with `follow` report it; null evicts the image. */
  set(url: string, script: Step | Step[]): void
  /** The URLs that running loads want, with their priorities. */
  readonly wanted: Map<string, Priority>
  /** The pinned URLs. */
  readonly pinned: Set<string>
  /** The calls of `pin`, `unpin` and `remove`: the name of the daemon's method, and its parameters. */
  readonly calls: [string, object][]
  /** Reports a level of memory pressure. */
  press(level: 'normal' | 'warning' | 'critical'): void
}

/**
 * The name of the file of a URL: its UUIDv5 in the URL namespace. It needs neither a daemon nor the directory.
 *
 * @throws CacheError `invalidURL` if the URL has no UTF-8 form
 */
export function name(url: string): string

/**
 * The URL of a variant of an image (docs/lookup/variants.md, docs/do/private-images.md): `URL#as=ada&side=256`.
 *
 * @throws CacheError `invalidURL` if the account has no UTF-8 form
 */
export function variant(url: string, options?: Variant): string
