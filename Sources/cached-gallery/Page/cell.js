/** The tile of one image. It is configured three ways: the picture is here; it comes; it is not here. */
import { $, element, setText } from './dom.js'
import { bytes, hostOf, nameOf, number, progress, typeOf, variantOf } from './format.js'
import { PartialPicture } from './partial.js'
import { Ring } from './ring.js'
import { pictureAddress, versionOf } from './server.js'
import { marksOf, reasonOf, stateOf, states } from './states.js'
import { addressFor, sideFor } from './thumbnails.js'

/** The types that a browser shows without running anything that is in them, and those that can be transparent. */
const raster = /^image\/(jpeg|png|gif|webp|avif|bmp|vnd\.microsoft\.icon|x-icon)$/
const transparent = /^image\/(png|gif|webp|avif|vnd\.microsoft\.icon|x-icon)$/

/** The size in which a picture is shown: in its proportion, as large as its place permits, and not enlarged. */
export function fitted(item, place) {
  if (!item?.width || !item.height) return place
  const scale = Math.min(place.width / item.width, place.height / item.height, 1)
  const size = { width: Math.round(item.width * scale), height: Math.round(item.height * scale) }
  // A place has whole pixels, and the proportion of its picture but for a part of one.
  for (const side of ['width', 'height']) if (place[side] - size[side] <= 2) size[side] = place[side]
  return { width: Math.max(1, size.width), height: Math.max(1, size.height) }
}

export class Cell {
  item
  /** Whether it is on the screen, and not just beside it. */
  isSeen = false
  /** Whether light falls into it: its image comes, or is not known yet. */
  isWaiting = false
  place = { left: 0, top: 0, width: 0, height: 0 }

  #thumbnails
  #onChange
  #picture = null
  /** The first picture of an animation, while that does not play. */
  #still = null
  /** The version and size of the picture that is shown or being loaded, and what stops the loading. */
  #version = ''
  #side = 0
  #loading = null
  #isOver = false

  /** `onChange` is called when the cell stops to wait, or begins to. */
  constructor(thumbnails, onChange) {
    this.#thumbnails = thumbnails
    this.#onChange = onChange
    this.element = $('cell').content.firstElementChild.cloneNode(true)
    this.element.cell = this
    const part = selector => this.element.querySelector(selector)
    this.ring = new Ring(part('.ring'))
    this.partial = new PartialPicture(this.element)
    this.instead = part('.instead')
    this.marks = part('.marks')
    this.title = part('.title')
    this.note = part('.note')
  }

  /** Shows an item at a place; undefined if it is not known yet. */
  configure(item, place, isSeen) {
    this.#move(place)
    this.item = item
    this.isSeen = isSeen
    const state = item && stateOf(item)
    this.state = state
    this.element.dataset.state = state ?? 'unknown'
    const classes = this.element.classList
    classes.toggle('seen', isSeen)
    if (item?.state === 'cached') this.#showHere(item)
    else this.#showInstead(item && !states[state].ring ? reasonOf(item) : '')
    this.ring.show(item)
    this.partial.show(item, isSeen)
    const marks = item ? marksOf(item) : []
    this.marks.dataset.marks = marks.join(' ')
    setText(this.marks, marks.map(mark => states[mark].sign).join(' '))
    setText(this.title, item ? nameOf(item) : '')
    setText(this.note, item ? noteOf(item) : '')
    this.element.ariaLabel = item ? describe(item) : 'Not known yet'
    this.#settle()
  }

  /** Forgets the image, so that nothing is loaded for it any more. */
  clear() {
    this.ring.show()
    this.partial.show()
    this.item = this.state = undefined
    this.isSeen = this.isWaiting = false
    this.#drop()
    this.element.classList.remove('active', 'selected', 'leaving')
  }

  /** Whether a picture can be seen. */
  get isPictured() {
    return this.#picture !== null
  }

  #move(place) {
    const { left, top, width, height } = this.place
    if (left === place.left && top === place.top && width === place.width && height === place.height) return
    this.place = place
    Object.assign(this.element.style, {
      left: `${place.left}px`, top: `${place.top}px`, width: `${place.width}px`, height: `${place.height}px`,
    })
    if (this.#picture) this.#fit(this.#picture)
  }

  // MARK: The picture

  #showHere(item) {
    if (!raster.test(item.mediaType ?? '')) {
      this.#drop()
      return this.#showInstead(`${typeOf(item) || 'This type'}: no preview`)
    }
    const version = `${item.key} ${versionOf(item)}`
    const side = sideFor(this.place)
    if (version === this.#version) {
      // The picture that is here stays until a sharper one has come.
      if (this.#isOver && side > this.#side) this.#load(item, version, side)
      return
    }
    const isOther = !version.startsWith(`${this.#version.split(' ')[0]} `)
    if (isOther) this.#drop()
    this.#load(item, version, side)
  }

