/**
 * Downloads by this process alone, for systems without the daemon: `new Cache({ fallback: true })`.
 *
 * A plain download is one request with fetch. Its length is checked, its first bytes are those of an image, and a
 * rename makes it visible. There are no retries, resumption, freshness, limits, eviction, sizes or sharing.
 */
import { EventEmitter } from 'node:events'
import { mkdirSync, statSync, unlinkSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { randomUUID } from 'node:crypto'
import { CacheError } from './item.js'
import { check, name } from './places.js'
import { mediaType, typeOfFile } from './types.js'

/** The downloads of one load that run at once. */
const workers = 4
/** Milliseconds without a byte, the most bytes of an image, and the most redirects. */
const [patience, largest, mostRedirects] = [30_000, 256 * 2 ** 20, 20]
const urgency = { visible: 0, normal: 1, background: 2 }

/** Images in a folder of its own, by the names that the daemon gives them. */
export class Plain {
  constructor(folder) {
    this.folder = resolve(folder)
  }

  path(url) {
    check(url)
    return join(this.folder, name(url))
  }

  /** An image that was downloaded; undefined if there is none. */
  find(url) {
    const path = this.path(url)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    return size ? { url, state: 'cached', path, size, mediaType: typeOfFile(path), sure: true } : undefined
  }

  /** Removes images, and returns their number. */
  remove(urls) {
    let count = 0
    for (const url of urls) {
      try {
        unlinkSync(this.path(url))
        count += 1
      } catch (error) {
        if (error.code === 'ENOENT') continue
        throw error instanceof CacheError ? error : storage(this.folder, error)
      }
    }
    return count
  }

  /** A connection that answers `Fetch` and `Adjust` as the daemon does. */
  connect() {
    return new PlainConnection(this)
  }

  /**
   * Downloads an image unless it is there. CacheError if that fails. `report` takes the bytes received and all
   * bytes.
   */
  async fetch({ url, headers }, { refresh, signal, report }) {
    const found = refresh ? undefined : this.find(url)
    if (found) return found
    const path = this.path(url)
    const [address, fragment = ''] = url.split('#')
    if (!/^https?:\/\//i.test(address) || !URL.canParse?.(address)) {
      throw new CacheError('invalidURL', `${url.slice(0, 200)} is no URL of http or https`)
    }
    if (fragment.includes('side=')) {
      throw new CacheError('underivable', 'only the daemon makes smaller images; use the URL without side')
    }
    const silence = new AbortController()
    let timer
    const wait = (promise) => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), patience)
      return promise
    }
    const end = AbortSignal.any([signal, silence.signal])
    try {
      const response = await wait(request(address, headers, end))
      return await this.#store(url, path, response, wait, report)
    } catch (error) {
      if (error instanceof CacheError) throw error
      if (silence.signal.aborted) throw new CacheError('timeout', `the server sent nothing for ${patience / 1000} s`)
      const reason = error.cause ?? error
      const kind = /CERT|SSL|TLS/.test(reason.code) ? 'tls' : 'unreachable'
      throw new CacheError(kind, `the server cannot be reached: ${reason.message}`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Stores the body under the name of the URL. */
  async #store(url, path, response, wait, report) {
    const length = response.headers.get('content-length')
    const total = length === null ? undefined : Number(length)
    if (total === undefined && !response.headers.get('transfer-encoding')?.includes('chunked')) {
      throw new CacheError('unverifiable', 'the server sends no length, so nobody knows whether the image is whole')
    }
    const part = `${path}.${randomUUID()}.part`
    let file
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      file = await open(part, 'wx', 0o600)
    } catch (error) {
      throw storage(this.folder, error)
    }
    try {
      const [received, type] = await this.#copy(response.body.getReader(), file, total, wait, report)
      await file.close()
      await rename(part, path).catch((error) => { throw storage(this.folder, error) })
      return { url, state: 'cached', path, size: received, mediaType: type }
    } catch (error) {
      await file.close().catch(() => {})
      await unlink(part).catch(() => {})
      throw error
    }
  }

  async #copy(reader, file, total, wait, report) {
    let [received, type, start] = [0, undefined, Buffer.alloc(0)]
    try {
      for (;;) {
        const { done, value } = await wait(reader.read()).catch((error) => {
          if (error.name === 'AbortError') throw error
          throw new CacheError('truncated', `the connection ended after ${received} of ${total ?? 'all'} bytes`)
        })
        if (done) break
        received += value.length
        if (received > largest) throw new CacheError('tooLarge', `the image has more than ${largest} bytes`)
        if (start.length < 32) start = Buffer.concat([start, value.subarray(0, 32)])
        if (start.length >= 32) type ??= mediaType(start) ?? noImage()
        await file.writeFile(value).catch((error) => { throw storage(this.folder, error) })
        report(received, total)
      }
    } finally {
      reader.cancel().catch(() => {})
    }
    if (total !== undefined && received !== total) {
      throw new CacheError('truncated', `the connection ended after ${received} of ${total} bytes`)
    }
    return [received, type ?? mediaType(start) ?? noImage()]
  }
}

