/** Plots of the last time over one axis, from what the daemon remembers and what it says now; with a line under the pointer. */
import { $, element, setText } from './dom.js'
import { bytes, date, duration, number } from './format.js'
import { Series } from './series.js'

/** How many values a plot has. */
const bins = 120
const height = 40
const rate = value => `${value < 10 ? value.toFixed(1) : number(Math.round(value))}/s`
const drawn = [
  ['bytesUsed', 'Used', bytes, true], ['bytesReceived', 'Received', value => `${bytes(value)}/s`],
  ['hits', 'Hits', rate], ['misses', 'Misses', rate], ['failed', 'Failed', rate],
  ['bytesEvicted', 'Evicted', value => `${bytes(value)}/s`],
]
const svg = (name, attributes = {}) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  return made
}
const set = (path, line) => path.getAttribute('d') === line || path.setAttribute('d', line)

export class Plots {
  series = new Series(drawn.map(([name]) => name))
  #plots
  /** The place of the pointer, from 0 to 1. */
  #pointer
  #marks = () => []

  /** `marks` gives the times of evictions, and whether memory was short then. */
  constructor(marks) {
    this.#marks = marks
    this.#plots = drawn.map(([name, title, format, isGauge]) => {
      const parts = { name, format, isGauge, now: element('span'), top: element('small'), start: element('span') }
      parts.paths = ['line', 'mark', 'mark pressure', 'cross'].map(kind => svg('path', { class: kind }))
      const drawing = svg('svg', { viewBox: `0 0 ${bins} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
      drawing.append(...parts.paths)
      const axis = element('div', { className: 'axis' }, parts.start, element('span', { textContent: 'now' }))
      const caption = element('figcaption', {}, element('span', { textContent: title }), parts.now)
      $('plots').append(element('figure', {}, caption, parts.top, drawing, axis))
      return parts
    })
    $('plots').addEventListener('pointermove', ({ target, clientX }) => {
      const box = target.closest('figure')?.querySelector('svg').getBoundingClientRect()
      if (!box) return
      this.#pointer = Math.min(0.999, Math.max(0, (clientX - box.left) / box.width))
      this.draw()
    })
    $('plots').addEventListener('pointerleave', () => {
      this.#pointer = undefined
      this.draw()
    })
    $('span').addEventListener('change', () => this.draw())
  }

  /** The axis moves by whole values, so that nothing is drawn while nothing changes. */
  draw(now = Date.now()) {
    const span = 1000 * $('span').value
    const step = span / bins
    const end = Math.ceil(now / step) * step
    const start = end - span
    const place = this.#pointer === undefined ? undefined : Math.floor(this.#pointer * bins)
    setText($('pointed'), place === undefined ? '' : date((start + (place + 0.5) * step) / 1000))
    const marks = this.#marks().filter(({ at }) => at >= start)
    const ticks = isPressure => [...new Set(marks.filter(mark => mark.isPressure === isPressure)
      .map(({ at }) => Math.floor((at - start) / step)))].map(x => `M${x} ${height}v-7`).join('')
    for (const { name, format, isGauge, now: value, top, start: label, paths } of this.#plots) {
      const values = this.series.values(name, start, step, bins, Math.min(end, now), isGauge)
      const most = Math.max(0, ...values.filter(value => value !== undefined))
      const line = values.map((value, x) => (value === undefined ? ''
        : `${x === 0 || values[x - 1] === undefined ? `M${x} ${height}` : ''}V${(height - (most && value / most) * (height - 2)).toFixed(1)}H${x + 1}`)).join('')
      set(paths[0], line && `${line}V${height}`)
      set(paths[1], ticks(false))
      set(paths[2], ticks(true))
      set(paths[3], place === undefined ? '' : `M${place + 0.5} 0V${height}`)
      const pointed = place === undefined ? this.series.latest(name, now, isGauge) : values[place]
      setText(value, pointed === undefined ? '–' : format(pointed))
      setText(top, most > 0 ? format(most) : '')
      setText(label, `${duration(span / 1000)} ago`)
    }
  }
}
