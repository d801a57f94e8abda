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

export class Thumbnails {
  /** More than a browser's six connections: none rests while a picture is decoded. It sends calls before pictures. */
  static concurrent = 8

  #waiting = new Set()
  #running = 0

  /** Loads an address into an image of its own. `isUrgent` tells whether it is on the screen. Fails if it cannot be shown. */
  load(address, isUrgent, signal) {
    return new Promise((resolve, reject) => {
      const wanted = { address, isUrgent, signal, resolve, reject }
      this.#waiting.add(wanted)
      signal.addEventListener('abort', () => this.#waiting.delete(wanted))
      this.#startNext()
    })
  }

  async #startNext() {
    if (this.#running >= Thumbnails.concurrent) return
    const next = [...this.#waiting].find(wanted => wanted.isUrgent()) ?? this.#waiting.values().next().value
    if (!next) return
    this.#waiting.delete(next)
    this.#running += 1
    const image = new Image()
    // What has left the screen is not loaded on. A browser may never end the decoding of an image that is taken away.
    const stopped = new Promise((_, reject) => next.signal.addEventListener('abort', reject, { once: true }))
    try {
      image.src = next.address
      await Promise.race([image.decode(), stopped])
      next.resolve(image)
    } catch (error) {
      image.removeAttribute('src')
      next.reject(error)
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }
}
