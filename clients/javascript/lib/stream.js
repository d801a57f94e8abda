/** The messages of a `Fetch` stream: bytes in, items out. No I/O and no clock. */
import { areEqual, CacheError } from './item.js'
import { bad, decode, encode, longestCall, readItems, wants } from './reply.js'

/** Cuts bytes into messages, each ended by a zero byte. */
export class Messages {
  #pieces
  #length

  constructor() {
    this.#begin()
  }

  #begin() {
    this.#pieces = []
    this.#length = 0
  }

  /** The whole messages, without the zero byte. CacheError `badReply` if one is longer than the limit, in bytes. */
  *take(data, limit) {
    let start = 0
    for (let end = data.indexOf(0); end >= 0; end = data.indexOf(0, start)) {
      this.#pieces.push(data.subarray(start, end))
      start = end + 1
      const message = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
      this.#begin()
      yield message
    }
    if (start === data.length) return
    this.#pieces.push(data.subarray(start))
    this.#length += data.length - start
    if (this.#length > limit) bad(`it is longer than ${limit} bytes`)
  }
}

/**
 * The wanted images, their last reported states, and the states that the application has not seen yet:
 * the newest of each image, never a backlog.
 */
export class Stream {
  /** `open`; `done` after the last reply; `lost` if the daemon stops, or ends a stream with `follow`. */
  state = 'open'
  /** The images requested from the daemon, by URL, with their priorities. */
  wants = new Map()
  /** The wanted URLs whose final state is not known. */
  undecided = new Set()
  #reported = new Map()
  #changed = new Map()
  #messages = new Messages()
  #limit
  /** What each want has beside its URL and priority, and what the call has beside its wants. */
  #extra
  #flags
  #accept

  /**
   * `limit`: the longest reply that is accepted, in bytes; by default as much as the images can need.
   * `headers`: the header fields of the account that the images belong to.
   */
  constructor({ follow = false, limit, headers, attempts, accept, refresh } = {}) {
    this.follow = follow
    this.#limit = limit
    this.#extra = { ...(headers && { headers }), ...(attempts !== undefined && { attempts }) }
    this.#flags = { ...(follow && { follow }), ...(refresh && { refresh }) }
    this.#accept = accept && new Set(accept)
  }

  /** The wants of a call. */
  callsFor(pairs) {
    return wants(pairs, this.#extra)
  }

  want(url, priority) {
    this.wants.set(url, priority)
    this.undecided.add(url)
  }

  drop(url) {
    for (const table of [this.wants, this.undecided, this.#reported, this.#changed]) table.delete(url)
  }

  /** The URLs that a new connection asks for. */
  get asked() {
    return this.follow ? [...this.wants.keys()] : [...this.undecided]
  }

  /** The call that opens the stream. */
  call() {
    this.#messages = new Messages()
    this.state = 'open'
    const calls = this.callsFor(this.asked.map((url) => [url, this.wants.get(url)]))
    return encode('Fetch', { wants: calls, ...this.#flags }, { more: true })
  }

  /** Passes an item to the application unless it has seen the same already. */
  report(found) {
    let item = found
    if (found.state === 'cached' && found.mediaType && this.#accept && !this.#accept.has(found.mediaType)) {
      const failure = new CacheError('notAccepted', `the image is ${found.mediaType}, which is not among the accepted types`)
      item = { url: found.url, state: 'failed', failure, sure: true }
    }
    const seen = this.#reported.get(item.url)
    if (seen && areEqual(seen, item)) return
    this.#reported.set(item.url, item)
    this.#changed.set(item.url, item)
  }

  /** Reports the failure of each image that is not decided. A cached one that is being refreshed stays. */
  fail(failure) {
    for (const url of this.undecided) {
      if (this.#reported.get(url)?.state !== 'cached') this.report({ url, state: 'failed', failure, sure: true })
    }
  }

  get hasChanges() {
    return this.#changed.size > 0
  }

  /** Whether the caller can decode only some types. */
  get isChoosy() {
    return this.#accept !== undefined
  }

  /** The next change that the application has not seen. */
  pop() {
    for (const [url, item] of this.#changed) {
      this.#changed.delete(url)
      return item
    }
    return undefined
  }

  /**
   * Takes bytes of the daemon; whether a whole reply was among them. CacheError `badReply`, or that of a
   * reply with an error. The stream is of no use after it.
   */
  feed(data) {
    let hasReplied = false
    for (const message of this.#messages.take(data, this.#limit ?? longestCall + 4096 * this.wants.size)) {
      this.#take(message)
      hasReplied = true
      if (this.state !== 'open') break
    }
    return hasReplied
  }

  #take(message) {
    const reply = decode(message)
    if (reply === undefined) {
      this.state = 'lost'
      return
    }
    const isLast = !reply.continues
    for (const item of readItems(reply.parameters)) {
      // It can have been dropped while the reply was on its way.
      if (!this.wants.has(item.url)) continue
      const isDecided = item.state === 'failed' || (item.state === 'cached' && item.phase === undefined) ||
        (isLast && item.state !== 'inFlight')
      if (isDecided) this.undecided.delete(item.url)
      else this.undecided.add(item.url)
      this.report(item)
    }
    if (!isLast) return
    this.state = this.follow ? 'lost' : 'done'
    if (this.undecided.size && !this.follow) bad('the last one does not decide every image')
  }
}
