/**
 * The images of the page, by their place in the grid: first those that are being fetched or could not be, then the
 * list, which lies at the server. Only the parts of the list that are looked at are asked for and kept.
 */
import { hostOf } from './format.js'
import { firstFilter, firstList, pageLength } from './first.js'
import { get, view } from './server.js'

/** How many such parts are kept. */
const keptPages = 12

export class Catalog {
  filter = firstFilter
  /** The length of the list. */
  total = 0
  /** How many entries the cache has, as far as is known. */
  entries = 0
  /** Whether the server knows the whole list, so that the total is the true one. */
  isWhole = false

  /** The keys in each part and the total when it was asked for; the part used last is at the end. */
  #pages = new Map()
  /** The items of these keys. */
  #listed = new Map()
  /** The items that are in front of the list, by key, the newest first. */
  #leading = new Map()
  #shownLeading = []
  #asked = new Set()
  /** The number of the list at the server, and the last news about any list. */
  #list
  #growth
  /** Counts the lists asked for, so that an answer about an earlier one is noticed. */
  #generation = 0
  #onChange
  #onError

  /** `onChange` is called when another item is at a place, `onError` with an error of a call. */
  constructor({ onChange, onError }) {
    this.#onChange = onChange
    this.#onError = onError
  }

  get length() {
    return this.#shownLeading.length + this.total
  }

  /** The item at a place; undefined while it is not known. */
  at(index) {
    const place = index - this.#shownLeading.length
    if (place < 0) return this.#leading.get(this.#shownLeading[index])
    return this.#listed.get(this.#pages.get(Math.floor(place / pageLength))?.keys[place % pageLength])
  }

  item(key) {
    return this.#leading.get(key) ?? this.#listed.get(key)
  }

  // MARK: The list

