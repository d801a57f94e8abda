/**
 * Images of the cache under a scheme of their own, for `protocol.handle` of Electron:
 *
 *     protocol.handle('cached-image', protocolHandler(cache))
 *     <img src="cached-image://load/?url=https%3A%2F%2Fexample.com%2Fa.png">
 */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { CacheError } from './lib/item.js'

/** Bytes up to which a part of a file is read at once, and milliseconds for which an unused connection is kept. */
const [small, idle] = [1 << 20, 1000]
/** How many images the load goes on to want, so that it hears of their eviction, and for how many milliseconds. */
const [mostKnown, knownFor] = [500, 10_000]
const statuses = { noDaemon: 504, deadline: 504, invalidURL: 400 }

/** The address of an image in a page. */
export function imageAddress(url, scheme = 'cached-image') {
  return `${scheme}://load/?url=${encodeURIComponent(url)}`
}

/** A function from a Request to a Response. The download ends with the signal of the request. */
export function protocolHandler(cache, { priority = 'visible' } = {}) {
  const images = new Images(cache, priority)
  return async (request) => {
    if (request.method !== 'GET') return refusal(405, 'only GET is possible')
    const url = new URL(request.url).searchParams.get('url')
    if (!url) return refusal(400, 'the address has no url; make it with imageAddress')
    try {
      // A cached image has no validator here, so a part of an older version must not be continued.
      const range = request.headers.has('if-range') ? null : request.headers.get('range')
      const answer = async () => response(await images.get(url, request.signal), range)
      return await answer().catch((error) => {
        if (error.code !== 'ENOENT') throw error
        // It was evicted since.
        images.forget(url)
        return answer()
      })
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      return refusal(statuses[error.kind] ?? error.httpStatus ?? 502, error.message)
    }
  }
}

/** The images of all requests: one load, so that a request costs no connection, and a repeated one no call. */
class Images {
  #cache
  #priority
  #load
  /** The requests that wait, by URL. */
  #waiting = new Map()
  /** Cached images that the load watches, with the time until which they are used without asking; oldest first. */
  #known = new Map()
  #timer

  constructor(cache, priority) {
    this.#cache = cache
    this.#priority = priority
  }

  async get(url, signal) {
    signal?.throwIfAborted()
    this.#rest()
    const { item, until } = this.#known.get(url) ?? {}
    if (until > Date.now()) return item
    if (item) this.forget(url)
    return new Promise((resolve, reject) => {
      const settle = (found) => {
        signal?.removeEventListener('abort', leave)
        if (found.state === 'cached') resolve(found)
        else reject(found.failure)
      }
      const leave = () => {
        const requests = this.#waiting.get(url)
        requests.delete(settle)
        if (!requests.size) this.forget(url)
        reject(signal.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      if (!this.#load) this.#read(this.#load = this.#cache.load([], { follow: true, priority: this.#priority }))
      if (!this.#waiting.has(url)) this.#waiting.set(url, new Set())
      this.#waiting.get(url).add(settle)
      this.#load.add([url])
    })
  }

  async #read(load) {
    for await (const item of load) {
      const { url, state, phase } = item
      const requests = this.#waiting.get(url)
      if (state === 'cached' && phase === undefined) {
        this.#waiting.delete(url)
        this.#known.delete(url)
        this.#known.set(url, { item, until: Date.now() + knownFor })
        if (this.#known.size > mostKnown) this.forget(this.#known.keys().next().value)
      } else if (state === 'failed' || (state === 'missing' && !requests)) {
        this.forget(url)
      } else {
        continue
      }
      for (const settle of requests ?? []) settle(item)
    }
    if (this.#load !== load) return
    // The daemon's answers are of no use.
    this.#load = undefined
    this.#known.clear()
    const failure = new CacheError('badReply', 'the daemon ended the connection; check the socket')
    for (const requests of this.#waiting.values()) for (const settle of requests) settle({ state: 'failed', failure })
    this.#waiting.clear()
  }

  /** Asks about an image again when it is requested next. */
  forget(url) {
    this.#waiting.delete(url)
    this.#known.delete(url)
    this.#load?.drop([url])
  }

  /** Closes the connection when nobody has needed it for a while. */
  #rest() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#waiting.size) return this.#rest()
      this.#known.clear()
      this.#load?.close()
      this.#load = undefined
    }, idle)
    this.#timer.unref?.()
  }
}

async function response(item, range) {
  if (item.path === undefined) throw new CacheError('notCached', 'share the cache directory with the sandbox: Node.js receives no descriptors')
  const file = await open(item.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  let isStreamed = false
  try {
    const status = await file.stat()
    if (!status.isFile()) throw new CacheError('badReply', `${item.path} is not a regular file; name the right daemon`)
    // The length of the file that is open, which can be a newer version than the one reported.
    const part = partOf(range, status.size)
    if (!part) return refusal(416, 'the range is outside the image', { 'Content-Range': `bytes */${status.size}` })
    const [start, end] = part
    const headers = { 'Content-Length': String(end - start), 'Cache-Control': 'no-cache', 'Accept-Ranges': 'bytes' }
    if (item.mediaType) headers['Content-Type'] = item.mediaType
    if (part.isPart) headers['Content-Range'] = `bytes ${start}-${end - 1}/${status.size}`
    isStreamed = end - start > small
    const body = isStreamed
      ? Readable.toWeb(file.createReadStream({ start, end: end - 1 }))
      : (await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start)).buffer
    return new Response(body, { status: part.isPart ? 206 : 200, headers })
  } finally {
    if (!isStreamed) await file.close()
  }
}

/** The start and end of a `Range` (RFC 9110 §14.1.2); all for none or several, undefined if no byte is in it. */
function partOf(range, size) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  if (!first && !last || (first && last && Number(last) < Number(first))) return [0, size]
  const start = first ? Number(first) : Math.max(0, size - Number(last))
  const end = first && last ? Math.min(size, Number(last) + 1) : size
  return start < size && end > start ? Object.assign([start, end], { isPart: true }) : undefined
}

function refusal(status, message, headers) {
  return new Response(message, { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers } })
}
