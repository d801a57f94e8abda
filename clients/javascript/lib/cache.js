/** The cache, as an application sees it. */
import { execFile } from 'node:child_process'
import { closeSync, constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Daemon, later, program, reasonIn } from './daemon.js'
import { Folder, receive } from './folder.js'
import { CacheError } from './item.js'
import { Load } from './load.js'
import * as places from './places.js'
import { Plain } from './plain.js'
import { bad, decode, encode, longestCall, readItems } from './reply.js'
import { Messages } from './stream.js'

/** The exit statuses of cachectl that say more than "failed". */
const statuses = { 65: 'invalidURL', 77: 'notPermitted' }

export class Cache {
  #folder
  #daemon
  #plain

  constructor({ directory, socket, patience, start, fallback = false } = {}) {
    this.#folder = new Folder(directory ?? places.directory(socket))
    if (fallback) this.#plain = new Plain(fallback === true ? `${places.caches()}/cached-plain` : fallback)
    this.#daemon = new Daemon({
      directory: directory && this.#folder.path, socket, patience, start, plain: this.#plain,
    })
  }

  get directory() {
    return this.#folder.path
  }

  async isAvailable() {
    return (await this.#daemon.isRunning()) || (this.#daemon.starts && program('cached') !== undefined)
  }

  peek(url, { side, account } = {}) {
    const named = side === undefined && account === undefined ? url : places.variant(url, { side, account })
    const item = this.#folder.find(named)
    return item.state === 'cached' ? item : this.#plain?.find(named) ?? item
  }

  standIn(url) {
    const [, stem, limit] = /^(.*)[#&]side=(\d+)$/.exec(url) ?? [null, url, 4096]
    for (const side of [...places.sides].reverse()) {
      if (side >= limit) continue
      const item = this.peek(stem, { side })
      if (item.state === 'cached') return item
    }
  }

  /** Asks the daemon with one call; if none answers, the states come from the directory. */
  async status(urls) {
    const list = [...urls]
    let socket
    try {
      socket = await this.#daemon.connect()
    } catch {
      return list.map((url) => this.peek(url))
    }
    return readItems(await this.#answer(socket, 'Status', { urls: list }, list.length))
  }

  load(urls, options) {
    return new Load(this.#folder, this.#daemon, urls, options)
  }

  async get(url, options) {
    let item
    for await (item of this.load([url], { ...options, follow: false }));
    if (item?.state === 'cached') return item
    throw item?.failure ?? new CacheError('removed', `${url} was removed; ask again`)
  }

  refresh(url, options) {
    return this.get(url, { ...options, refresh: true })
  }

  async open(image) {
    const { url, path = this.peek(url).path } = typeof image === 'string' ? { url: image } : image
    if (path === undefined) return this.#received(url)
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    const file = await open(path, flags).catch((error) => {
      throw new CacheError('notCached', `cannot open the file of ${url}: ${error.code}; get it again`)
    })
    if ((await file.stat()).isFile()) return file
    await file.close()
    throw new CacheError('badReply', `${path} is not a regular file; name the right daemon`)
  }

  /** The file from the daemon, whose descriptor only the addon can receive. */
  async #received(url) {
    if (!receive) throw new CacheError('notCached', `${url} has no file that this program can read; get it, build the addon, or share the cache directory with the sandbox`)
    for (const socket of this.#daemon.sockets) {
      const file = await receive(url, socket)
      if (file < 0) continue
      try {
        return await open(`/proc/self/fd/${file}`, constants.O_RDONLY)
      } finally {
        closeSync(file)
      }
    }
    throw new CacheError('notCached', `the daemon has no file of ${url}; get it`)
  }

  async pin(...urls) {
    return readItems(await this.#call('Pin', { urls, pinned: true }, urls.length))
  }

  async unpin(...urls) {
    return readItems(await this.#call('Pin', { urls, pinned: false }, urls.length))
  }

  /** Of URLs, or of an account. */
  async remove(...what) {
    const isAccount = typeof what[0] === 'object'
    if (!what.length) return 0
    try {
      const { entries, failure } = await this.#call('Remove', isAccount ? { account: what[0].account } : { urls: what })
      if (failure) throw new CacheError(failure.kind, failure.message)
      return Number.isInteger(entries) ? entries : bad('it has no number of entries')
    } catch (error) {
      if (!this.#plain || error.kind !== 'noDaemon' || isAccount) throw error
      return this.#plain.remove(what)
    }
  }

  async importFile(url, file) {
    const path = program('cachectl')
    if (!path) throw new CacheError('noDaemon', 'there is no program cachectl, which imports files; install cached')
    const words = ['import', ...this.#daemon.options, '--', url, resolve(file)]
    await new Promise((done, fail) => execFile(path, words, (error, _, text) => {
      if (!error) return done()
      const reason = reasonIn(text) || `cachectl ended: ${error.message}`
      fail(new CacheError(statuses[error.code] ?? 'notImported', reason))
    }))
    return this.peek(url)
  }

  async *pressure({ signal } = {}) {
    let last
    for (;;) {
      signal?.throwIfAborted()
      const socket = last === undefined ? await this.#daemon.connect().catch(() => {}) : undefined
      yield* this.#levels(socket ?? await this.#daemon.reach({ forever: true, signal }), signal, (level) => {
        const isNew = level !== last
        last = level
        return isNew
      })
    }
  }

  /** The levels of one connection. */
  async *#levels(socket, signal, isNew) {
    const end = () => socket.destroy()
    signal?.addEventListener('abort', end)
    const messages = new Messages()
    socket.write(encode('Watch', { pressure: true }, { more: true }))
    try {
      for await (const data of socket) {
        for (const message of messages.take(data, longestCall)) {
          const reply = decode(message)
          if (!reply) return
          const { pressure } = reply.parameters
          if (typeof pressure === 'string' && isNew(pressure)) yield pressure
        }
      }
    } catch (error) {
      if (error instanceof CacheError) throw error
    } finally {
      signal?.removeEventListener('abort', end)
      socket.destroy()
    }
  }

  async #call(method, parameters, count = 0) {
    return this.#answer(await this.#daemon.reach(), method, parameters, count)
  }

  /** The parameters of the reply to one call, in which there are so many items. */
  async #answer(socket, method, parameters, count) {
    const timer = later(this.#daemon.patience, () => socket.destroy())
    try {
      return await answer(socket, encode(method, parameters), longestCall + 4096 * count)
    } finally {
      clearTimeout(timer)
      socket.destroy()
    }
  }
}

/** The parameters of the reply to one call. */
async function answer(socket, call, limit) {
  const messages = new Messages()
  socket.write(call)
  try {
    for await (const data of socket) {
      for (const message of messages.take(data, limit)) {
        const reply = decode(message)
        if (reply) return reply.parameters
        throw new CacheError('shuttingDown', 'the daemon is stopping; try again')
      }
    }
  } catch (error) {
    if (error instanceof CacheError) throw error
  }
  throw new CacheError('noDaemon', 'the daemon closed the connection or did not answer in time; start cached')
}
