/** The grid: justified rows of tiles for the screen and one screen on each side, used again while the list scrolls. */
import { $ } from './dom.js'
import { Cell } from './cell.js'
import { number } from './format.js'
import { headingOf, labelOf } from './groups.js'
import { Layout, blockLength, ratioOf } from './layout.js'
import { Light } from './light.js'
import { flyAll, rectangles } from './motion.js'
import { Rows } from './rows.js'
import { Scroller } from './scroll.js'
import { Scrubber } from './scrubber.js'

export class Grid {
  /** The place in the list of the image that the keyboard is at. */
  active = 0
  /** Whether there is a daemon; without one nothing waits. */
  isConnected = true
  layout = new Layout()
  scroll

  #catalog
  #on
  #thumbnails
  #scrubber
  #light = new Light($('rows'))
  /** The cells in use by the key of their image, or by its place if it is not known; and those that wait for their next use. */
  #used = new Map()
  #spare = []
  #rows = new Rows($('rows'))
  #target = 180
  #list

  /**
   * `on.seen` is called when other images are on the screen, `on.active` when the keyboard is at another one,
   * `on.dress` gets a cell that shows an image; `on.origin` gives the picture of an image that is elsewhere on the page.
   * `place` is where the list is at first.
   */
  constructor(catalog, thumbnails, place, on) {
    this.#catalog = catalog
    this.#thumbnails = thumbnails
    this.#on = on
    this.scroll = new Scroller(this.layout, catalog, place, { onScroll: () => this.#draw(), onRest: () => this.layOut() })
    this.#scrubber = new Scrubber(this.scroll, () => this.#draw(), () => this.#label)
    const { element } = this.scroll
    new ResizeObserver(() => this.#resized()).observe(element)
    document.addEventListener('visibilitychange', () => this.layOut())
    this.#resized()
  }

  // MARK: Geometry

  #resized() {
    this.#keep(() => this.layout.configure(this.scroll.element.clientWidth, this.#target))
  }

  /** Changes the height of the rows, in pixels. */
  set size(target) {
    this.#target = target
    this.#resized()
    this.layOut()
  }

  /** Does something that moves images, and keeps the one that is held where it is. */
  #keep(work) {
    this.scroll.keep(work)
    this.#draw()
  }

  /** Where the list is, for a page that is loaded again; null at its top. */
  get place() { return this.scroll.place }
  /** The place in the list of an image that is on the screen, or will be. */
  get first() { return this.place?.index ?? 0 }
  get isAtTop() { return this.scroll.position < this.#target / 2 }
  get screen() { return this.scroll.view }

  /** The words about the place of the list. */
  get #label() {
    const { first } = this
    return labelOf(this.#catalog.at(first), this.#catalog.order) ?? `${number(first + 1)} of ${number(this.#catalog.length)}`
  }

  /** Shows the beginning of the list. */
  begin() {
    this.active = 0
    this.scroll.moveTo(0)
    this.#draw()
  }

  // MARK: The keyboard's place

  /** Moves the keyboard's place, and scrolls as far as needed. */
  activate(index) {
    if (this.#catalog.length === 0) return
    this.active = Math.max(0, Math.min(this.#catalog.length - 1, index))
    this.scroll.reveal(this.layout.place(this.active))
    this.#draw()
    this.#on.active(this.activeItem)
  }

  /** The image under the active one, or above it (-1): in the next row, or some pixels away. */
  below(direction, distance = 0) {
    if (this.#catalog.length === 0) return 0
    const { top, left, width, height } = this.layout.place(this.active)
    const y = direction > 0 ? top + height + 5 + distance : top - 5 - distance
    if (distance === 0 && (y < 0 || y >= this.layout.height)) return this.active
    return this.layout.index(left + width / 2, y, direction)
  }

  get activeItem() {
    return this.#catalog.at(this.active)
  }

  focus() { this.scroll.element.focus() }

  // MARK: Rows and cells

  /** Draws what the catalog has now. */
  layOut() {
    const isOther = this.#list !== this.#catalog.list
    const before = isOther && rectangles(this.#used)
    this.#list = this.#catalog.list
    this.#keep(() => {
      if (isOther) this.layout.forget()
      for (const [page, items] of this.#catalog.pages()) {
        this.layout.learn(page, items.map(item => ratioOf(item, this.#target)), index => headingOf(items[index], this.#catalog.order))
      }
    })
    if (before) flyAll(this.#used, before, this.#on.origin)
  }

  #draw() {
    const { position, view, offset, direction } = this.scroll
    // While one scrolls, what comes is loaded earlier, and what has gone is not loaded any more.
    const [above, below] = [[2.5, 0.25], [1, 1], [0.25, 2.5]][direction + 1]
    const rows = this.layout.rows(Math.max(0, position - above * view), position + (1 + below) * view)
    // The next parts of the list are known before they are reached.
    const [before, after] = [[2, 1], [0, 1], [0, 3]][direction + 1]
    if (rows.length > 0) this.#catalog.need(rows[0].first - before * blockLength, rows.at(-1).first + after * blockLength)
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
    this.#rows.arrange(rows, this.#used.values(), offset)
    // It can be off the screen.
    const active = [...this.#used.values()].find(cell => cell.index === this.active)
    this.scroll.element.setAttribute('aria-activedescendant', active?.element.id ?? '')
    this.#scrubber.draw()
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

  /** The light is on while something on the screen waits, and stands still. */
  updateLight() {
    const isPassing = this.scroll.direction !== 0
    this.scroll.element.classList.toggle('passing', isPassing)
    const waiting = this.isConnected && !isPassing ? [...this.#used.values()].filter(cell => cell.isWaiting) : []
    this.#light.shine(waiting.map(cell => cell.place))
  }
}
