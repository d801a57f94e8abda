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
