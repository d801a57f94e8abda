/** The grid: a row of cells for each row on the screen and one beyond, used again and again while the list scrolls. */
import { $, element, gathered } from './dom.js'
import { Cell } from './cell.js'
import { Light } from './light.js'
import { ScrollMap } from './scroll.js'
import { Thumbnails } from './thumbnails.js'

/** How many rows beyond the screen are kept ready. */
const rowsAhead = 1

export class Grid {
  columns = 1
  /** The place of the image that the keyboard is at. */
  active = 0
  /** Whether there is a daemon; without one nothing waits. */
  isConnected = true

  #catalog
  #onSeen
  #onActive
  #map = new ScrollMap()
  #scroller = $('scroller')
  #rows = $('rows')
  #floor = $('floor')
  #light = new Light($('gallery'))
  #thumbnails = new Thumbnails()
  /** The rows in use, by number, and those that wait for their next use. */
  #used = new Map()
  #spare = []
  #box
  #rowHeight = 1

  /**
   * `onSeen` is called with the items on the screen when others are, `onActive` when the keyboard is at another one,
   * `onOpen` when the active one shall be opened.
   */
  constructor(catalog, { onSeen, onActive, onOpen }) {
    this.#catalog = catalog
    this.#onSeen = gathered(() => onSeen(this.seenItems()), 60)
    this.#onActive = onActive
    this.#scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.#scroller.addEventListener('scrollend', () => this.layOut())
    this.#scroller.addEventListener('click', event => {
      const index = event.target.closest?.('.cell')?.index
      if (index === undefined || index >= catalog.length) return
      this.activate(index)
      onOpen()
    })
    new ResizeObserver(() => this.#resized()).observe(this.#scroller)
    document.addEventListener('visibilitychange', () => this.layOut())
    this.#resized()
  }

  // MARK: Geometry

  #resized() {
    const style = getComputedStyle($('gallery'))
    const length = name => parseFloat(style.getPropertyValue(name))
    const width = this.#scroller.clientWidth
    const columns = Math.max(1, Math.floor(width / length('--cell-width')))
    const first = Math.round(this.#map.position / this.#rowHeight) * this.columns
    this.#rowHeight = length('--cell-height')
    // A cell has 8 pixels of wall at each side.
    this.#box = { width: Math.floor(width / columns) - 16, height: length('--picture-height') }
    if (columns !== this.columns) {
      this.columns = columns
      this.#scroller.ariaColCount = columns
      for (const [number, row] of this.#used) this.#release(number, row)
      this.#spare = []
      this.#moveTo(Math.floor(first / columns) * this.#rowHeight)
    } else {
      this.layOut()
    }
  }

  #measure() {
    const rows = Math.ceil(this.#catalog.length / this.columns)
    this.#map.resize(rows * this.#rowHeight, this.#scroller.clientHeight)
    this.#rows.style.height = `${this.#map.barHeight}px`
    this.#floor.style.top = `${Math.max(0, this.#map.barHeight)}px`
    this.#scroller.ariaRowCount = rows
  }

  // MARK: Scrolling

  #scrolled() {
    this.#takeBar()
    if (this.#map.isStrained) this.#placeBar()
    this.#drawRows()
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
    this.#drawRows()
  }

  /** The place of the first image that is on the screen. */
  get first() {
    return Math.floor(this.#map.position / this.#rowHeight) * this.columns
  }

  get isAtTop() {
    return this.#map.position < this.#rowHeight / 2
  }

  /** How many rows fit on the screen. */
  get rowsPerScreen() {
    return Math.max(1, Math.floor(this.#map.view / this.#rowHeight))
  }

  scrollToTop() {
    this.#moveTo(0)
  }

  // MARK: The keyboard's place

  /** Moves the keyboard's place, and scrolls as far as needed. */
  activate(index) {
    if (this.#catalog.length === 0) return
    this.active = Math.max(0, Math.min(this.#catalog.length - 1, index))
    const top = Math.floor(this.active / this.columns) * this.#rowHeight
    const { position, view } = this.#map
    if (top < position) this.#moveTo(top)
    else if (top + this.#rowHeight > position + view) this.#moveTo(top + this.#rowHeight - view)
    else this.#drawRows()
    this.#onActive(this.activeItem)
  }

  get activeItem() {
    return this.#catalog.at(this.active)
  }

  focus() {
    this.#scroller.focus()
  }

  // MARK: Rows and cells

  /** Draws what the catalog has now. */
  layOut() {
    this.#takeBar()
    this.#measure()
    this.#placeBar()
    this.#drawRows()
  }

  #drawRows() {
    const { position, view, offset } = this.#map
    const count = Math.ceil(this.#catalog.length / this.columns)
    const top = Math.floor(position / this.#rowHeight)
    const bottom = Math.ceil((position + view) / this.#rowHeight) - 1
    const first = Math.max(0, top - rowsAhead)
    const last = Math.min(count - 1, bottom + rowsAhead)
    for (const [number, row] of this.#used) if (number < first || number > last) this.#release(number, row)
    this.#catalog.need(first * this.columns, (last + 1) * this.columns - 1)
    for (let number = first; number <= last; number += 1) {
      const row = this.#used.get(number) ?? this.#take(number)
      row.element.style.top = `${number * this.#rowHeight - offset}px`
      this.#fill(row, number, number >= top && number <= bottom && !document.hidden)
    }
    this.#sort(first, last)
    this.#scroller.setAttribute('aria-activedescendant', `cell-${this.active}`)
    this.updateLight()
    this.#onSeen()
  }

  #take(number) {
    const row = this.#spare.pop() ?? this.#makeRow()
    row.element.ariaRowIndex = number + 1
    this.#used.set(number, row)
    return row
  }

  #makeRow() {
    const cells = Array.from({ length: this.columns }, () => new Cell(this.#thumbnails, () => this.updateLight()))
    const filler = element('div', { className: 'filler' })
    const row = element('div', { className: 'row', role: 'row' }, ...cells.map(cell => cell.element), filler)
    row.style.gridTemplateColumns = `repeat(${this.columns}, 1fr)`
    return { element: row, cells, filler }
  }

  #release(number, row) {
    row.element.remove()
    for (const cell of row.cells) cell.clear()
    this.#used.delete(number)
    this.#spare.push(row)
  }

  #fill(row, number, isSeen) {
    const start = number * this.columns
    const length = Math.min(this.columns, this.#catalog.length - start)
    row.cells.forEach((cell, column) => {
      const index = start + column
      const isUsed = column < length
      cell.element.hidden = !isUsed
      cell.element.index = index
      cell.element.id = `cell-${index}`
      cell.element.ariaColIndex = column + 1
      cell.element.classList.toggle('active', isUsed && index === this.active)
      if (!isUsed) return cell.clear()
      const item = this.#catalog.at(index)
      if (cell.item === item && item && cell.isSeen === isSeen && cell.box === this.#box) return
      cell.box = this.#box
      cell.configure(item, this.#box, isSeen)
    })
    row.filler.hidden = length === this.columns
    row.filler.style.gridColumn = `${length + 1} / -1`
  }

  /** Puts the rows in the order of the list, in which they are read aloud, moving as few as possible. */
  #sort(first, last) {
    let next = null
    for (let number = last; number >= first; number -= 1) {
      const row = this.#used.get(number).element
      if (row.nextSibling !== next || !row.isConnected) this.#rows.insertBefore(row, next)
      next = row
    }
  }

  /** These images have changed. */
  refresh(keys) {
    const changed = new Set(keys)
    for (const cell of this.#cells()) {
      if (!changed.has(cell.item?.key)) continue
      cell.configure(this.#catalog.item(cell.item.key), this.#box, cell.isSeen)
    }
    this.updateLight()
  }

  *#cells() {
    for (const row of this.#used.values()) for (const cell of row.cells) if (!cell.element.hidden) yield cell
  }

  /** What is on the screen and known. */
  seenItems() {
    return [...this.#cells()].filter(cell => cell.isSeen && cell.item).map(cell => cell.item)
  }

  /** The light is on while something on the screen waits. */
  updateLight() {
    this.#light.isOn = this.isConnected && [...this.#cells()].some(cell => cell.isWaiting)
  }

  get isLit() {
    return this.#light.isOn
  }
}
