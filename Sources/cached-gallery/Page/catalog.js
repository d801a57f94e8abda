/**
 * The images of the list, which lies at the server, by their place in it. Only the parts that are looked at are asked
 * for and kept.
 */
import { firstFilter, firstList, pageLength } from './first.js'
import { get, view } from './server.js'
import { lost, merged } from './states.js'

/** How many such parts are kept, and from how many entries on a length is guessed. */
const keptPages = 12
const guessed = 2000
/** How many parts are asked for at a time. */
const concurrent = 3

export class Catalog {
  filter = firstFilter
  /** The length of the list. */
  total = 0
  /** How many entries the cache has, as far as is known. */
  entries = 0
  /** Whether the server knows the whole list, so that the total is the true one. */
  isWhole = false
  /** The number of the list at the server, and its order. */
  list
  order

  /** The keys in each part and the total when it was asked for; the part used last is at the end. */
  #pages = new Map()
  /** The items of these keys. */
  #items = new Map()
  #asked = new Set()
  /** The last news about any list. */
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
    return this.total
  }

  /** Whether only a part of the cache is listed. */
  get isFiltered() {
    return Object.entries(this.filter).some(([name, value]) => name !== 'order' && value)
  }

  /** The item at a place; undefined while it is not known. */
  at(index) {
    return this.#items.get(this.#pages.get(Math.floor(index / pageLength))?.keys[index % pageLength])
  }

  item(key) {
    return this.#items.get(key)
  }

  /** The place of an image, if it is in a part that is kept; -1 if it is not. */
  indexOf(key) {
    for (const [page, { keys }] of this.#pages) {
      const place = keys.indexOf(key)
      if (place >= 0) return page * pageLength + place
    }
    return -1
  }

  /** The numbers of the parts that are kept, with their items. */
  *pages() {
    for (const [page, { keys }] of this.#pages) yield [page, keys.map(key => this.#items.get(key))]
  }

  // MARK: The list

  /**
   * Asks for the list anew.
   *
   * `around` is a place that is on the screen, so that it is known when the new list is shown.
   */
  async ask(around = 0) {
    const generation = (this.#generation += 1)
    const { order } = this.filter
    try {
      const isFirst = generation === 1 && this.filter === firstFilter
      const reply = await (isFirst ? firstList : get('list', { view, ...this.filter, limit: pageLength }))
      const pages = [[0, reply.items]]
      const page = Math.floor(around / pageLength)
      for (const wanted of [page, page + 1]) {
        if (wanted > 0 && around > 0 && (!reply.isWhole || wanted * pageLength < reply.total)) pages.push([wanted, await this.#ask(wanted)])
      }
      if (generation === this.#generation) this.#begin(reply, pages, order)
    } catch (error) {
      if (generation === this.#generation) this.#onError(error)
    }
  }

  #begin(reply, pages, order) {
    // News about this list may have come before it.
    const known = this.#growth?.list === reply.list ? this.#growth : reply
    this.list = reply.list
    this.order = order
    this.isWhole = known.isWhole
    // Those on the screen count before the server has read the list: else they would move.
    this.total = Math.max(this.#expected(known.total), ...pages.map(([page, items]) => items.length && page * pageLength + items.length))
    this.#pages.clear()
    this.#items.clear()
    this.#asked = new Set()
    for (const [page, items] of pages) if (items.length > 0) this.#keep(page, items)
    this.#onChange()
  }

  /** The server has read more of a list. */
  grew(growth) {
    this.#growth = growth
    if (growth.list !== this.list || this.isWhole) return
    const before = this.total
    this.isWhole = growth.isWhole
    // News can be older than the images that are here: as long as the list is read, it gets no shorter.
    this.total = this.isWhole ? growth.total : Math.max(before, this.#expected(growth.total))
    if (this.isWhole || this.total !== before) this.#onChange()
  }

  /**
   * The length that the list will have: without a filter that of the cache at most, until the server has read it. A short
   * list is read so soon that nobody has to guess.
   */
  #expected(total) {
    return this.isWhole || this.isFiltered || this.entries < guessed ? total : Math.max(total, this.entries)
  }

  /** The items at these places, asked for if they are not known. */
  async range(first, last) {
    const items = []
    for (let from = first; from <= last; from += 500) {
      const reply = await get('items', { view, from, count: Math.min(500, last - from + 1) })
      items.push(...reply.items)
    }
    return items
  }

  /** Asks for the items of these places that are not known. */
  need(first, last) {
    const end = Math.min(last, this.total - 1)
    for (let page = Math.floor(Math.max(0, first) / pageLength); page * pageLength <= end; page += 1) {
      const kept = this.#pages.get(page)
      if (kept) {
        this.#pages.delete(page)
        this.#pages.set(page, kept)
      }
      // A part that was the last one may have become longer.
      const hasGrown = kept && kept.keys.length < pageLength && kept.total !== this.total
      // What was passed by is not asked for: after each answer the grid says again what it needs.
      if ((!kept || hasGrown) && !this.#asked.has(page) && this.#asked.size < concurrent) this.#fetch(page)
    }
  }

  async #fetch(page) {
    const generation = this.#generation
    const asked = this.#asked.add(page)
    try {
      const items = await this.#ask(page).finally(() => asked.delete(page))
      if (generation !== this.#generation) return
      this.#keep(page, items)
      this.#onChange()
    } catch (error) {
      this.#onError(error)
    }
  }

  async #ask(page) {
    const reply = await get('items', { view, from: page * pageLength, count: pageLength })
    return reply.items
  }

  #keep(page, items) {
    this.#pages.delete(page)
    this.#pages.set(page, { keys: items.map(item => item.key), total: this.total })
    for (const item of items) this.#items.set(item.key, item.state === 'missing' ? { lostAt: 0, ...item } : item)
    while (this.#pages.size > keptPages) this.#forget(this.#pages.keys().next().value)
  }

  #forget(page) {
    for (const key of this.#pages.get(page)?.keys ?? []) this.#items.delete(key)
    this.#pages.delete(page)
  }

  // MARK: What happens to images

  /** Takes the newest state of images that are known. Gives the keys of those. */
  update(items) {
    const known = items.filter(item => this.#items.has(item.key))
    for (const item of known) this.#items.set(item.key, merged(this.#items.get(item.key), item))
    return known.map(item => item.key)
  }

  /** These images are neither cached nor in flight any more. Gives the keys of those that are known. */
  remove(keys) {
    const known = keys.filter(key => this.#items.has(key))
    for (const key of known) this.#items.set(key, lost(this.#items.get(key)))
    return known
  }

  /** This happened to images: those that are gone say why. Gives the keys of those that are known. */
  happened(events) {
    return events.map(event => {
      const item = this.#items.get(event.key)
      // What happened long before is not the reason.
      if (item?.state !== 'missing' || item.failure || event.at < (item.lostAt ?? 0) - 5) return undefined
      this.#items.set(event.key, { ...item, event })
      return event.key
    }).filter(Boolean)
  }
}
