/** The state of the cache: figures, rates as plots, and what was evicted lately. Drawn only while it is open. */
import { $, element, setText } from './dom.js'
import { bytes, date, fromNow, hostOf, nameOf, number } from './format.js'
import { Plot } from './plots.js'
import { evictionReason } from './states.js'

export class StateOfThings {
  #stats = {}
  #plots = {
    bytesReceived: new Plot('Received', rate => `${bytes(rate)}/s`),
    hits: new Plot('Hits', rate => `${rate < 10 ? rate.toFixed(1) : number(Math.round(rate))}/s`),
    misses: new Plot('Misses', rate => `${rate < 10 ? rate.toFixed(1) : number(Math.round(rate))}/s`),
    bytesEvicted: new Plot('Evicted', rate => `${bytes(rate)}/s`),
  }
  #evictions = []
  #images
  #values = new Map()
  #timer = null

  constructor() {
    $('plots').append(...Object.values(this.#plots).map(plot => plot.element))
    document.addEventListener('visibilitychange', () => this.#draw())
  }

  get isOpen() {
    return !$('state').hidden
  }

  toggle() {
    $('state').hidden = this.isOpen
    $('show-state').ariaExpanded = this.isOpen
    this.#draw()
  }

  takeStats({ stats, at, bytesFree }) {
    this.#stats = { ...stats, bytesFree }
    for (const [name, plot] of Object.entries(this.#plots)) plot.add(stats[name] ?? 0, at)
    setText($('gauge'), `${bytes(stats.bytesUsed)} of ${bytes(stats.bytesAllowed ?? stats.bytesBudget)}`)
    this.#draw()
  }

  /** The list knows how many images there are; the figures count smaller ones that were derived from them, too. */
  takeList({ length, isWhole, isFiltered }) {
    if (isWhole && !isFiltered) this.#images = length
    this.#draw()
  }

  takeEvictions({ evictions }) {
    this.#evictions = [...evictions].reverse().concat(this.#evictions).slice(0, 100)
    this.#drawEvictions()
  }

  /** The progress of the verification of all images. */
  takeVerification({ checked, total, damaged, done }) {
    const found = { 0: 'none is damaged', 1: 'one is damaged' }[damaged] ?? `${number(damaged)} are damaged`
    setText($('verified'), `${number(checked)} of ${number(total)} compared, ${found}${done ? '.' : ' …'}`)
    $('verify').disabled = !done
  }

  #draw() {
    if (!this.isOpen || document.hidden) return
    this.#drawFigures(this.#stats)
    const moving = Object.values(this.#plots).map(plot => plot.draw(Date.now()))
    // The plots go on to the left while there is something on them.
    if (moving.includes(true)) {
      this.#timer ??= setTimeout(() => {
        this.#timer = null
        this.#draw()
      }, 1000)
    }
  }

  #drawFigures(stats) {
    const limit = stats.bytesAllowed ?? stats.bytesBudget ?? 0
    const meter = { value: stats.bytesUsed ?? 0, max: limit || 1 }
    this.#figure('Used', `${bytes(stats.bytesUsed)} of ${bytes(limit)}`, meter)
    this.#figure('Budget', bytes(stats.bytesBudget) + (limit < stats.bytesBudget ? ', but the disk is nearly full' : ''))
    if (stats.bytesFree !== undefined) {
      this.#figure('Free space', `${bytes(stats.bytesFree)}, of which ${bytes(stats.bytesMinFree)} stay free`)
    }
    const images = this.#images ?? stats.entries
    const smaller = stats.entries - images
    this.#figure('Images', number(images) + (smaller > 0 ? `, and ${number(smaller)} smaller ones of them` : ''))
    this.#figure('Pinned', number(stats.entriesPinned))
    const asked = (stats.hits ?? 0) + (stats.misses ?? 0)
    const share = `${((100 * stats.hits) / asked).toFixed(1)} %`
    this.#figure('Hits', asked > 0 ? `${number(stats.hits)} of ${number(asked)} requests, ${share}` : 'no requests yet')
    this.#figure('Received', bytes(stats.bytesReceived))
    this.#figure('Evicted', `${number(stats.evicted)} images, ${bytes(stats.bytesEvicted)}`)
    const isWatched = stats.pressureSource && stats.pressureSource !== 'off'
    this.#figure('Pressure', isWatched ? `${stats.pressureLevel}, watched at ${stats.pressureSource}` : 'not watched')
    this.#figure('Last reaction', lastReaction(stats))
  }

  #figure(name, text, meter) {
    if (!this.#values.has(name)) {
      const value = { text: element('span'), meter: meter && element('meter', { ariaLabel: name }) }
      this.#values.set(name, value)
      const parts = value.meter ? [value.meter, ' ', value.text] : [value.text]
      $('figures').append(element('dt', { textContent: name }), element('dd', {}, ...parts))
    }
    const value = this.#values.get(name)
    setText(value.text, text)
    if (meter) Object.assign(value.meter, { max: meter.max, value: meter.value })
  }

  #drawEvictions() {
    const rows = this.#evictions.map(({ url, key, bytes: size, at, reason }) => {
      const item = { url: url ?? '', key }
      const name = element('span', { textContent: `${nameOf(item)} ${hostOf(item.url)}`, title: url || key })
      const why = `${bytes(size)}, ${evictionReason(reason)}, ${fromNow(at)}`
      return element('li', {}, name, element('span', { textContent: why, title: date(at) }))
    })
    $('evictions').replaceChildren(...(rows.length > 0 ? rows : [element('li', { textContent: 'Nothing yet.' })]))
  }
}

function lastReaction(stats) {
  if (!stats.pressureLastAt) return 'none since the start'
  const what = stats.pressureLastEntries > 0
    ? `evicted ${number(stats.pressureLastEntries)} images, ${bytes(stats.pressureLastBytes)}` : 'evicted nothing'
  const cause = `${stats.pressureLastLevel} by ${stats.pressureLastSource}`
  return `${fromNow(stats.pressureLastAt)}: ${cause}, ${what} (${stats.pressureLastReason})`
}
