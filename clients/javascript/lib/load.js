/** Loads of images: one stream to the daemon that outlives its restarts. */
import { accessSync, constants } from 'node:fs'
import { later } from './daemon.js'
import { CacheError } from './item.js'
import { variant } from './places.js'
import { encode } from './reply.js'
import { Stream } from './stream.js'
import { typeOfFile } from './types.js'

/** Images that are looked up in the directory at once; few, so that the event loop is not blocked. */
const looks = 200
const priorities = new Set(['background', 'normal', 'visible'])

/**
 * The changing states of some images, until each is cached or has failed: an async iterator. Nothing
 * happens before the first `next()`. The downloads end with `close()`, with the `for await` loop, or
 * with the signal, unless another program wants them too.
 */
export class Load {
  #folder
  #daemon
  #options
  #signal
  #stream
  /** Wanted images that were not looked up in the directory yet, with their priorities. */
  #unseen
  /** The states of images in the directory, in case that no daemon answers. */
  #fallback = new Map()
  #socket
  /** Ends the wait for a connection. */
  #reaching
  #wasConnected = false
  #isForever = false
  /** The timers of the next look, of the end of patience, and of the end of the load. */
  #next
  #end
  #limit
  #isStarted = false
  #isDone = false
  /** The promises of `next()` that wait for an item. */
  #waiting = []
  #onAbort = () => this.close()

