/** The picture of a download as far as its bytes are here: it grows under the ring. */
import { partialAddress } from './server.js'
import { stateOf } from './states.js'

/** The types that browsers draw from their beginning. */
const progressive = /^image\/(jpeg|png|webp|gif)$/
/** The least growth between two drawings, as a share and in bytes; and the longest beginning that is asked for. */
const [step, least, most] = [0.07, 20_000, 30e6]

export class PartialPicture {
  #element
  #picture = null
  #key = ''
  #drawn = 0
  #isLoading = false

  constructor(element) {
    this.#element = element
  }

  /** Draws what is here of an item, if it is being received; else nothing. */
  show(item, isSeen) {
    if (!item || stateOf(item) !== 'receiving' || item.state === 'cached') return this.#drop()
    if (item.key !== this.#key) this.#drop()
    this.#key = item.key
    const received = item.received ?? 0
    const hasGrown = received - this.#drawn >= Math.max(least, step * (item.total ?? 0)) && received < most
    if (isSeen && hasGrown && !this.#isLoading && progressive.test(item.mediaType ?? '')) this.#load(item, received)
  }

  #load(item, received) {
    this.#isLoading = true
    this.#drawn = received
    const picture = new Image()
    picture.alt = ''
    picture.className = 'partial'
    const done = () => {
      this.#isLoading = false
      // Nothing may be drawable yet, and the download may have ended since.
      if (picture.naturalWidth === 0 || this.#key !== item.key) return
      if (this.#picture) this.#picture.replaceWith(picture)
      else this.#element.prepend(picture)
      this.#picture = picture
    }
    picture.onload = picture.onerror = done
    picture.src = partialAddress(item, received)
  }

  #drop() {
    this.#picture?.remove()
    this.#picture = null
    this.#key = ''
    this.#drawn = 0
  }
}
