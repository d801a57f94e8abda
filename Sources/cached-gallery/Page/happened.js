/** What happened to images lately: which are gone, or did not come, and why. */
import { $, element } from './dom.js'
import { bytes, date, fromNow, hostOf, nameOf } from './format.js'
import { eventText } from './states.js'

/** How many events are kept, and how many of them are shown. */
const kept = 2000
const shown = 100

export class Happened {
  /** By what makes them different, the oldest first. */
  #events = new Map()

  /** Takes events. Some may be known. */
  take(events) {
    for (const event of events) this.#events.set(`${event.at} ${event.key} ${event.kind}`, event)
    while (this.#events.size > kept) this.#events.delete(this.#events.keys().next().value)
    this.#draw()
  }

  /** The times of evictions, and whether memory was short, the oldest first. */
  marks() {
    return [...this.#events.values()].filter(({ kind }) => kind === 'evicted')
      .map(({ at, reason }) => ({ at: 1000 * at, isPressure: reason === 'pressure' }))
  }

  #draw() {
    const rows = [...this.#events.values()].slice(-shown).reverse().map(event => {
      const item = { url: event.url ?? '', key: event.key }
      const name = element('span', { textContent: `${nameOf(item)} ${hostOf(item.url)}`, title: item.url || event.key })
      const why = [eventText(event), event.bytes && bytes(event.bytes), fromNow(event.at)].filter(Boolean).join(', ')
      return element('li', {}, name, element('span', { textContent: why, title: date(event.at) }))
    })
    $('happened').replaceChildren(...(rows.length > 0 ? rows : [element('li', { textContent: 'Nothing yet.' })]))
  }
}
