/** Pictures of about the size in which they are shown. Some are loaded at a time, those on the screen first. */
import { pictureAddress, thumbnailAddress } from './server.js'

/** The sizes that the daemon derives, in pixels of the device. */
const sides = [128, 256, 512, 1024, 2048]

/** The smallest of them that fills a place. */
export function sideFor({ width, height }) {
  const wanted = Math.max(width, height) * Math.min(devicePixelRatio, 2)
  return sides.find(side => side >= 0.9 * wanted) ?? sides.at(-1)
}

/** The URLs of smaller pictures that this page has asked for: their downloads are no news for a person. */
const asked = new Set()

export const isThumbnail = url => asked.has(url)

/** The address of the picture of an item for a place: a smaller one, unless the original is as small. */
export function addressFor(item, side) {
  const isSmall = Math.max(item.width ?? Infinity, item.height ?? Infinity) <= side
  const isVariant = /#(.*&)?side=/.test(item.url)
  if (isSmall || isVariant || !item.url) return pictureAddress(item)
  asked.add(`${item.url}${item.url.includes('#') ? '&' : '#'}side=${side}`)
  return thumbnailAddress(item, side)
}

/** Lets some works run at a time, and those on the screen first. */
class Turns {
  #limit
  #waiting = new Set()
  #running = 0

  constructor(limit) {
    this.#limit = limit
  }

  /** Does a work in its turn. `isUrgent` tells whether it is on the screen. What is aborted loses its turn. */
  take(work, isUrgent, signal) {
    return new Promise((resolve, reject) => {
      const turn = { isUrgent, go: () => work().then(resolve, reject) }
      this.#waiting.add(turn)
      signal.addEventListener('abort', () => this.#waiting.delete(turn))
      this.#startNext()
    })
  }

  async #startNext() {
    if (this.#running >= this.#limit) return
    const next = [...this.#waiting].find(turn => turn.isUrgent()) ?? this.#waiting.values().next().value
    if (!next) return
    this.#waiting.delete(next)
    this.#running += 1
    await next.go()
    this.#running -= 1
    this.#startNext()
  }
}

export class Thumbnails {
  /** A browser has six connections. What is ready passes by what the daemon has to make, which takes half of them. */
  #ready = new Turns(40)
  #made = new Turns(3)

  /** Loads an address into an image of its own. `isUrgent` tells whether it is on the screen. Fails if it cannot be shown. */
  async load(address, isUrgent, signal) {
    const load = address => () => loaded(address, signal)
    if (!address.startsWith('thumbnail')) return this.#ready.take(load(address), isUrgent, signal)
    try {
      return await this.#ready.take(load(`${address}&ready=1`), isUrgent, signal)
    } catch (error) {
      if (signal.aborted) throw error
      return this.#made.take(load(address), isUrgent, signal)
    }
  }
}

/** What has left the screen is not loaded on. */
function loaded(address, signal) {
  const image = new Image()
  return new Promise((resolve, reject) => {
    image.onload = () => resolve(image)
    image.onerror = reject
    signal.addEventListener('abort', reject)
    image.src = address
  }).catch(error => {
    image.removeAttribute('src')
    throw error
  })
}
