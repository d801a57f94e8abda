/**
 * Pictures at the size of their cells. They are fetched when a cell that is seen asks, some at a time, and decoded at
 * the size in which they are shown. The whole picture is not kept.
 */
import { pictureAddress } from './server.js'

export class Thumbnails {
  /** A browser opens six connections to a server, and the stream of events and the calls need some of them. */
  static concurrent = 3
  /** How many bytes of pixels are kept for cells that come back. */
  static limit = 24e6

  /** Bitmaps by address and size, the one used last at the end. */
  #kept = new Map()
  #keptBytes = 0
  #waiting = []
  #running = 0

  /** The picture if it is at hand, else undefined. */
  kept(item, size) {
    const name = nameOf(item, size)
    const bitmap = this.#kept.get(name)
    if (!bitmap) return undefined
    this.#kept.delete(name)
    this.#kept.set(name, bitmap)
    return bitmap
  }

  /** Fetches and decodes the picture of an item. Fails if it cannot be shown, or if the signal stops it. */
  load(item, size, signal) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, signal, resolve, reject })
      this.#startNext()
    })
  }

  async #startNext() {
    if (this.#running >= Thumbnails.concurrent) return
    const next = this.#waiting.shift()
    if (!next) return
    const { item, size, signal, resolve, reject } = next
    if (signal.aborted) return this.#startNext()
    this.#running += 1
    try {
      resolve(this.#keep(nameOf(item, size), await decoded(item, size, signal)))
    } catch (error) {
      reject(error)
    } finally {
      this.#running -= 1
      this.#startNext()
    }
  }

  #keep(name, bitmap) {
    this.#kept.set(name, bitmap)
    this.#keptBytes += weight(bitmap)
    for (const [oldest, old] of this.#kept) {
      if (this.#keptBytes <= Thumbnails.limit) break
      if (old === bitmap) continue
      this.#kept.delete(oldest)
      this.#keptBytes -= weight(old)
      old.close()
    }
    return bitmap
  }
}

async function decoded(item, size, signal) {
  const response = await fetch(pictureAddress(item), { signal })
  if (!response.ok) throw new Error(`The picture is not here (${response.status}).`)
  // Only one side is given: a camera's picture may have to be turned first.
  return createImageBitmap(await response.blob(), { resizeHeight: size.height, resizeQuality: 'medium' })
}

const nameOf = (item, size) => `${pictureAddress(item)} ${size.width}x${size.height}`
const weight = bitmap => 4 * bitmap.width * bitmap.height