  #showInstead(text) {
    this.#drop()
    this.#isOver = true
    setText(this.instead, text)
  }

  async #load(item, version, side) {
    this.#loading?.abort()
    const loading = (this.#loading = new AbortController())
    this.#version = version
    this.#side = side
    setText(this.instead, '')
    try {
      const picture = await this.#thumbnails.load(addressFor(item, side), () => this.isSeen, loading.signal)
      // A sharper picture takes the place of the one that is seen without a blink.
      if (this.#picture) await picture.decode()
      if (this.#loading === loading) this.#show(picture)
    } catch {
      if (this.#loading !== loading) return
      this.#isOver = true
      if (!this.#picture) setText(this.instead, 'No preview')
    }
    this.#settle()
  }

  #show(picture) {
    picture.alt = ''
    picture.classList.toggle('transparent', transparent.test(this.item.mediaType ?? ''))
    if (this.#picture) this.#picture.replaceWith(picture)
    else {
      picture.classList.toggle('fresh', this.isSeen)
      this.element.prepend(picture)
    }
    this.#picture = picture
    this.#isOver = true
    this.#stop(picture)
    this.#fit(picture)
    this.element.classList.add('pictured')
  }

  #fit(picture) {
    const { width, height } = fitted(this.item, this.place)
    for (const part of [picture, this.#still]) Object.assign(part?.style ?? {}, { width: `${width}px`, height: `${height}px` })
    picture.classList.toggle('small', width < this.place.width && height < this.place.height)
  }

  /** Puts the original in the place of the smaller picture, for everything that saves or drags it. */
  useOriginal() {
    if (this.#picture) this.#picture.src = pictureAddress(this.item)
  }

  /** Plays an animation while somebody points at it. */
  play(isPlaying) {
    if (!this.#still) return
    if (isPlaying) this.useOriginal()
    this.#picture.style.visibility = isPlaying ? '' : 'hidden'
    this.#still.hidden = isPlaying
  }

  /** A hidden animation stands still, and draws no frames. Its first picture is over it. */
  #stop(picture) {
    this.#still?.remove()
    this.#still = null
    if (this.item.mediaType !== 'image/gif') return
    const { naturalWidth: width, naturalHeight: height } = picture
    this.#still = element('canvas', { width, height })
    this.#still.getContext('2d').drawImage(picture, 0, 0)
    picture.after(this.#still)
    this.play(false)
  }

  /** Another program gets the file; a place for text gets the URL. */
  drag(data) {
    if (!this.isPictured) return
    const address = new URL(pictureAddress(this.item), document.baseURI).href
    data.setData('DownloadURL', `${this.item.mediaType}:${nameOf(this.item)}:${address}`)
    data.setData('text/uri-list', this.item.url || address)
    data.setData('text/plain', this.item.url || address)
  }

  #drop() {
    this.#loading?.abort()
    this.#loading = null
    this.#version = ''
    this.#side = 0
    this.#isOver = false
    this.#picture?.remove()
    this.#still?.remove()
    this.#picture = this.#still = null
    this.element.classList.remove('pictured')
    setText(this.instead, '')
  }

  #settle() {
    const { state } = this
    // Only what comes is lit: an image that is not known yet, its picture, or its bytes.
    const isComing = !state || (state === 'cached' ? !this.#isOver : Boolean(states[state].isComing))
    this.element.classList.toggle('lit', isComing && !this.#picture)
    const isWaiting = this.isSeen && isComing && !this.#picture
    if (isWaiting === this.isWaiting) return
    this.isWaiting = isWaiting
    this.#onChange()
  }
}

function noteOf(item) {
  if (item.phase || item.state === 'inFlight') return progress(item)
  if (item.state !== 'cached') return hostOf(item.url)
  const size = item.width ? ` · ${item.width}×${item.height}` : ''
  const variant = variantOf(item.url)
  return `${bytes(item.size)} · ${typeOf(item)}${size}${variant && ` · ${variant}`}`
}

/** All that a cell shows, for those who hear it. */
function describe(item) {
  const parts = [nameOf(item), variantOf(item.url), hostOf(item.url)]
  if (item.state === 'cached') {
    parts.push(typeOf(item), bytes(item.size), item.width && `${number(item.width)} by ${number(item.height)}`)
  } else if (item.state === 'inFlight') {
    parts.push('in flight', progress(item))
  } else {
    parts.push(item.failure ? `failed: ${item.failure.message}` : reasonOf(item))
  }
  parts.push(...marksOf(item).map(mark => states[mark].word.toLowerCase()))
  return parts.filter(Boolean).join(', ')
}
