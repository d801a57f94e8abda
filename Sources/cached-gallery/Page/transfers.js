/** The downloads under way, and those that have ended lately: what of them there is to show, and how far they are. */
import { lost, merged, percentOf, stateOf, states } from './states.js'
import { isThumbnail } from './thumbnails.js'

/** How many failures are kept, and how long a finished image waits for its place in the list, in milliseconds. */
const keptFailures = 2000
const patience = 3000

const ranks = ['publishing', 'receiving', 'unmeasured', 'deriving', 'connecting', 'retrying', 'queued']
const isRunning = item => Boolean(item.phase) || item.state === 'inFlight'

export class Transfers {
  /** Downloads and failures by key, and what has just been published. */
  running = new Map()
  failed = new Map()
  finished = new Map()
  /** How many downloads have ended since there was none. */
  ended = 0
  /** The downloads that this page asked for, whose order it knows. */
  #own = new Set()
  #newest
  #most = 0
  #startedAt = 0

  /** The daemon is lost: nothing is under way. */
  end() {
    this.running.clear()
    this.finished.clear()
    this.#rest()
  }

  /** This page asked for these images, in this order. */
  ask(items) {
    for (const { key } of items) {
      this.#own.add(key)
      this.running.delete(key)
    }
  }

  /** Takes news about images. `isNews` tells whether images that are not known count, too. */
  take(items, removed = [], isNews = true) {
    for (const item of items) this.#take(item, isNews)
    for (const key of removed) {
      if (this.running.delete(key)) this.ended += 1
    }
    if (this.running.size === 0) this.#rest()
  }

  #take(item, isNews) {
    const { key } = item
    const before = this.running.get(key)
    if (isRunning(item)) {
      if ((!before && !isNews) || isThumbnail(item.url)) return
      if (this.running.size === 0) this.#startedAt = performance.now()
      this.failed.delete(key)
      this.running.set(key, before ? merged(before, item) : item)
      // A label that names what only waits would say nothing.
      if (states[stateOf(item)].isComing && !(before && states[stateOf(before)].isComing)) this.#newest = key
      return
    }
    if (this.running.delete(key)) {
      this.ended += 1
      if (item.state === 'cached') this.finished.set(key, { item, at: performance.now() })
    }
    if (item.state === 'cached') this.failed.delete(key)
    else if (item.failure && item.failure.kind !== 'removed' && (before || isNews || this.failed.has(key))) this.#fail(item, before)
  }

  #fail(item, before) {
    this.failed.delete(item.key)
    this.failed.set(item.key, lost({ ...before, ...item }, item.failure))
    if (this.failed.size > keptFailures) this.failed.delete(this.failed.keys().next().value)
  }

  #rest() {
    this.ended = this.#most = 0
    this.#newest = undefined
    this.#own.clear()
  }

  /** Images that the list shows need no place here any more, nor those that have waited long enough. */
  settle(isListed) {
    const now = performance.now()
    for (const [key, { at }] of this.finished) if (isListed(key) || now - at > patience) this.finished.delete(key)
  }

  item(key) {
    return this.running.get(key) ?? this.failed.get(key) ?? this.finished.get(key)?.item
  }

  /** What is under way: the finished first, then what comes, then what waits, with its place in the queue of its server. */
  shown(limit) {
    const groups = Map.groupBy(this.running.values(), item => stateOf(item))
    const places = {}
    for (const item of groups.get('queued') ?? []) {
      const [server] = item.url.split(/(?<=[^:/])[/?#]/)
      if (this.#own.has(item.key)) item.place = places[server] = (places[server] ?? 0) + 1
    }
    return [...[...this.finished.values()].map(({ item }) => item), ...ranks.flatMap(state => groups.get(state) ?? [])].slice(0, limit)
  }

  /** The download that started last, if it runs; else one that does. */
  get newest() {
    return this.running.get(this.#newest) ?? [...this.running.values()].find(item => states[stateOf(item)].isComing)
  }

  get queued() {
    return [...this.running.values()].filter(item => stateOf(item) === 'queued').length
  }

  /** The share that has arrived, in percent. It does not fall while downloads are under way. */
  get percent() {
    const all = this.running.size + this.ended
    if (all === 0) return 0
    const received = [...this.running.values()].reduce((sum, item) => sum + (percentOf(item) ?? 0), 0)
    this.#most = Math.max(this.#most, (100 * this.ended + received) / all)
    return Math.min(99.9, this.#most)
  }

  /** The seconds until all has arrived if it goes on like this; undefined as long as too little is known. */
  get secondsLeft() {
    const taken = (performance.now() - this.#startedAt) / 1000
    const share = this.percent / 100
    return taken > 2 && share > 0.03 ? (taken * (1 - share)) / share : undefined
  }

  /** The bytes that are still to come, as far as they are known. */
  get bytesLeft() {
    return [...this.running.values()].reduce((sum, item) => sum + Math.max(0, (item.total ?? 0) - (item.received ?? 0)), 0)
  }

  /** Failures by their reason, the most frequent reason first. */
  reasons() {
    const groups = Map.groupBy(this.failed.values(), ({ failure }) => `${failure.kind} ${failure.httpStatus ?? ''}`)
    return [...groups.values()].sort((one, other) => other.length - one.length)
  }
}
