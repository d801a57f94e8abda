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
      const item = await images.get(url, request.signal)
      // A cached image has no validator here, so a part of an older version must not be continued.
      return await response(item, request.headers.has('if-range') ? null : request.headers.get('range'))
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      return refusal(statuses[error.kind] ?? error.httpStatus ?? 502, error.message)
    }
  }
}

/** The images of all requests: one load, so that a request costs no connection. */
class Images {
  #cache
  #priority
  #load
  /** The promises of requests by URL. */
  #waiting = new Map()
  #timer

  constructor(cache, priority) {
    this.#cache = cache
    this.#priority = priority
  }

  get(url, signal) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const request = {
        settle: (item) => {
          signal?.removeEventListener('abort', leave)
          if (item.state === 'cached') resolve(item)
          else reject(item.failure)
        },
      }
      const leave = () => {
        this.#leave(url, request)
        reject(signal.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      clearTimeout(this.#timer)
      if (!this.#load) this.#read(this.#load = this.#cache.load([], { follow: true, priority: this.#priority }))
      if (!this.#waiting.has(url)) this.#waiting.set(url, new Set())
      this.#waiting.get(url).add(request)
      this.#load.add([url])
    })
  }

  async #read(load) {
    for await (const item of load) {
      const isFinal = item.state === 'failed' || (item.state === 'cached' && item.phase === undefined)
      if (!isFinal || this.#load !== load) continue
      const requests = this.#waiting.get(item.url) ?? []
      this.#waiting.delete(item.url)
      load.drop([item.url])
      for (const request of requests) request.settle(item)
      this.#rest()
    }
  }

  #leave(url, request) {
    const requests = this.#waiting.get(url)
    requests?.delete(request)
    if (requests?.size !== 0) return
    this.#waiting.delete(url)
    this.#load?.drop([url])
    this.#rest()
  }

  /** Closes the connection when nobody has needed it for a while. */
  #rest() {
    if (this.#waiting.size) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
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
