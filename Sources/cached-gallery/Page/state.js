/** The state of the cache: figures, plots, the hosts, and what happened lately. Drawn only while it is open. */
import { $, element, setText } from './dom.js'
import { bytes, duration, fromNow, number } from './format.js'
import { Happened } from './happened.js'
import { Plots } from './plots.js'
import { drawHosts } from './treemap.js'

export class StateOfThings {
  #stats = {}
  #happened = new Happened()
  #plots = new Plots(() => this.#happened.marks())
  #images
  #values = new Map()

  constructor() {
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
    this.#plots.series.add(stats, at)
    setText($('gauge'), `${bytes(stats.bytesUsed)} of ${bytes(stats.bytesAllowed ?? stats.bytesBudget)}`)
    this.#draw()
  }

  /** The list knows how many images there are; the figures count smaller ones that were derived from them, too. */
  takeList({ length, isWhole, isFiltered }) {
    if (isWhole && !isFiltered) this.#images = length
    this.#draw()
  }

  takeHistory({ events, samples }) {
    this.#happened.take(events)
    if (samples) this.#plots.series.addHistory(samples)
    this.#draw()
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
    this.#plots.draw()
    drawHosts()
  }

  #drawFigures(stats) {
    const limit = stats.bytesAllowed ?? stats.bytesBudget ?? 0
    const meter = { value: stats.bytesUsed ?? 0, max: limit || 1 }
    this.#figure('Used', `${bytes(stats.bytesUsed)} of ${bytes(limit)}`, meter)
    const left = this.#secondsUntilFull(stats, limit)
    this.#figure('Full', left ? `in ${duration(left)} at this rate` : 'not soon')
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

  /** By the growth of the last hour; undefined if it takes more than a month. */
  #secondsUntilFull(stats, limit) {
    const now = Date.now()
    const left = (limit - stats.bytesUsed) / this.#plots.series.growth('bytesUsed', now - 3_600_000, now)
    return left > 0 && left < 2_600_000 ? left : undefined
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
}

function lastReaction(stats) {
  if (!stats.pressureLastAt) return 'none since the start'
  const what = stats.pressureLastEntries > 0
    ? `evicted ${number(stats.pressureLastEntries)} images, ${bytes(stats.pressureLastBytes)}` : 'evicted nothing'
  const cause = `${stats.pressureLastLevel} by ${stats.pressureLastSource}`
  return `${fromNow(stats.pressureLastAt)}: ${cause}, ${what} (${stats.pressureLastReason})`
}
