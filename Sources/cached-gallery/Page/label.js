/**
 * Chooses the label beside a progress bar: the newest one, but each label stays long enough to be read. Of a
 * burst only the newest is shown. The last one is always shown, and cleared after the work has ended.
 */
export class LabelPacer {
  /** The shortest time that a label stays, in milliseconds. */
  static dwell = 250

  #show
  #shownAt = -Infinity
  #next = null
  #isEnding = false
  #timer = null

  /** `show` receives each label when its turn has come, and an empty one at the end. */
  constructor(show) {
    this.#show = show
  }

  announce(text) {
    this.#isEnding = false
    this.#next = text
    this.#advance()
  }

  /** All work has ended: the last label is followed by none. */
  end() {
    this.#isEnding = true
    this.#advance()
  }

  #advance() {
    if (this.#timer !== null || (this.#next === null && !this.#isEnding)) return
    const now = performance.now()
    const wait = this.#shownAt + LabelPacer.dwell - now
    if (wait > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = null
        this.#advance()
      }, wait)
      return
    }
    if (this.#next === null) {
      this.#isEnding = false
      this.#show('')
      return
    }
    const text = this.#next
    this.#next = null
    this.#shownAt = now
    this.#show(text)
    this.#advance()
  }
}
