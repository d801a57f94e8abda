/** A cache for tests of applications: no daemon, no download. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Cache } from './cache.js'
import { CacheError } from './item.js'
import { checked, withPriorities } from './load.js'
import { check, variant } from './places.js'
import { Stream } from './stream.js'
import { typeOfFile } from './types.js'

/** The bytes of an image whose file is not known. */
const wholeLength = 1000
const none = new CacheError('http', 'the server answered with status 404', { httpStatus: 404 })
const withoutDaemon = () => new CacheError('noDaemon', 'the test says that there is no daemon')

export class FakeCache extends Cache {
  /** The calls other than `Fetch`: pairs of a method and its parameters. */
  calls = []
  /** The pinned URLs. */
  pinned = new Set()
  #available
  #items = new Map()
  #steps = new Map()
  #loads = new Set()
  #level = 'normal'
  #watchers = new Set()

  constructor(images = {}, { available = true } = {}) {
    super({ directory: '/nonexistent', socket: '/nonexistent/socket', start: false })
    this.#available = available
    for (const [url, script] of Object.entries(images)) this.set(url, script)
  }

  /** Gives an image another state, or another script. Loads with `follow` report it; null evicts the image. */
  set(url, script) {
    const isList = Array.isArray(script)
    this.#steps.set(url, isList ? [...script] : [])
    this.#items.set(url, stateOf(url, isList ? null : script))
    for (const load of this.#loads) load.wake(url)
  }

  /** The URLs that running loads want, with their priorities. */
  get wanted() {
    return new Map([...this.#loads].flatMap((load) => [...load.wanted]))
  }

  /** Reports a level of memory pressure. */
  press(level) {
    this.#level = level
    for (const wake of this.#watchers) wake()
  }

  async isAvailable() {
    return this.#available
  }

  peek(url, options = {}) {
    const named = variant(url, options)
    check(named)
    const item = this.#items.get(named)
    return item && item.state !== 'failed' ? item : { url: named, state: 'missing', sure: true }
  }

  async status(urls) {
    return [...urls].map((url) => this.peek(url))
  }

  load(urls, options) {
    const load = new FakeLoad({
      hasSteps: (url) => this.#steps.get(url)?.length > 0, advance: (url) => this.#advance(url),
      ended: () => this.#loads.delete(load),
    }, urls, options)
    this.#loads.add(load)
    return load
  }

  /** The next state of an image that a load wants. */
  #advance(url) {
    check(url)
    if (!this.#available && this.peek(url).state !== 'cached') throw withoutDaemon()
    const steps = this.#steps.get(url)
    if (steps?.length) this.#items.set(url, stateOf(url, steps.shift()))
    return this.#items.get(url) ?? { url, state: 'missing', sure: true }
  }

  async pin(...urls) {
    this.#called('Pin', { urls, pinned: true })
    for (const url of urls) if (this.peek(url).state === 'cached') this.pinned.add(url)
    return this.status(urls)
  }

  async unpin(...urls) {
    this.#called('Pin', { urls, pinned: false })
    for (const url of urls) this.pinned.delete(url)
    return this.status(urls)
  }

  async remove(...what) {
    const isAccount = typeof what[0] === 'object'
    this.#called('Remove', isAccount ? what[0] : { urls: what })
    const isMeant = (url) => (isAccount ? url.replace(/&side=\d+$/, '').endsWith(variant('', what[0])) : what.includes(url))
    const found = [...this.#items].filter(([url, { state }]) => state === 'cached' && isMeant(url))
    for (const [url] of found) {
      this.pinned.delete(url)
      this.set(url, null)
    }
    return found.length
  }

  #called(method, parameters) {
    this.calls.push([method, parameters])
    if (!this.#available) throw withoutDaemon()
  }

  async importFile(url, file) {
    this.set(url, file)
    return this.peek(url)
  }

  async *pressure({ signal } = {}) {
    for (let last; ;) {
      signal?.throwIfAborted()
      if (this.#level !== last) {
        yield last = this.#level
        continue
      }
      await new Promise((wake) => {
        const done = () => {
          this.#watchers.delete(done)
          signal?.removeEventListener('abort', done)
          wake()
        }
        this.#watchers.add(done)
        signal?.addEventListener('abort', done)
      })
    }
  }
}

/** The state after a step of a script. */
function stateOf(url, step) {
  if (step === null || step === undefined) return { url, state: 'missing', sure: true }
  if (step instanceof Error) return { url, state: 'failed', failure: step, sure: true }
  if (typeof step === 'number') {
    return { url, state: 'inFlight', phase: 'receiving', received: Math.round(step * wholeLength), total: wholeLength, sure: true }
  }
  const path = resolve(step)
  return { url, state: 'cached', path, size: statSync(path).size, mediaType: typeOfFile(path), sure: true }
}

/** A load that plays the scripts of its cache: one step of each image that is not decided, whenever it has reported all. */
class FakeLoad {
  #cache
  #options
  #stream
  /** The URLs whose state the test has set. */
  #set = new Set()
  #isDone = false
  #wake
  #limit
  #isLate = false

  constructor(cache, urls, options = {}) {
    this.#cache = cache
    this.#options = checked(options)
    this.#stream = new Stream(options)
    this.#want(withPriorities(urls, options.priority, options))
    options.signal?.addEventListener('abort', () => this.close())
  }

  get wanted() {
    return this.#stream.wants
  }

  [Symbol.asyncIterator]() {
    return this
  }

  async next() {
    const { signal, timeout } = this.#options
    if (timeout !== undefined) {
      this.#limit ??= setTimeout(() => {
        this.#isLate = true
        this.#wake?.()
      }, timeout)
    }
    for (;;) {
      signal?.throwIfAborted()
      if (!this.#stream.hasChanges && !this.#isDone) this.#play()
      const value = this.#stream.pop()
      if (value) return { done: false, value }
      if (this.#isDone) return { done: true, value: undefined }
      if (![...this.#stream.undecided].some(this.#cache.hasSteps)) await new Promise((wake) => (this.#wake = wake))
    }
  }

  async return(value) {
    this.close()
    return { done: true, value }
  }

  want(urls, priority = this.#options.priority) {
    const wanted = this.#changing(urls, priority)
    for (const url of [...this.#stream.wants.keys()]) if (!wanted.has(url)) this.#stream.drop(url)
    this.#want(wanted)
  }

  add(urls, priority = this.#options.priority) {
    this.#want(this.#changing(urls, priority))
  }

  drop(urls) {
    for (const url of this.#changing(urls, 'normal').keys()) this.#stream.drop(url)
  }

  #changing(urls, priority) {
    if (!this.#stream.follow) throw new TypeError('only a load with follow: true can change its images')
    return withPriorities(urls, priority, this.#options)
  }

  #want(wanted) {
    for (const [url, priority] of wanted) if (this.#stream.wants.get(url) !== priority) this.#stream.want(url, priority)
    this.#wake?.()
  }

  wake(url) {
    if (this.#isDone || !this.#stream.wants.has(url)) return
    this.#set.add(url)
    this.#stream.undecided.add(url)
    this.#wake?.()
  }

  #play() {
    for (const url of [...this.#stream.undecided]) {
      let item
      try {
        item = this.#cache.advance(url)
      } catch (failure) {
        item = { url, state: 'failed', failure, sure: true }
      }
      const isOver = item.state === 'missing' && !this.#cache.hasSteps(url)
      if (isOver && !this.#set.has(url)) item = { url, state: 'failed', failure: none, sure: true }
      this.#stream.report(item)
      if (isOver || item.state === 'cached' || item.state === 'failed') this.#stream.undecided.delete(url)
    }
    if (this.#isLate) this.#stream.fail(new CacheError('deadline', `the image has not come within ${this.#options.timeout} ms`))
    if (this.#isLate || (!this.#stream.follow && !this.#stream.undecided.size)) this.close()
  }

  close() {
    this.#isDone = true
    clearTimeout(this.#limit)
    this.#cache.ended()
    this.#wake?.()
  }
}
