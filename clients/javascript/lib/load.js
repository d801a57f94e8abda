/** Loads of images: one stream to the daemon that outlives its restarts. */
import { connect } from './connection.js'
import { CacheError } from './item.js'
import { encode } from './reply.js'
import { Stream } from './stream.js'

/** Images that are looked up in the directory at once; few, so that the event loop is not blocked. */
const looks = 200
/** Milliseconds between two attempts to connect, at first and at last. */
const [firstPause, longestPause] = [20, 1000]
const priorities = new Set(['background', 'normal', 'visible'])

/**
 * The changing states of some images, until each is cached or has failed: an async iterator. Nothing
 * happens before the first `next()`. The downloads end with `close()`, with the `for await` loop, or
 * with the signal, unless another program wants them too.
 */
export class Load {
  #folder
  #sockets
  #patience
  #priority
  #signal
  #stream
  /** Wanted images that were not looked up in the directory yet, with their priorities. */
  #unseen
  /** The states of images in the directory, in case that no daemon answers. */
  #fallback = new Map()
  #socket
  #isConnecting = false
  #problem = ''
  #pause = firstPause
  /** The timers of the next look or attempt, and of the end of patience. */
  #next
  #end
  #isStarted = false
  #isDone = false
  /** The promises of `next()` that wait for an item. */
  #waiting = []
  #onAbort = () => this.close()

  constructor(folder, sockets, patience, urls, { priority = 'normal', follow = false, signal, headers } = {}) {
    this.#folder = folder
    this.#sockets = sockets
    this.#patience = patience
    this.#priority = priority
    this.#signal = signal
    this.#stream = new Stream({ follow, headers })
    this.#unseen = withPriorities(urls, priority)
    if (signal?.aborted) this.close()
    else signal?.addEventListener('abort', this.#onAbort)
  }

  [Symbol.asyncIterator]() {
    return this
  }

  /** The next item that changed. */
  next() {
    if (!this.#isStarted && !this.#isDone) {
      this.#isStarted = true
      this.#look()
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#deliver()
    })
  }

  /** A `for await` loop calls it when it ends early. */
  async return(value) {
    this.close()
    return { done: true, value }
  }

