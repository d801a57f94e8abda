/** One picture in the whole window, with the ones beside it: the original, which can be enlarged. */
import { $, button, element, on as listen, setText } from './dom.js'
import { bytes, nameOf, number, progress } from './format.js'
import { move } from './motion.js'
import { get, pictureAddress } from './server.js'
import { marksOf, states } from './states.js'
import { addressFor } from './thumbnails.js'

/** How many pictures the film strip has on each side, and the greatest enlargement. */
const beside = 7
const largest = 16

export class Viewer {
  index = -1
  item

  #catalog
  #on
  #dialog = $('viewer')
  #stage = $('stage')
  #picture
  /** The picture before a refresh, whose bytes are not in the cache any more. */
  #earlier
  /** Pixels of the page for a pixel of the image; 0 to fit the window. */
  #zoom = 0

  /**
   * `on.change` gets the item that is shown, undefined after the end; `on.act` the key that was pressed, with the item;
   * `on.from` gives the rectangle of the tile of an item; `on.replaced` gets an item whose picture is another one now.
   */
  constructor(catalog, on) {
    this.#catalog = catalog
    this.#on = on
    listen('viewer', () => this.#closed(), 'close')
    listen('viewer', event => this.#press(event), 'keydown')
    listen('viewer', () => this.#compare(false), 'keyup')
    listen('viewer-before', () => this.#compare(true), 'pointerdown')
    for (const name of ['pointerup', 'pointerleave', 'pointercancel']) listen('viewer-before', () => this.#compare(false), name)
    for (const name of ['back', 'forward', 'smaller', 'larger', 'fit', 'details', 'close']) listen(`viewer-${name}`, () => this.#do(name))
    this.#stage.addEventListener('wheel', event => this.#turn(event), { passive: false })
    listen('stage', event => this.#scale(this.#zoom === 0 ? 1 : 0, event), 'dblclick')
    listen('stage', event => this.#grab(event), 'pointerdown')
    new ResizeObserver(() => this.#fit()).observe(this.#stage)
  }

  get isOpen() {
    return this.#dialog.open
  }

  /** Shows an image. `index` is its place in the list, -1 if it is not known. */
  show(item, index) {
    if (!item) return
    const wasOpen = this.isOpen
    this.index = index
    this.item = item
    if (!wasOpen) this.#dialog.showModal()
    this.#zoom = 0
    this.#earlier = undefined
    this.#draw()
    const from = wasOpen ? null : this.#on.from(item)
    if (from) move(this.#picture, from)
    this.#on.change(item)
  }

  close() {
    this.#dialog.close()
  }

  #closed() {
    this.#stage.replaceChildren()
    $('strip').replaceChildren()
    this.item = this.#earlier = undefined
    this.#on.change(undefined)
  }

  /** There is news about the image. Another picture takes its place, and the one before can still be seen. */
  async update({ key, state, phase, ...news }) {
    if (phase || state !== 'cached') return this.#note(phase ? progress({ state, phase, ...news }) : '')
    const { item } = await get('info', { key }).catch(() => ({ item: {} }))
    if (this.item?.key !== key || item.state !== 'cached') return
    const fact = this.item.sha256 ? 'sha256' : 'fetchedAt'
    const isOther = item[fact] !== this.item[fact]
    this.item = item
    if (!isOther) return this.#note()
    this.#earlier = this.#picture
    this.#earlier.className += ' earlier'
    this.#draw()
    this.#on.replaced(item)
  }

  /** The list has come, or has changed. */
  refresh() {
    if (!this.isOpen) return
    const index = this.#catalog.indexOf(this.item.key)
    if (index >= 0) this.index = index
    this.#drawStrip()
  }

  // MARK: Drawing

  /** Says what there is to know about the picture. */
  #note(news) {
    const { item } = this
    if (!item) return
    const marks = marksOf(item).map(mark => states[mark].word.toLowerCase())
    const facts = [news, item.width && `${number(item.width)} × ${number(item.height)}`, item.size && bytes(item.size), ...marks]
    setText($('viewer-note'), facts.filter(Boolean).join(' · '))
  }

  #draw() {
    const { item } = this
    setText($('viewer-title'), nameOf(item))
    this.#note()
    const picture = element('img', { alt: nameOf(item), draggable: true })
    this.#picture = picture
    // The small picture is at hand: the original takes its place when it can be seen as a whole.
    picture.src = addressFor(item, 512)
    const original = new Image()
    original.src = pictureAddress(item)
    const show = () => {
      if (this.#picture === picture) picture.src = original.src
    }
    original.decode().then(show, show)
    picture.onload = picture.onerror = () => {
      this.#fit()
      this.#compare(false)
    }
    this.#stage.replaceChildren(...[this.#earlier].filter(Boolean), picture)
    $('viewer-before').hidden = !this.#earlier
    // Until the new one is there, the one before stays.
    this.#compare(true)
    this.#fit()
    this.#drawStrip()
  }

  #drawStrip() {
    const { index } = this
    const places = index < 0 ? [] : Array.from({ length: 2 * beside + 1 }, (_, place) => index - beside + place)
    const known = places.filter(place => place >= 0 && place < this.#catalog.length)
    if (known.length > 0) this.#catalog.need(known[0], known.at(-1))
    $('viewer-back').disabled = index <= 0
    $('viewer-forward').disabled = index < 0 || index >= this.#catalog.length - 1
    $('strip').replaceChildren(...known.map(place => {
      const item = this.#catalog.at(place)
      const made = button('', () => this.show(item, place), { ariaLabel: item ? nameOf(item) : 'Not known yet', disabled: !item })
      made.ariaCurrent = place === index ? 'true' : null
      if (item?.state === 'cached') made.append(element('img', { src: addressFor(item, 128), alt: '' }))
      return made
    }))
  }

  /** Shows the picture before the refresh, or the one of now. */
  #compare(isEarlier) {
    const isBefore = isEarlier && Boolean(this.#earlier)
    if (isBefore === this.#stage.matches('.before')) return
    this.#stage.classList.toggle('before', isBefore)
    this.#note(isBefore && 'Before the refresh')
  }

  /** The size of the image in pixels: a smaller picture says only its proportion. */
  get #size() {
    const { width, height } = this.item
    return width ? { width, height } : { width: this.#picture.naturalWidth || 1, height: this.#picture.naturalHeight || 1 }
  }

  #fit() {
    if (!this.item) return
    const { width, height } = this.#size
    const whole = Math.min(this.#stage.clientWidth / width, this.#stage.clientHeight / height, 1)
    const scale = this.#zoom || whole
    const size = { width: `${Math.round(width * scale)}px`, height: `${Math.round(height * scale)}px` }
    for (const picture of this.#stage.children) Object.assign(picture.style, size)
    this.#picture.classList.toggle('pixels', scale >= 3)
    this.#picture.classList.toggle('transparent', this.item.mediaType !== 'image/jpeg')
    setText($('viewer-scale'), `${Math.round(100 * scale)} %`)
  }

  // MARK: Zoom

  /** Enlarges the picture, and keeps the pixel under the pointer where it is. */
  #scale(zoom, at) {
    const before = this.#picture.getBoundingClientRect()
    const stage = this.#stage.getBoundingClientRect()
    const x = at?.clientX ?? stage.left + stage.width / 2
    const y = at?.clientY ?? stage.top + stage.height / 2
    const [shareX, shareY] = [(x - before.left) / before.width, (y - before.top) / before.height]
    this.#zoom = zoom
    this.#fit()
    const after = this.#picture.getBoundingClientRect()
    this.#stage.scrollLeft += after.left + shareX * after.width - x
    this.#stage.scrollTop += after.top + shareY * after.height - y
  }

  #step(factor, at) {
    const now = this.#picture.getBoundingClientRect().width / this.#size.width
    this.#scale(Math.min(largest, Math.max(0.02, now * factor)), at)
  }

  #turn(event) {
    event.preventDefault()
    this.#step(Math.exp(-event.deltaY / 400), event)
  }

  /** A picture that is larger than the window follows the pointer. */
  #grab(event) {
    const isLarger = this.#stage.scrollWidth > this.#stage.clientWidth || this.#stage.scrollHeight > this.#stage.clientHeight
    if (event.button !== 0 || event.pointerType === 'touch' || !isLarger) return
    event.preventDefault()
    this.#stage.setPointerCapture(event.pointerId)
    const follow = moved => this.#stage.scrollBy(-moved.movementX, -moved.movementY)
    this.#stage.addEventListener('pointermove', follow)
    this.#stage.addEventListener('pointerup', () => this.#stage.removeEventListener('pointermove', follow), { once: true })
  }

  // MARK: Keys

  #do(name) {
    const steps = { back: -1, forward: 1 }
    if (steps[name]) return this.#go(this.index + steps[name])
    if (name === 'smaller' || name === 'larger') return this.#step(name === 'larger' ? 1.5 : 1 / 1.5)
    if (name === 'fit') return this.#scale(this.#zoom === 0 ? 1 : 0)
    if (name === 'details') return this.#on.act('i', this.item)
    return this.close()
  }

  #go(index) {
    if (this.index < 0 || index < 0 || index >= this.#catalog.length) return
    const item = this.#catalog.at(index)
    if (item) this.show(item, index)
    else this.#catalog.need(index, index)
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const names = { ArrowLeft: 'back', ArrowRight: 'forward', '+': 'larger', '-': 'smaller', 0: 'fit', ' ': 'close' }
    const button = event.target.closest('button')
    if (event.key === 'b' || (button === $('viewer-before') && [' ', 'Enter'].includes(event.key))) return this.#compare(true)
    if (button && event.key === ' ') return
    if (names[event.key]) this.#do(names[event.key])
    else if (event.key === 'Home') this.#go(0)
    else if (event.key === 'End') this.#go(this.#catalog.length - 1)
    else if (event.key.length === 1 || event.key === 'Delete') this.#on.act(event.key, this.item)
    else return
    event.preventDefault()
  }
}
