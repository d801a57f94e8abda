/** The scroll bar of the grid. While it is dragged it says where in the list one is. */
import { $, setText } from './dom.js'

export class Scrubber {
  #scroll
  #onMove
  #label
  #track = $('scrubber')
  #thumb = $('scrubber').firstElementChild
  /** The height of the thumb, and where it is held, in pixels from its top. */
  #height = 0
  #grip = 0
  #drawn = ''

  /** `onMove` is called after the list was moved from here; `label` gives the words about its place. */
  constructor(scroll, onMove, label) {
    this.#scroll = scroll
    this.#onMove = onMove
    this.#label = label
    const track = this.#track
    track.addEventListener('pointerdown', event => this.#hold(event))
    track.addEventListener('pointermove', event => track.hasPointerCapture(event.pointerId) && this.#follow(event))
    track.addEventListener('lostpointercapture', () => {
      track.classList.remove('held')
      scroll.element.focus()
    })
    track.addEventListener('wheel', ({ deltaY }) => scroll.element.scrollBy(0, deltaY), { passive: true })
  }

  #hold(event) {
    if (event.button !== 0) return
    this.#grip = event.target === this.#track ? this.#height / 2 : event.clientY - this.#thumb.getBoundingClientRect().top
    this.#track.setPointerCapture(event.pointerId)
    this.#track.classList.add('held')
    this.#follow(event)
  }

  #follow({ clientY }) {
    const { top, height } = this.#track.getBoundingClientRect()
    this.#scroll.share = (clientY - top - this.#grip) / Math.max(1, height - this.#height)
    this.#onMove()
  }

  /** Shows where the list is. */
  draw() {
    const { share, part, view } = this.#scroll
    if (this.#track.matches('.held')) setText(this.#thumb.firstElementChild, this.#label())
    this.#track.hidden = part >= 1
    this.#height = Math.max(28, Math.round(part * view))
    // Moved so, it is not laid out.
    const transform = `translateY(${Math.round(share * (view - this.#height))}px)`
    if (this.#drawn === transform + this.#height) return
    this.#drawn = transform + this.#height
    Object.assign(this.#thumb.style, { transform, height: `${this.#height}px` })
  }
}