  /** Wants these images and no others; only of a load with `follow`. Downloads of images in both sets go on. */
  show(urls, priority = this.#priority) {
    if (!this.#stream.follow) throw new TypeError('only a load with follow: true can change its images')
    if (this.#isDone) return
    const wanted = withPriorities(urls, priority)
    const gone = [...this.#stream.wants.keys()].filter((url) => !wanted.has(url))
    for (const url of gone) {
      this.#stream.drop(url)
      this.#fallback.delete(url)
    }
    this.#unseen = new Map([...wanted].filter(([url, value]) => this.#stream.wants.get(url) !== value))
    if (gone.length) this.#send(() => encode('Adjust', { drop: gone }, { oneway: true }))
    if (this.#isStarted) this.#look()
  }

  /** Ends the load and its downloads. It can be called twice. */
  close() {
    if (this.#isDone) return
    this.#isDone = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#forget()
    clearTimeout(this.#next)
    clearTimeout(this.#end)
    this.#deliver()
  }

  #deliver() {
    while (this.#waiting.length) {
      const item = this.#signal?.aborted ? undefined : this.#stream.pop()
      if (item === undefined && !this.#isDone) return
      const { resolve, reject } = this.#waiting.shift()
      if (item !== undefined) resolve({ done: false, value: item })
      else if (this.#signal?.aborted) reject(this.#signal.reason)
      else resolve({ done: true, value: undefined })
    }
  }

  /** Looks up some of the wanted images in the directory, then asks the daemon for them. */
  #look() {
    const added = []
    for (const [url, priority] of [...this.#unseen].slice(0, looks)) {
      this.#unseen.delete(url)
      if (!this.#stream.wants.has(url) && !this.#isAsked(url)) continue
      this.#stream.want(url, priority)
      added.push([url, priority])
    }
    if (added.length) this.#send(() => encode('Adjust', { add: this.#stream.callsFor(added) }, { oneway: true }))
    this.#deliver()
    if (this.#isDone) return
    if (this.#unseen.size) this.#after(0, () => this.#look())
    else if (!this.#stream.follow && !this.#stream.undecided.size) this.close()
    else if (!this.#socket && this.#stream.asked.length) this.#connect()
  }

  /** Whether the daemon has to be asked about an image; otherwise its state was reported. */
  #isAsked(url) {
    try {
      const item = this.#folder.find(url)
      if (item.state === 'cached') this.#fallback.set(url, item)
    } catch (error) {
      if (error.kind !== 'invalidURL') return true
      this.#stream.report({ url, state: 'failed', failure: error, sure: true })
      return false
    }
    return true
  }

  async #connect() {
    if (this.#isConnecting) return
    this.#isConnecting = true
    this.#end ??= setTimeout(() => this.#giveUp(), this.#patience)
    try {
      const socket = await connect(this.#sockets)
      if (this.#isDone) return socket.destroy()
      this.#attach(socket)
      this.#send(() => this.#stream.call())
    } catch (error) {
      this.#problem = error.message
      this.#useFallback()
      this.#retry()
    } finally {
      this.#isConnecting = false
    }
  }

  #attach(socket) {
    this.#socket = socket
    this.#pause = firstPause
    const lost = (error) => {
      if (this.#socket !== socket) return
      this.#problem = error?.message ?? 'the daemon closed the connection'
      this.#forget()
      this.#retry()
    }
    socket.on('data', (data) => this.#socket === socket && this.#guarded(() => this.#receive(data, lost)))
    socket.on('error', lost)
    socket.on('close', () => lost())
  }

  #receive(data, lost) {
    if (this.#stream.feed(data)) {
      clearTimeout(this.#end)
      this.#end = undefined
      this.#fallback.clear()
    }
    if (this.#stream.state === 'lost') lost()
    const { follow, undecided } = this.#stream
    if (this.#stream.state === 'done' || (!follow && !undecided.size && !this.#unseen.size)) this.close()
    this.#deliver()
  }

  #send(encoded) {
    if (this.#socket) this.#guarded(() => this.#socket.write(encoded()))
  }

  /** Calls a function that handles messages. A failure ends the load. */
  #guarded(action) {
    try {
      action()
    } catch (error) {
      if (!(error instanceof CacheError)) throw error
      this.#stream.fail(error)
      this.close()
    }
  }

  #retry() {
    if (this.#isDone) return
    if (!this.#stream.asked.length && !this.#stream.follow) return this.close()
    this.#end ??= setTimeout(() => this.#giveUp(), this.#patience)
    this.#after(this.#pause, () => this.#look())
    this.#pause = Math.min(longestPause, this.#pause * 1.5)
  }

  #after(pause, action) {
    clearTimeout(this.#next)
    this.#next = setTimeout(action, pause)
  }

  #useFallback() {
    for (const [url, item] of this.#fallback) {
      this.#stream.report(item)
      if (!this.#stream.follow) this.#stream.undecided.delete(url)
    }
    this.#fallback.clear()
    this.#deliver()
  }

  #giveUp() {
    this.#end = undefined
    this.#useFallback()
    const why = this.#socket ? `${this.#sockets} accepts connections and does not answer` : this.#problem
    this.#stream.fail(
      new CacheError('noDaemon', `no daemon answered for ${this.#patience} ms (${why}); start cached`))
    if (!this.#stream.follow) return this.close()
    this.#deliver()
    this.#forget()
    this.#pause = longestPause
    this.#retry()
  }

  #forget() {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }
}

function withPriorities(urls, priority) {
  if (typeof urls === 'string') throw new TypeError('urls is one text; give a list of URLs')
  const pairs = urls instanceof Map ? new Map(urls) : new Map(Array.from(urls, (url) => [url, priority]))
  for (const value of pairs.values()) {
    if (!priorities.has(value)) throw new TypeError(`${value} is no priority; use one of ${[...priorities].join(', ')}`)
  }
  return pairs
}
