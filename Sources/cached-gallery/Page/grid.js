/** The grid: justified rows of tiles for the screen and one screen on each side, used again while the list scrolls. */
import { $ } from './dom.js'
import { Cell } from './cell.js'
import { Layout, blockLength, ratioOf } from './layout.js'
import { Light } from './light.js'
import { flyAll, rectangles } from './motion.js'
import { Rows } from './rows.js'
import { ScrollMap } from './scroll.js'

export class Grid {
  /** The place in the list of the image that the keyboard is at. */
  active = 0
  /** Whether there is a daemon; without one nothing waits. */
  isConnected = true
  layout = new Layout()

  #catalog
  #on
  #thumbnails
  #map = new ScrollMap()
  #scroller = $('scroller')
  #floor = $('rows')
  #light = new Light($('rows'))
  /** The cells in use by the key of their image, or by its place if it is not known; and those that wait for their next use. */
  #used = new Map()
  #spare = []
  #rows = new Rows($('rows'))
  #target = 180
  #list
  #held = { index: 0, position: 0 }

  /**
   * `on.seen` is called when other images are on the screen, `on.active` when the keyboard is at another one,
   * `on.dress` gets a cell that shows an image; `on.origin` gives the picture of an image that is elsewhere on the page.
   */
  constructor(catalog, thumbnails, on) {
    this.#catalog = catalog
    this.#thumbnails = thumbnails
    this.#on = on
    this.#scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.#scroller.addEventListener('scrollend', () => this.layOut())
    new ResizeObserver(() => this.#resized()).observe(this.#scroller)
    document.addEventListener('visibilitychange', () => this.layOut())
    this.#resized()
  }

  // MARK: Geometry

  #resized() {
    this.keepPlace(() => this.layout.configure(this.#scroller.clientWidth, this.#target))
  }

  /** Changes the height of the rows, in pixels. */
  set size(target) {
    this.#target = target
    this.#resized()
    this.layOut()
  }

  /** Does something that moves images, and keeps the first one on the screen where it is. */
  keepPlace(work) {
    const { position } = this.#map
    // Several steps keep the same image, which need not be the first of its row after each of them.
    const first = position === this.#held.position ? this.#held.index : this.first
    const before = position > 0 && first < this.#catalog.length ? this.layout.place(first).top : undefined
    work()
    this.layout.resize(this.#catalog.length)
    this.#moveTo(before === undefined ? position : position + this.layout.place(first).top - before)
    this.#held = { index: first, position: this.#map.position }
  }

  #measure() {
    this.#map.resize(this.layout.height, this.#scroller.clientHeight)
    this.#floor.style.height = `${this.#map.barHeight}px`
  }

  // MARK: Scrolling

  #scrolled() {
    this.#takeBar()
    if (this.#map.isStrained) this.#placeBar()
    this.#draw()
  }

  /** Follows the scroll bar if it was not moved from here. */
  #takeBar() {
    const bar = this.#scroller.scrollTop
    if (Math.abs(bar - this.#map.bar) >= 1) this.#map.moved(bar)
  }

  /** Moves the scroll bar to where it belongs. */
  #placeBar() {
    const bar = Math.round(this.#map.settle())
    this.#map.bar = bar
    if (Math.abs(this.#scroller.scrollTop - bar) >= 1) this.#scroller.scrollTop = bar
  }

  #moveTo(position) {
    this.#measure()
    this.#map.moveTo(position)
    this.#placeBar()
    this.#draw()
  }

  /** The place in the list of the first image that is on the screen. */
  get first() {
    const [row] = this.layout.rows(this.#map.position, this.#map.position + this.#map.view)
    return row?.first ?? 0
  }

  get isAtTop() { return this.#map.position < this.#target / 2 }
  get screen() { return this.#map.view }

  /** Where the list is: its first image on the screen, and how many pixels of it are above the screen. */
  get place() {
    this.#takeBar()
    const index = this.first
    return { index, hidden: index < this.#catalog.length ? this.#map.position - this.layout.place(index).top : 0 }
  }

  /** Shows an image first. It stays there while the proportions of others become known. */
  scrollTo(index, hidden = 0) {
    this.layout.resize(this.#catalog.length)
    this.#moveTo(index < this.#catalog.length ? this.layout.place(index).top + hidden : 0)
    this.#held = { index, position: this.#map.position }
  }

  // MARK: The keyboard's place

  /** Moves the keyboard's place, and scrolls as far as needed. */
  activate(index) {
    if (this.#catalog.length === 0) return
    this.active = Math.max(0, Math.min(this.#catalog.length - 1, index))
    const { top, height } = this.layout.place(this.active)
    const { position, view } = this.#map
    if (top < position) this.#moveTo(top)
    else if (top + height > position + view) this.#moveTo(top + height - view)
    else this.#draw()
    this.#on.active(this.activeItem)
  }

  /** The image under the active one, or above it (-1): in the next row, or some pixels away. */
  below(direction, distance = 0) {
    if (this.#catalog.length === 0) return 0
    const { top, left, width, height } = this.layout.place(this.active)
    const y = direction > 0 ? top + height + 5 + distance : top - 5 - distance
    if (y < 0) return distance > 0 ? this.layout.index(left + width / 2, 0) : this.active
    return y >= this.layout.height && distance === 0 ? this.active : this.layout.index(left + width / 2, y)
  }

  get activeItem() {
    return this.#catalog.at(this.active)
  }

  focus() { this.#scroller.focus() }

  // MARK: Rows and cells

  /** Draws what the catalog has now. */
  layOut() {
    this.#takeBar()
    const isOther = this.#list !== this.#catalog.list
    const before = isOther && rectangles(this.#used)
    this.#list = this.#catalog.list
    this.keepPlace(() => {
      if (isOther) this.layout.forget()
      this.layout.resize(this.#catalog.length)
      for (const [page, items] of this.#catalog.pages()) this.layout.learn(page, items.map(item => ratioOf(item, this.#target)))
    })
    if (before) flyAll(this.#used, before, this.#on.origin)
  }

  #draw() {
    const { position, view, offset } = this.#map
    const rows = this.layout.rows(Math.max(0, position - view), position + 2 * view)
    // The next part of the list is known before it is reached.
    if (rows.length > 0) this.#catalog.need(rows[0].first, rows.at(-1).first + blockLength)
    const wanted = new Map()
    for (const row of rows) {
      const isSeen = row.top < position + view && row.top + row.height > position && !document.hidden
      row.tiles.forEach((tile, column) => {
        const index = row.first + column
        const item = this.#catalog.at(index)
        // A list that changes while it is read can have an image twice.
        const name = item && !wanted.has(item.key) ? item.key : `#${index}`
        wanted.set(name, { index, item, row, isSeen, place: { ...tile, top: row.top - offset, height: row.height } })
      })
    }
    for (const [name, cell] of this.#used) if (!wanted.has(name)) this.#release(name, cell)
    for (const [name, tile] of wanted) this.#show(this.#used.get(name) ?? this.#take(name), tile)
    this.#rows.arrange(rows, this.#used.values())
    this.#scroller.setAttribute('aria-activedescendant', `cell-${this.active}`)
    this.updateLight()
    this.#on.seen()
  }

  #take(name) {
    const cell = this.#spare.pop() ?? new Cell(this.#thumbnails, () => this.updateLight())
    this.#used.set(name, cell)
    return cell
  }

  #release(name, cell) {
    cell.element.remove()
    cell.clear()
    this.#used.delete(name)
    this.#spare.push(cell)
  }

  #show(cell, { index, item, row, isSeen, place }) {
    Object.assign(cell, { index, row: row.first })
    cell.element.id = `cell-${index}`
    cell.element.classList.toggle('active', index === this.active)
    const was = cell.place
    const isSame = was.left === place.left && was.top === place.top && was.width === place.width && was.height === place.height
    if (!isSame || cell.item !== item || !item || cell.isSeen !== isSeen) cell.configure(item, place, isSeen)
    this.#on.dress(cell)
  }

  // MARK: Changes

  /** These images have changed. */
  refresh(keys) {
    for (const key of keys) {
      const cell = this.#used.get(key)
      if (cell) cell.configure(this.#catalog.item(key), cell.place, cell.isSeen)
    }
    this.updateLight()
  }

  /** Gives the cells on the screen their looks again, such as the selection. */
  dress() {
    for (const cell of this.#used.values()) this.#on.dress(cell)
  }

  cell(key) {
    return this.#used.get(key)
  }

  /** What is on the screen and known. */
  seenItems() {
    return [...this.#used.values()].filter(cell => cell.isSeen && cell.item).map(cell => cell.item)
  }

  /** The light is on while something on the screen waits. */
  updateLight() {
    const waiting = this.isConnected ? [...this.#used.values()].filter(cell => cell.isWaiting) : []
    this.#light.shine(waiting.map(cell => cell.place))
  }
}
