/** A small plot of a rate over the last two minutes, from a counter that only grows. */
import { element, setText } from './dom.js'

/** The time that a plot covers, in milliseconds. */
const span = 120_000
const size = { width: 120, height: 40 }
const svg = name => document.createElementNS('http://www.w3.org/2000/svg', name)

export class Plot {
  #samples = []
  #format
  #path = svg('path')
  #now = element('span')

  /** `format` writes a rate for a person. */
  constructor(title, format) {
    this.#format = format
    const drawing = svg('svg')
    drawing.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`)
    drawing.setAttribute('preserveAspectRatio', 'none')
    drawing.setAttribute('aria-hidden', 'true')
    drawing.append(this.#path)
    const caption = element('figcaption', {}, element('span', { textContent: title }), this.#now)
    this.element = element('figure', {}, caption, drawing)
  }

  /** Takes the value that the counter had at a time, in milliseconds. A restarted daemon counts from 0. */
  add(value, at) {
    const last = this.#samples.at(-1)
    if (last && value < last.value) this.#samples = []
    this.#samples.push({ value, at })
    while (this.#samples.length > 2 && this.#samples[1].at < at - span) this.#samples.shift()
  }

  /** Draws the plot as it is at a time. Gives whether it still moves. */
  draw(at) {
    const rates = this.#rates(at)
    const most = Math.max(...rates.map(({ rate }) => rate), 0)
    const x = time => (size.width * (1 - (at - time) / span)).toFixed(1)
    const y = rate => (size.height - (most > 0 ? rate / most : 0) * (size.height - 3)).toFixed(1)
    const steps = rates.map(({ from, to, rate }) => `V${y(rate)}H${x(to)}`).join('')
    const line = most > 0 ? `M${x(rates[0].from)} ${size.height}${steps}V${size.height}` : `M0 ${size.height}`
    if (this.#path.getAttribute('d') !== line) this.#path.setAttribute('d', line)
    const last = rates.at(-1)
    setText(this.#now, this.#format(last && at - last.to < 3000 ? last.rate : 0))
    return most > 0
  }

  #rates(at) {
    return this.#samples.slice(1).map((sample, index) => {
      const before = this.#samples[index]
      const seconds = Math.max(1, sample.at - before.at) / 1000
      return { from: before.at, to: sample.at, rate: (sample.value - before.value) / seconds }
    }).filter(({ to }) => to > at - span)
  }
}
