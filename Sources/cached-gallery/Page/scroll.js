import { $ } from './dom.js'

/**
 * Maps a list of any height to a scroll bar. Browsers cap the height of an element at 16 to 33 million pixels,
 * so the bar of a longer list is shorter than the list: small movements of the bar move the list as far, large
 * ones move it in proportion, and the ends are the ends.
 */
export class ScrollMap {
  /** The greatest height of the bar, in pixels. */
  static limit = 8_000_000

  /** The height of the list and of the part that is seen, in pixels. */
  height = 0
  view = 0
  /** The first pixel of the list that is seen. */
  position = 0
  /** The same on the bar. */
  bar = 0

  constructor(limit = ScrollMap.limit) {
    this.limit = limit
  }

  get barHeight() {
    return Math.min(this.height, this.limit)
  }

  /** The last possible positions. */
  get end() {
    return Math.max(0, this.height - this.view)
  }

  get barEnd() {
    return Math.max(0, this.barHeight - this.view)
  }

  /** The distance from the list to the bar: what is drawn at `y` in the list lies at `y - offset` under the bar. */
  get offset() {
    return this.position - this.bar
  }

  resize(height, view) {
    this.height = height
    this.view = view
    this.position = Math.min(this.position, this.end)
    this.settle()
  }

  /** The user has moved the bar. */
  moved(bar) {
    const distance = bar - this.bar
    this.bar = bar
    if (bar <= 0) this.position = 0
    else if (bar >= this.barEnd) this.position = this.end
    else if (this.height <= this.limit) this.position = bar
    else if (Math.abs(distance) < this.view) this.position = Math.max(0, Math.min(this.end, this.position + distance))
    else this.position = (bar / this.barEnd) * this.end
  }

  /** Moves the list, and the bar to where it belongs. */
  moveTo(position) {
    this.position = Math.max(0, Math.min(this.end, position))
    this.settle()
  }

  /** Puts the bar where it belongs after small movements, without moving the list. Gives its place. */
  settle() {
    this.bar = this.end === 0 ? 0 : (this.position / this.end) * this.barEnd
    return this.bar
  }

  /** Whether the bar is about to reach an end before the list does. */
  get isStrained() {
    const near = this.view / 4
    const atTop = this.bar < near && this.position > this.bar + near
    const atEnd = this.barEnd - this.bar < near && this.end - this.position > this.barEnd - this.bar + near
    return this.height > this.limit && (atTop || atEnd)
  }
}

/** How long the list is still until it rests, in milliseconds. */
const pause = 150

/** The part of the list that is on the screen. While rows get other heights, one image keeps its place. */
export class Scroller {
  element = $('scroller')
  /** 1 while the list is scrolled down, -1 while it is scrolled up, 0 at rest. */
  direction = 0

  #floor = $('rows')
  #map = new ScrollMap()
  #layout
  #list
  /** The image that keeps its place, and how many pixels of its row are above the screen; null after scrolling. */
  #held
  #onRest
  #timer

  /** `list` has a `length`, and `isWhole` if it will get no longer; `onScroll` is called after somebody has scrolled, and `onRest` after the end. */
  constructor(layout, list, held, { onScroll, onRest }) {
    this.#onRest = onRest
    this.#layout = layout
    this.#list = list
    this.#held = held
    this.element.addEventListener('scroll', () => {
      this.follow()
      if (this.#map.isStrained) this.#placeBar()
      onScroll()
    }, { passive: true })
  }

  get position() { return this.#map.position }
  get view() { return this.#map.view }
  /** What is drawn at `y` in the list lies at `y - offset` in the element. */
  get offset() { return this.#map.offset }

  /** The position, and the part that is on the screen, from 0 to 1. */
  get share() { return this.position / (this.#map.end || 1) }
  set share(share) { this.moveTo(share * this.#map.end) }
  get part() { return this.view / Math.max(this.view, this.#map.height, 1) }

  /** Where the list is; null at its top. */
  get place() {
    this.follow()
    const [row] = this.#layout.rows(this.position, this.position + this.view)
    return this.#held ?? (row && this.position > 0 ? { index: row.first, hidden: this.position - row.top } : null)
  }

  /** Where a pointer is in the list. */
  pointOf({ clientX, clientY }) {
    this.follow()
    const { left, top } = this.element.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top + this.position }
  }

  /** Follows the bar if somebody has moved it. A browser cuts it when the list gets shorter. */
  follow() {
    const { scrollTop } = this.element
    if (Math.abs(scrollTop - this.#map.bar) < 1) return
    if (scrollTop < this.#map.bar && this.#map.bar > this.element.scrollHeight - this.element.clientHeight + 1) return
    const before = this.position
    this.#map.moved(scrollTop)
    this.#moved(before)
  }

  #moved(before) {
    this.#held = null
    this.direction = Math.sign(this.position - before) || this.direction
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.direction = 0
      this.#onRest()
    }, pause)
  }

  /** Moves the bar to where it belongs. */
  #placeBar() {
    this.#map.bar = Math.round(this.#map.settle())
    if (Math.abs(this.element.scrollTop - this.#map.bar) >= 1) this.element.scrollTop = this.#map.bar
  }

  /** Shows another part of the list. */
  moveTo(position) {
    const before = this.position
    this.#map.moveTo(position)
    this.#placeBar()
    this.#moved(before)
  }

  /** Shows a place, scrolling as little as that needs. */
  reveal({ top, height, above }) {
    if (top - above < this.position) this.moveTo(top - above)
    else if (top + height > this.position + this.view) this.moveTo(top + height - this.view)
  }

  /** Does something that moves images. The one that is held need not be in the list yet. */
  keep(work) {
    this.#held = this.place
    work()
    const { length, isWhole } = this.#list
    this.#layout.resize(length)
    this.#map.resize(this.#layout.height, this.element.clientHeight)
    this.#floor.style.height = `${this.#map.barHeight}px`
    if (this.#held?.index < length) this.#map.moveTo(this.#layout.place(this.#held.index).top + this.#held.hidden)
    else if (isWhole) this.#held = null
    this.#placeBar()
  }
}