  constructor(folder, daemon, urls, options = {}) {
    this.#folder = folder
    this.#daemon = daemon
    this.#options = checked(options)
    this.#signal = options.signal
    this.#stream = new Stream(options)
    this.#unseen = withPriorities(urls, options.priority, options)
    if (this.#signal?.aborted) this.close()
    else this.#signal?.addEventListener('abort', this.#onAbort)
  }

  [Symbol.asyncIterator]() {
    return this
  }

  /** The next item that changed. */
  next() {
    if (!this.#isStarted && !this.#isDone) {
      this.#isStarted = true
      const { timeout } = this.#options
      if (timeout !== undefined) this.#limit = later(timeout, () => this.#failAll('deadline', `the image has not come within ${timeout} ms`))
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
  want(urls, priority = this.#options.priority) {
    const wanted = withPriorities(urls, priority, this.#options)
    this.#change(wanted, [...this.#stream.wants.keys(), ...this.#unseen.keys()].filter((url) => !wanted.has(url)))
  }

  /** Wants these images too; one that is wanted gets the priority. Only of a load with `follow`. */
  add(urls, priority = this.#options.priority) {
    this.#change(withPriorities(urls, priority, this.#options), [])
  }

  /** Wants these images no longer; only of a load with `follow`. */
  drop(urls) {
    this.#change(new Map(), withPriorities(urls, 'normal', this.#options).keys())
  }

  #change(wanted, dropped) {
    if (!this.#stream.follow) throw new TypeError('only a load with follow: true can change its images')
    if (this.#isDone) return
    const gone = []
    for (const url of dropped) {
      if (this.#stream.wants.has(url)) gone.push(url)
      this.#stream.drop(url)
      this.#fallback.delete(url)
      this.#unseen.delete(url)
    }
    for (const [url, priority] of wanted) if (this.#stream.wants.get(url) !== priority) this.#unseen.set(url, priority)
    if (gone.length) this.#send(() => encode('Adjust', { drop: gone }, { oneway: true }))
    if (this.#isStarted) this.#look()
  }

  /** Ends the load and its downloads. It can be called twice. */
  close() {
    if (this.#isDone) return
    this.#isDone = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#reaching?.abort()
    this.#forget()
    for (const timer of [this.#next, this.#end, this.#limit]) clearTimeout(timer)
    this.#deliver()
  }

  #deliver() {
    while (this.#waiting.length) {
      const item = this.#signal?.aborted ? undefined : this.#stream.pop()
      if (item === undefined && !this.#isDone) return
      const { resolve, reject } = this.#waiting.shift()
      if (item !== undefined) resolve({ done: false, value: readable(item) })
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
    if (this.#unseen.size) this.#next = setTimeout(() => this.#look())
    else if (!this.#stream.follow && !this.#stream.undecided.size) this.close()
    else if (!this.#socket && this.#stream.asked.length) this.#connect()
  }

  /** Whether the daemon has to be asked about an image; otherwise its state was reported. */
  #isAsked(url) {
    try {
      const item = this.#folder.find(url)
      if (item.state === 'cached' && !this.#options.refresh) this.#fallback.set(url, item)
    } catch (error) {
      if (error.kind !== 'invalidURL') return true
      this.#stream.report({ url, state: 'failed', failure: error, sure: true })
      return false
    }
    return true
  }

  async #connect() {
    if (this.#reaching || this.#isDone) return
    const { signal } = this.#reaching = new AbortController()
    const daemon = this.#daemon
    if (!this.#isForever) this.#end ??= later(daemon.patience, () => this.#giveUp())
    try {
      const socket = await daemon.reach({
        wasConnected: this.#wasConnected, forever: this.#isForever, signal, onAbsent: () => this.#useFallback(),
      }).catch((error) => {
        if (!daemon.plain || signal.aborted) throw error
        return daemon.plain.connect()
      })
      this.#reaching = undefined
      this.#attach(socket)
      this.#send(() => this.#stream.call())
    } catch (error) {
      this.#reaching = undefined
      if (!this.#isDone && !signal.aborted) this.#giveUp(error)
    }
  }

  #attach(socket) {
    this.#socket = socket
    this.#wasConnected = true
    this.#isForever = false
    this.#end ??= later(this.#daemon.patience, () => this.#giveUp())
    const lost = () => {
      if (this.#socket !== socket) return
      this.#forget()
      this.#retry()
    }
    socket.on('data', (data) => this.#socket === socket && this.#guarded(() => this.#receive(data, lost)))
    socket.on('error', lost)
    socket.on('close', lost)
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
    if (this.#stream.asked.length) this.#connect()
  }

  /** The directory's word counts. */
  #useFallback() {
    for (const [url, item] of this.#fallback) {
      if (this.#stream.isChoosy) item.mediaType = typeOfFile(item.path)
      this.#stream.report(item)
      if (!this.#stream.follow) this.#stream.undecided.delete(url)
    }
    this.#fallback.clear()
    this.#deliver()
    if (!this.#stream.follow && !this.#stream.undecided.size && !this.#unseen.size) this.close()
  }

  #giveUp(error) {
    clearTimeout(this.#end)
    this.#end = undefined
    this.#useFallback()
    if (this.#isDone) return
    const { sockets, patience } = this.#daemon
    this.#stream.fail(error ?? new CacheError('noDaemon',
      `the daemon at ${sockets.join(', ')} did not answer for ${patience} ms; restart cached`))
    if (!this.#stream.follow) return this.close()
    this.#deliver()
    this.#forget()
    this.#isForever = true
    this.#retry()
  }

  #failAll(kind, message) {
    this.#stream.fail(new CacheError(kind, message))
    this.close()
  }

  #forget() {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }
}

/** The options of a load, after a check. */
export function checked({ priority = 'normal', ...options }) {
  if (options.follow && (options.timeout !== undefined || options.refresh)) {
    throw new TypeError('a load with follow: true has no end and asks the origins by itself: leave out timeout and refresh')
  }
  if (typeof options.accept === 'string') throw new TypeError('accept is one text; give a list of media types')
  return { priority, ...options }
}

/** An item without a path that leads nowhere here: in a sandbox that does not see the directory. */
export function readable(item) {
  if (item.path === undefined) return item
  try {
    accessSync(item.path, constants.R_OK)
    return item
  } catch {
    const { path, ...rest } = item
    return rest
  }
}

export function withPriorities(urls, priority = 'normal', options = {}) {
  if (typeof urls === 'string') throw new TypeError('urls is one text; give a list of URLs')
  const pairs = urls instanceof Map ? [...urls] : Array.from(urls, (url) => [url, priority])
  for (const [, value] of pairs) {
    if (!priorities.has(value)) throw new TypeError(`${value} is no priority; use one of ${[...priorities].join(', ')}`)
  }
  return new Map(pairs.map(([url, value]) => [variant(url, options), value]))
}
