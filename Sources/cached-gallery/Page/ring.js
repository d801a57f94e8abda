/** The ring of a download. It follows the bytes at the rate at which they come, and is never ahead of them. */
import { setText } from './dom.js'
import { nameOf, progress } from './format.js'
import { countdown, percentOf, shareOf, stateOf, states } from './states.js'

/** The text in the ring changes no faster than it can be read, in milliseconds. */
const paced = 250

export class Ring {
  #element
  #done
  #text
  /** The greatest percentage so far: a reader never sees it fall. */
  #most = 0
  #key = ''
  #drawing = ''
  /** When the share was reported last, and when the text was changed, in milliseconds. */
  #reportedAt = 0
  #writtenAt = -Infinity
  #timer = null
  /** The length of the pause that is counted down, in seconds. */
  #pause = 0

  constructor(element) {
    this.#element = element
    this.#done = element.querySelector('.done')
    this.#text = element.querySelector('span')
  }

  /** Shows the download of an item, if it has one. */
  show(item) {
    const state = item ? stateOf(item) : 'cached'
    const { ring = '' } = states[state]
    clearTimeout(this.#timer)
    this.#timer = null
    this.#element.hidden = ring === ''
    if (item?.key !== this.#key || ring !== this.#drawing) this.#begin(item?.key ?? '', ring)
    if (ring === '') return
    const text = this.#fill(item, ring)
    this.#write(text)
    this.#element.ariaLabel = `Download of ${nameOf(item)}`
    this.#element.ariaValueNow = ring === 'filled' ? Math.floor(this.#most) : null
    this.#element.ariaValueText = [ring === 'filled' && text, progress(item), ring === 'hollow' && text && `place ${text}`].filter(Boolean).join(', ')
  }

  #begin(key, ring) {
    if (key !== this.#key || ring === 'counting' || ring === 'hollow') this.#most = 0
    this.#key = key
    if (this.#drawing) this.#element.classList.remove(this.#drawing)
    if (ring) this.#element.classList.add(ring)
    this.#drawing = ring
    this.#pause = 0
    this.#reportedAt = 0
    this.#writtenAt = -Infinity
    this.#done.style.strokeDasharray = this.#done.style.transitionDuration = ''
  }

  /** Draws the share of the ring. Gives the text in it. */
  #fill(item, ring) {
    if (ring === 'counting') return this.#count(item)
    if (ring === 'hollow') return `${item.place ?? ''}`
    if (ring !== 'filled' && ring !== 'open') return ''
    this.#most = Math.max(this.#most, percentOf(item) ?? 0)
    const now = performance.now()
    // From the last share to this one in the time that these bytes took.
    const took = this.#reportedAt ? Math.min(1000, now - this.#reportedAt) : 0
    this.#reportedAt = now
    this.#done.style.transitionDuration = `${Math.round(took)}ms`
    this.#done.style.strokeDasharray = `${shareOf(item).toFixed(1)} 100`
    return `${Math.min(99, Math.floor(this.#most))} %`
  }

  /** Counts down once a second, which costs one frame. */
  #count(item) {
    const left = countdown(item)
    this.#pause = Math.max(this.#pause, left)
    this.#done.style.strokeDasharray = `${(100 * left) / (this.#pause || 1)} 100`
    if (left > 0) this.#timer = setTimeout(() => this.show(item), 1000)
    return left > 0 ? `${left} s` : ''
  }

  #write(text) {
    const wait = this.#writtenAt + paced - performance.now()
    if (text === this.#text.textContent) return
    if (wait > 0 && this.#timer === null) {
      this.#timer = setTimeout(() => this.#write(text), wait)
      return
    }
    this.#writtenAt = performance.now()
    setText(this.#text, text)
  }
}
