/** The bar over all downloads, with a label that is changed no faster than it can be read. */
import { $, setText } from './dom.js'
import { nameOf, number, percentOf } from './format.js'
import { LabelPacer } from './label.js'

/** How often a screen reader hears about the progress, in milliseconds. */
const spokenEvery = 5000

export class Progress {
  /** The downloads under way by key, and how many have ended since there was none. */
  #running = new Map()
  #ended = 0
  #failed = 0
  #spokenAt = -Infinity
  #pacer = new LabelPacer(text => setText($('work-label'), text))

  /** The daemon is lost, or says anew what is under way. */
  begin(items) {
    this.#running.clear()
    this.#ended = this.#failed = 0
    this.take(items)
  }

  /** Takes the news about downloads. */
  take(items, removed = []) {
    let newest
    for (const item of items) {
      const isRunning = Boolean(item.phase) || item.state === 'inFlight'
      if (isRunning) {
        if (!this.#running.has(item.key)) newest = item
        this.#running.set(item.key, percentOf(item) ?? 0)
      } else if (this.#running.delete(item.key)) {
        this.#ended += 1
        this.#failed += item.failure ? 1 : 0
      }
    }
    for (const key of removed) this.#ended += this.#running.delete(key) ? 1 : 0
    if (newest) this.#pacer.announce(nameOf(newest))
    this.#show()
  }

  /** Takes the progress of downloads that are on the screen. */
  advance(items) {
    for (const item of items) {
      if (this.#running.has(item.key) && item.phase) this.#running.set(item.key, percentOf(item) ?? 0)
    }
    this.#show()
  }

  #show() {
    const all = this.#running.size + this.#ended
    if (this.#running.size === 0) return this.#end(all)
    const received = [...this.#running.values()].reduce((sum, percent) => sum + percent, 0)
    const percent = (100 * this.#ended + received) / all
    const bar = document.querySelector('#work .bar')
    $('work').hidden = false
    bar.firstElementChild.style.transform = `scaleX(${(percent / 100).toFixed(3)})`
    bar.ariaValueNow = Math.floor(percent)
    const text = `${number(this.#ended)} of ${number(all)}`
    bar.ariaValueText = `${Math.floor(percent)} %, ${text} downloads`
    setText($('work-count'), text)
    if (performance.now() - this.#spokenAt < spokenEvery) return
    this.#spokenAt = performance.now()
    setText($('spoken'), `Downloads: ${text}, ${Math.floor(percent)} %`)
  }

  #end(all) {
    if (all === 0) return
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : ''
    setText($('spoken'), `Downloads: all ${all} have ended${failed}`)
    this.#ended = this.#failed = 0
    this.#pacer.end()
    $('work').hidden = true
  }
}