const noImage = () => { throw new CacheError('notAnImage', 'the server sent no image of a known type') }
const storage = (folder, error) => new CacheError('storage', `${folder} cannot be written: ${error.code ?? error.message}`)

/** The response of a server. Header fields of an account go to no other origin. */
async function request(address, headers = {}, signal) {
  let [url, fields] = [new URL(address), headers]
  for (let count = 0; count <= mostRedirects; count++) {
    const response = await fetch(url, {
      headers: { 'User-Agent': 'cached-client', ...fields, 'Accept-Encoding': 'identity' }, redirect: 'manual', signal,
    })
    const location = response.headers.get('location')
    if (response.ok && response.status !== 206) return response
    await response.body?.cancel()
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
      throw new CacheError('http', `the server answered with status ${response.status}`, { httpStatus: response.status })
    }
    const next = new URL(location, url)
    if (!/^https?:$/.test(next.protocol)) break
    if (next.origin !== url.origin) fields = {}
    url = next
  }
  throw new CacheError('redirect', `${address.slice(0, 200)} redirects too often, or to something else than http`)
}

/** The daemon's part of a connection, with the face of a socket. */
class PlainConnection extends EventEmitter {
  #plain
  /** What is wanted, with a controller that ends its download; what has not begun; and the last states. */
  #wants = new Map()
  #queue = new Map()
  #items = new Map()
  #running = 0
  #refreshes = false
  #follows = false

  constructor(plain) {
    super()
    this.#plain = plain
  }

  write(bytes) {
    const { parameters } = JSON.parse(bytes.subarray(0, -1).toString())
    const { wants = [], add = [], drop = [], refresh = false, follow = false } = parameters
    this.#refreshes ||= refresh
    this.#follows ||= follow
    for (const url of drop) this.#drop(url)
    for (const want of [...wants, ...add]) {
      if (!this.#wants.has(want.url)) this.#wants.set(want.url, new AbortController())
      this.#queue.set(want.url, want)
    }
    queueMicrotask(() => this.#work())
  }

  destroy() {
    for (const url of [...this.#wants.keys()]) this.#drop(url)
  }

  #drop(url) {
    this.#wants.get(url)?.abort()
    this.#wants.delete(url)
    this.#queue.delete(url)
  }

  async #work() {
    if (this.#running >= workers || !this.#queue.size) return
    this.#running += 1
    const rank = (want) => urgency[want.priority ?? 'normal']
    const want = [...this.#queue.values()].reduce((first, each) => (rank(each) < rank(first) ? each : first))
    this.#queue.delete(want.url)
    const { signal } = this.#wants.get(want.url)
    queueMicrotask(() => this.#work())
    const report = (received, total) => this.#tell({ url: want.url, state: 'inFlight', phase: 'receiving', received, total })
    const item = await this.#plain.fetch(want, { refresh: this.#refreshes, signal, report }).catch((error) => {
      const { kind = 'protocolError', message, httpStatus } = error
      return { url: want.url, state: 'missing', failure: { kind, message, httpStatus } }
    })
    this.#running -= 1
    if (!signal.aborted) this.#tell(item)
    this.#work()
  }

  #tell(item) {
    if (!this.#wants.has(item.url)) return
    this.#items.set(item.url, item)
    const isLast = !this.#follows && [...this.#wants.keys()]
      .every((url) => ['cached', 'missing'].includes(this.#items.get(url)?.state))
    const items = isLast ? [...this.#wants.keys()].map((url) => this.#items.get(url)) : [item]
    this.emit('data', Buffer.from(JSON.stringify({ parameters: { items }, continues: !isLast }) + '\0'))
  }
}
