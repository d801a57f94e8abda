/**
 * The light behind tiles whose image comes: one band that moves, seen through the shapes of these tiles, so that all of
 * them show the same light, in phase. It exists only while there is such a tile: else no frame is drawn. The compositor
 * moves it, and nothing is painted for it.
 */
import { element } from './dom.js'

/** The radius of the corners of a tile, in pixels. */
const radius = 4

export class Light {
  #place
  #band = element('div', { className: 'light', ariaHidden: 'true' })
  #shape = ''

  /** `place` is the element in which the tiles lie. */
  constructor(place) {
    this.#place = place
  }

  /** Shines through these places and nowhere else. */
  shine(places) {
    if (places.length === 0) {
      this.#band.remove()
      this.#shape = ''
      return
    }
    const top = Math.min(...places.map(place => place.top))
    const bottom = Math.max(...places.map(place => place.top + place.height))
    const shape = places.map(place => outline(place, top)).join('')
    if (shape + top !== this.#shape) {
      this.#shape = shape + top
      Object.assign(this.#band.style, { top: `${top}px`, height: `${bottom - top}px`, clipPath: `path("${shape}")` })
    }
    if (!this.#band.isConnected) this.#place.prepend(this.#band)
  }
}

/** A rectangle with round corners, as a path. */
function outline({ left, top, width, height }, start) {
  const corner = (x, y) => `a${radius} ${radius} 0 0 1 ${x * radius} ${y * radius}`
  const [across, down] = [width - 2 * radius, height - 2 * radius]
  return `M${left + radius} ${top - start}h${across}${corner(1, 1)}v${down}${corner(-1, 1)}h${-across}${corner(-1, -1)}v${-down}${corner(1, -1)}z`
}