  /**
   * Asks for the list anew.
   *
   * `around` is a place that is on the screen, so that it is known when the new list is shown.
   */
  async ask(around = 0) {
    const generation = (this.#generation += 1)
    if (this.filter.state === 'failed') {
      this.#begin({ items: [], total: 0, isWhole: true }, [])
      return
    }
    try {
      const isFirst = generation === 1 && this.filter === firstFilter
      const reply = await (isFirst ? firstList : get('list', { view, ...this.filter, limit: pageLength }))
      const pages = [[0, reply.items]]
      const page = Math.floor((around - this.#shownLeading.length) / pageLength)
      if (page > 0 && page * pageLength < reply.total) pages.push([page, await this.#items(page)])
      if (generation === this.#generation) this.#begin(reply, pages)
    } catch (error) {
      if (generation === this.#generation) this.#onError(error)
    }
  }

  #begin(reply, pages) {
    // News about this list may have come before it.
    const known = this.#growth?.list === reply.list ? this.#growth : reply
    this.#list = reply.list
    this.isWhole = known.isWhole
    this.total = Math.max(this.#expected(known.total), reply.items.length)
    this.#pages.clear()
    this.#listed.clear()
    this.#asked.clear()
    for (const [key, item] of this.#leading) if (item.state === 'cached') this.#leading.delete(key)
    for (const [page, items] of pages) this.#keep(page, items)
    this.#arrange()
    this.#onChange()
  }

  /** The server has read more of a list. */
  grew(growth) {
    this.#growth = growth
    if (growth.list !== this.#list || this.isWhole) return
    const before = this.total
    this.isWhole = growth.isWhole
    this.total = this.#expected(growth.total)
    if (this.isWhole || this.total !== before) this.#onChange()
  }

  /** Asks how far the server has read the list, in case that the news was missed before the stream was open. */
  async check() {
    if (this.isWhole) return
    try {
      this.grew(await get('items', { view, from: 0, count: 1 }))
    } catch {
      // There is no list yet; the reply that brings it says as much.
    }
  }

  /** The length that the list will have: without a filter that of the cache, until the server has read it. */
  #expected(total) {
    const { order, ...conditions } = this.filter
    const isFiltered = Object.values(conditions).some(Boolean)
    return this.isWhole || isFiltered ? total : Math.max(total, this.entries)
  }

  /** Asks for the items of these places that are not known. */
  need(first, last) {
    const start = Math.max(0, first - this.#shownLeading.length)
    const end = Math.min(last - this.#shownLeading.length, this.total - 1)
    for (let page = Math.floor(start / pageLength); page * pageLength <= end; page += 1) {
      const kept = this.#pages.get(page)
      if (kept) {
        this.#pages.delete(page)
        this.#pages.set(page, kept)
      }
      // A part that was the last one may have become longer.
      const hasGrown = kept && kept.keys.length < pageLength && kept.total !== this.total
      if ((!kept || hasGrown) && !this.#asked.has(page)) this.#fetch(page)
    }
  }

  async #fetch(page) {
    const generation = this.#generation
    this.#asked.add(page)
    try {
      const items = await this.#items(page)
      if (generation !== this.#generation) return
      this.#keep(page, items)
      this.#arrange()
      this.#onChange()
    } catch (error) {
      this.#onError(error)
    } finally {
      if (generation === this.#generation) this.#asked.delete(page)
    }
  }

  async #items(page) {
    const reply = await get('items', { view, from: page * pageLength, count: pageLength })
    return reply.items
  }

  #keep(page, items) {
    this.#pages.delete(page)
    this.#pages.set(page, { keys: items.map(item => item.key), total: this.total })
    for (const item of items) {
      this.#listed.set(item.key, item)
      this.#leading.delete(item.key)
    }
    while (this.#pages.size > keptPages) this.#forget(this.#pages.keys().next().value)
  }

  #forget(page) {
    for (const key of this.#pages.get(page)?.keys ?? []) this.#listed.delete(key)
    this.#pages.delete(page)
  }

  // MARK: What happens to images

  /** Takes the newest state of images that are known. Gives the keys of those. */
  update(items) {
    const known = []
    for (const item of items) {
      const map = [this.#leading, this.#listed].find(map => map.has(item.key))
      if (!map) continue
      // Changes have no details: the ones that are known stay.
      const { pinned, fetchedAt } = map.get(item.key)
      map.set(item.key, { ...(item.state === 'cached' && { pinned, fetchedAt }), ...item })
      known.push(item.key)
    }
    return known
  }

  /** These images are neither cached nor in flight any more. */
  remove(keys) {
    const known = []
    for (const key of keys) {
      const item = this.item(key)
      if (!item) continue
      known.push(key)
      const gone = { url: item.url, key, state: 'missing', failure: item.failure }
      if (!this.#leading.has(key)) this.#listed.set(key, gone)
      else if (item.failure) this.#leading.set(key, gone)
      else this.dismiss(key)
    }
    return known
  }

  /** Puts what is being fetched, or could not be, in front of the list. */
  lead(items) {
    const before = this.#shownLeading.length
    const fresh = items.filter(item => !this.item(item.key) && (item.state === 'inFlight' || item.failure))
    if (fresh.length > 0) this.#leading = new Map([...fresh.map(item => [item.key, item]), ...this.#leading])
    this.#arrange()
    if (fresh.length > 0 || before !== this.#shownLeading.length) this.#onChange()
  }

  /** Forgets a download that was cancelled, or a failure that the user does not want to see any more. */
  dismiss(key) {
    this.#leading.delete(key)
    this.#arrange()
    this.#onChange()
  }

  #arrange() {
    this.#shownLeading = [...this.#leading.values()].filter(item => this.#matches(item)).map(item => item.key)
  }

  #matches(item) {
    const { contains, host, type, state } = this.filter
    const isFailed = item.state === 'missing' && Boolean(item.failure)
    return (
      `${item.url} ${item.key}`.toLowerCase().includes(contains.toLowerCase()) &&
      (!host || hostOf(item.url) === host) &&
      (!type || item.mediaType === type) &&
      (!state || (state === 'failed' ? isFailed : state === 'inFlight' && !isFailed))
    )
  }
}
