/** The cache, as an application sees it. */
import { connect } from './connection.js'
import { Folder } from './folder.js'
import { CacheError } from './item.js'
import { Load } from './load.js'
import * as places from './places.js'
import { decode, encode, longestCall, readItems } from './reply.js'
import { Messages } from './stream.js'

export class Cache {
  #folder
  #sockets
  #patience

  constructor({ directory, socket, patience = 30_000 } = {}) {
    this.#folder = new Folder(directory ?? places.directory())
    this.#sockets = socket ? [socket] : places.sockets()
    this.#patience = patience
  }

  get directory() {
    return this.#folder.path
  }

  peek(url) {
    return this.#folder.find(url)
  }

  standIn(url) {
    const [, stem, limit] = /^(.*)[#&]side=(\d+)$/.exec(url) ?? [null, url, 4096]
    const joint = stem.includes('#') ? '&' : '#'
    for (const side of [2048, 1024, 512, 256, 128, 64, 32]) {
      if (side >= limit) continue
      const item = this.peek(`${stem}${joint}side=${side}`)
      if (item.state === 'cached') return item
    }
  }

  /** Asks the daemon with one call; if none answers, the states come from the directory. */
  async status(urls) {
    const list = [...urls]
    let socket
    try {
      socket = await connect(this.#sockets)
    } catch {
      return list.map((url) => this.peek(url))
    }
    const timer = setTimeout(() => socket.destroy(), this.#patience)
    try {
      return readItems(await answer(socket, encode('Status', { urls: list }), longestCall + 4096 * list.length))
    } finally {
      clearTimeout(timer)
      socket.destroy()
    }
  }

  load(urls, options) {
    return new Load(this.#folder, this.#sockets, this.#patience, urls, options)
  }

  async get(url, { priority, signal, headers } = {}) {
    let item
    for await (item of this.load([url], { priority, signal, headers }));
    if (item?.state === 'cached') return item
    throw item?.failure ?? new CacheError('removed', `${url} was removed; ask again`)
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
