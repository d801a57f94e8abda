/** Figures of the daemon over time: samples that it remembers, and what it says while the page is open. */

/** How much is kept, in milliseconds, and how close samples are after ten minutes. */
const kept = 86_400_000
const coarse = 55_000
/** The figure that is no counter. */
const gauge = 'bytesUsed'

export class Series {
  #names
  /** The times, in milliseconds, and the values of each name then. Counters are made to go on after a restart. */
  #times = []
  #values = {}
  #last = {}

  constructor(names) {
    this.#names = names
    for (const name of names) this.#values[name] = []
  }

  /** Takes what the daemon remembers of the time before. */
  addHistory({ at, figures }) {
    const [times, values] = [this.#times, this.#values]
    const first = times[0] ?? Infinity
    this.#times = []
    this.#values = {}
    this.#last = {}
    for (const name of this.#names) this.#values[name] = []
    at.forEach((time, index) => {
      if (1000 * time < first) this.add(Object.fromEntries(this.#names.map(name => [name, figures[name]?.[index] ?? 0])), 1000 * time)
    })
    times.forEach((time, index) => this.#push(time, name => {
      if (name === gauge) return values[name][index]
      const before = values[name][Math.max(0, index - 1)]
      return (this.#values[name].at(-1) ?? before) + values[name][index] - before
    }))
  }

  /** Takes the figures at a time. A restarted daemon counts from 0. */
  add(figures, at) {
    this.#push(at, name => {
      const value = figures[name] ?? 0
      const grown = name === gauge ? value
        : (this.#values[name].at(-1) ?? value) + (value < this.#last[name] ? value : value - (this.#last[name] ?? value))
      this.#last[name] = value
      return grown
    })
    const old = this.#times.findLastIndex(time => time < at - 600_000)
    if (old > 1 && this.#times[old] - this.#times[old - 2] < coarse) this.#forget(old - 1)
    while (this.#times[1] < at - kept) this.#forget(0)
  }

  #push(at, value) {
    for (const name of this.#names) this.#values[name].push(value(name))
    this.#times.push(at)
  }

  #forget(index) {
    this.#times.splice(index, 1)
    for (const name of this.#names) this.#values[name].splice(index, 1)
  }

  /** The value at a time, between two samples in proportion; undefined before the first one. */
  at(name, time) {
    const [times, values] = [this.#times, this.#values[name]]
    if (!(times[0] <= time)) return undefined
    let [next, end] = [0, times.length]
    while (next < end) {
      const middle = (next + end) >> 1
      if (times[middle] < time) next = middle + 1
      else end = middle
    }
    if (next === 0 || next === times.length) return values[Math.min(next, times.length - 1)]
    const share = (time - times[next - 1]) / (times[next] - times[next - 1])
    return values[next - 1] + share * (values[next] - values[next - 1])
  }

  /** `count` values, each of a time `step`: of a counter the growth in a second. */
  values(name, start, step, count, end, isGauge) {
    return Array.from({ length: count }, (_, index) => {
      const [from, to] = [start + index * step, Math.min(end, start + (index + 1) * step)]
      if (to <= from) return undefined
      return isGauge ? this.at(name, to) : this.growth(name, from, to)
    })
  }

  /** The growth in a second between two times; undefined if it is not known. */
  growth(name, from, to) {
    const first = Math.max(from, this.#times[0] ?? Infinity)
    return first < to ? (1000 * (this.at(name, to) - this.at(name, first))) / (to - first) : undefined
  }

  /** What is shown as the value now. */
  latest(name, now, isGauge) {
    return isGauge ? this.at(name, now) : this.growth(name, now - 3000, now)
  }
}
