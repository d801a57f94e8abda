/** The band of light behind all cells. It exists only while something on the screen waits: else no frame is drawn. */
import { element } from './dom.js'

export class Light {
  #place
  #band = element('div', { className: 'light', ariaHidden: 'true' })

  constructor(place) {
    this.#place = place
  }

  get isOn() {
    return this.#band.isConnected
  }

  set isOn(isOn) {
    if (isOn === this.isOn) return
    if (isOn) this.#place.prepend(this.#band)
    else this.#band.remove()
  }
}
