/** One image's place in the grid. It is configured three ways: the picture is here; it comes; it is not here. */
import { $, setText } from './dom.js'
import { bytes, hostOf, nameOf, number, percentOf, progress, typeOf, variantOf } from './format.js'

/** The smallest side of a picture's place, in pixels. */
const smallest = 24
/** The types that a browser shows without running anything that is in them. */
const raster = /^image\/(jpeg|png|gif|webp|avif|bmp|vnd\.microsoft\.icon|x-icon)$/

/** The size in which a picture is shown: in its proportion, as large as the box permits, and not enlarged. */
export function fitted(item, box) {
  if (!item?.width || !item.height) return box
  const scale = Math.min(box.width / item.width, box.height / item.height, 1)
  const side = (length, limit) => Math.round(Math.min(limit, Math.max(smallest, length * scale)))
  return { width: side(item.width, box.width), height: side(item.height, box.height) }
}

export class Cell {
  item
  /** Whether it is on the screen, and not just beside it. */
  isSeen = false
  /** Whether there is something to see behind its windows. */
  isWaiting = false

  #thumbnails
  #onChange
  /** The picture that is shown or being loaded, and what stops the loading. */
  #picture = ''
  #isLoaded = false
  #loading = null

  /** `onChange` is called when the cell stops to wait, or begins to. */
  constructor(thumbnails, onChange) {
    this.#thumbnails = thumbnails
    this.#onChange = onChange
    this.element = $('cell').content.firstElementChild.cloneNode(true)
    const part = selector => this.element.querySelector(selector)
    this.pane = { picture: part('.picture'), title: part('.title'), note: part('.note') }
    this.window = part('.picture .window')
    this.canvas = part('canvas')
    this.ring = part('.ring')
    this.done = part('.done')
    this.percent = part('.ring span')
    this.instead = part('.instead')
    this.title = part('.title span')
    this.note = part('.note span')
  }

  /** Shows an item; undefined if it is not known yet. */
  configure(item, box, isSeen) {
    this.item = item
    this.isSeen = isSeen
    const classes = this.element.classList
    classes.toggle('seen', isSeen)
    classes.toggle('failed', Boolean(item?.failure) && item.state === 'missing')
    classes.toggle('pinned', Boolean(item?.pinned))
    this.#place(fitted(item, box))
    if (item?.state === 'cached') this.#showHere(item)
    else if (item?.state === 'inFlight') this.#showComing()
    else this.#showMissing(item)
    this.#showRing(item)
    this.#showText(item)
    this.#settle()
  }

  /** Forgets the image, so that nothing is loaded for it any more. */
  clear() {
    this.item = undefined
    this.isSeen = this.isWaiting = false
    this.#dropPicture()
  }

