/** The image cache of this machine, for Node.js and the main process of Electron. */
import type { Priority } from './interface.js'
export type { Priority }

/**
 * The reason of a failure: `kind` for programs, and `message` for people.
 *
 * The kinds of the daemon are in docs/http-caching.md, "Failures", for example `http` or `notAnImage`.
 * These are made here:
 *
 * - `noDaemon`: no daemon answered at the socket for as long as `patience`
 * - `badReply`: the answer from the socket is not one of the daemon
 * - `storage`: the cache directory is a symbolic link, not a directory, or cannot be read
 * - `notPermitted`: the cache directory belongs to another user, or is closed to this one
 * - `invalidURL`: the URL is longer than 8,192 bytes, or has no UTF-8 form
 * - `tooMany`: more URLs than one call can name
 */
export class CacheError extends Error {
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
  /** The absolute path of the file, if the image is cached. A file there is never changed in place. */
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

export interface LoadOptions {
  /** The default is `normal`. */
  priority?: Priority
  /**
   * Whether to continue when all images are decided: to report evictions, removals and refreshes, and to
   * retry downloads that failed for a temporary reason.
   */
  follow?: boolean
  /** Ends the load. The iteration then throws the reason of the signal. */
  signal?: AbortSignal
  /**
   * Header fields of an account, `{ Authorization: 'Bearer TOKEN' }` for example. The URLs name the account, as
   * `URL#as=ada`. They are sent to the origin of each URL that has to be asked.
   */
  headers?: Record<string, string>
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
  show(urls: URLs, priority?: Priority): void
  /** Ends the load and its downloads. It can be called twice. */
  close(): void
}

/** The images of this machine, by URL. It holds no connection and no descriptor itself. */
export class Cache {
  /**
   * @param options.directory the cache directory; by default `$CACHE_DIRECTORY`,
   *   `$HOST_XDG_CACHE_HOME/cached`, `$XDG_CACHE_HOME/cached` or `~/.cache/cached`
   * @param options.socket the socket of the daemon; by default `$CACHED_SOCKET`, otherwise the first of
   *   `$XDG_RUNTIME_DIR/cached/cached.sock` and `/run/cached/cached.sock` that accepts a connection
   * @param options.patience milliseconds to wait for a daemon that does not answer, for example while it
   *   restarts; the default is 30,000
   */
  constructor(options?: { directory?: string, socket?: string, patience?: number })

  /** The absolute path of the cache directory. */
  readonly directory: string

  /**
   * The state of an image in the directory, in some 6 µs, without the daemon. It counts as no use. See
   * `Item.sure`. An image that is queued, or failed, is `missing` here: only the daemon knows that.
   *
   * @throws CacheError `storage`, `notPermitted` or `invalidURL`
   */
  peek(url: string): Item

  /**
   * The largest smaller size of an image that is cached, to be shown until the image itself is. `url` is that of the
   * original, or of a size of it (`URL#side=256`), than which the result is smaller. It reads the directory like `peek`.
   */
  standIn(url: string): Item | undefined

  /**
   * The states from the daemon, in the order of the URLs; from the directory if no daemon runs.
   *
   * @throws CacheError `noDaemon` if the daemon does not answer, `badReply`, or a kind of the daemon
   */
  status(urls: Iterable<string>): Promise<Item[]>

  /**
   * The states of images as they change. A load outlives a restart of the daemon. If no daemon runs,
   * images in the directory are `cached` at once, with `sure: false`. Others fail as `noDaemon`
   * when no daemon has answered for `patience` milliseconds. Failures are items; nothing is thrown.
   */
  load(urls: URLs, options?: LoadOptions): Load

  /**
   * Waits until the image is cached, and returns it.
   *
   * @throws CacheError if it fails, or the reason of the signal
   */
  get(url: string, options?: { priority?: Priority, signal?: AbortSignal, headers?: Record<string, string> }): Promise<Item>
}

/**
 * The name of the file of a URL: its UUIDv5 in the URL namespace. It needs neither a daemon nor the directory.
 *
 * @throws CacheError `invalidURL` if the URL has no UTF-8 form
 */
export function name(url: string): string