  #place(size) {
    if (this.size?.width === size.width && this.size.height === size.height) return
    this.size = size
    Object.assign(this.window.style, { width: `${size.width}px`, height: `${size.height}px` })
    Object.assign(this.canvas.style, { width: `${size.width}px`, height: `${size.height}px` })
  }

  // MARK: The three ways

  #showHere(item) {
    const name = `${item.key} ${item.fetchedAt ?? item.size} ${this.size.width}x${this.size.height}`
    if (this.#picture === name) return
    if (!raster.test(item.mediaType ?? '')) {
      this.#dropPicture()
      this.#picture = name
      this.#isLoaded = true
      setText(this.instead, `${typeOf(item) || 'This type'}: no preview`)
      return
    }
    const pixels = this.#pixels()
    const kept = this.#thumbnails.kept(item, pixels)
    if (kept) {
      this.#dropPicture()
      this.#picture = name
      this.#draw(kept)
    } else if (this.isSeen) {
      this.#dropPicture()
      this.#picture = name
      this.#load(item, pixels)
    }
  }

  #showComing() {
    this.#dropPicture()
    setText(this.instead, '')
  }

  #showMissing(item) {
    this.#dropPicture()
    setText(this.instead, item?.failure?.message ?? '')
  }

  // MARK: The picture

  async #load(item, pixels) {
    const loading = new AbortController()
    this.#loading = loading
    try {
      const bitmap = await this.#thumbnails.load(item, pixels, loading.signal)
      if (this.#loading === loading) this.#draw(bitmap)
    } catch {
      if (this.#loading !== loading) return
      this.#isLoaded = true
      setText(this.instead, 'No preview')
    }
    this.#settle()
  }

  #draw(bitmap) {
    const { width, height } = this.#pixels()
    Object.assign(this.canvas, { width, height })
    const scale = Math.min(width / bitmap.width, height / bitmap.height)
    const [w, h] = [bitmap.width * scale, bitmap.height * scale]
    this.canvas.getContext('2d').drawImage(bitmap, (width - w) / 2, (height - h) / 2, w, h)
    this.canvas.hidden = false
    this.#isLoaded = true
    setText(this.instead, '')
  }

  #dropPicture() {
    this.#loading?.abort()
    this.#loading = null
    this.#picture = ''
    this.#isLoaded = false
    this.canvas.hidden = true
    if (this.canvas.width > 0) this.canvas.width = this.canvas.height = 0
  }

  #pixels() {
    const scale = Math.min(devicePixelRatio, 2)
    return { width: Math.round(this.size.width * scale), height: Math.round(this.size.height * scale) }
  }

  // MARK: The rest

  /** The ring shows a download, also one that refreshes a picture that is here. */
  #showRing(item) {
    const isComing = Boolean(item?.phase) || item?.state === 'inFlight'
    this.ring.hidden = !isComing
    if (!isComing) return
    const percent = percentOf(item)
    const whole = percent === undefined ? undefined : Math.floor(percent)
    this.ring.classList.toggle('turning', whole === undefined)
    this.done.style.strokeDasharray = whole === undefined ? '' : `${percent.toFixed(1)} 100`
    setText(this.percent, whole === undefined ? '' : `${whole} %`)
    this.ring.ariaLabel = `Download of ${nameOf(item)}`
    this.ring.ariaValueNow = whole ?? null
    this.ring.ariaValueText = whole === undefined ? progress(item) : `${whole} %, ${progress(item)}`
  }

  #showText(item) {
    this.pane.title.classList.toggle('shut', Boolean(item))
    setText(this.title, item ? nameOf(item) : '')
    const note = item ? noteOf(item) : ''
    this.pane.note.classList.toggle('shut', note !== '')
    setText(this.note, note)
    this.element.title = item?.url ?? ''
    this.element.ariaLabel = item ? describe(item) : 'Not known yet'
  }

  #settle() {
    const isOver = this.#isLoaded || Boolean(this.item?.failure && this.item.state === 'missing')
    this.pane.picture.classList.toggle('shut', isOver)
    const isWaiting = this.isSeen && (!isOver || !this.item)
    if (isWaiting === this.isWaiting) return
    this.isWaiting = isWaiting
    this.#onChange()
  }
}

function noteOf(item) {
  if (item.state === 'cached' && !item.phase) {
    const size = item.width ? ` · ${item.width}×${item.height}` : ''
    const variant = variantOf(item.url)
    return `${bytes(item.size)} · ${typeOf(item)}${size}${variant && ` · ${variant}`}`
  }
  if (item.phase || item.state === 'inFlight') return progress(item)
  return item.failure ? hostOf(item.url) : ''
}

/** All that a cell shows, for those who hear it. */
function describe(item) {
  const parts = [nameOf(item), variantOf(item.url), hostOf(item.url)]
  if (item.state === 'cached') {
    parts.push(typeOf(item), bytes(item.size), item.width && `${number(item.width)} by ${number(item.height)}`)
  } else if (item.state === 'inFlight') {
    parts.push('in flight', progress(item))
  } else {
    parts.push(item.failure ? `failed: ${item.failure.message}` : 'missing')
  }
  if (item.pinned) parts.push('pinned')
  return parts.filter(Boolean).join(', ')
}
