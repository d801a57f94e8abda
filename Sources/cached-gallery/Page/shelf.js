/** The shelf above the grid: what is under way and what failed, as one line, and with tiles if it is open. */
import { $, gathered, on as listen, setText } from './dom.js'
import { Cell } from './cell.js'
import { drawFailures } from './failures.js'
import { bytes, duration, nameOf, number } from './format.js'
import { justified, ratioOf } from './layout.js'
import { Light } from './light.js'

/** How many tiles there are, and the height of their rows in pixels. */
const limit = 48
const target = 104
/** How long a text stays at least, and how often a screen reader hears about the progress, in milliseconds. */
const paced = 250
const spokenEvery = 5000

export class Shelf {
  isConnected = true

  #transfers
  #thumbnails
  #on
  #cells = new Map()
  #light = new Light($('shelf-tiles'))
  #rate = 0
  #samples = []
  #spokenAt = -Infinity
  /** The text is changed no faster than it can be read, and the last one is seen too. */
  #line = gathered(() => this.#drawLine(), paced)
  #tiles = gathered(() => this.#drawTiles(), 50)

  /** `on.seen` is called when other images are shown here, `on.show` with an image whose details are wanted. */
  constructor(transfers, thumbnails, on) {
    this.#transfers = transfers
    this.#thumbnails = thumbnails
    this.#on = on
    listen('show-shelf', () => this.toggle())
    listen('shelf-tiles', event => this.#open(event))
    listen('shelf-tiles', event => [' ', 'Enter'].includes(event.key) && this.#open(event), 'keydown')
    new ResizeObserver(() => this.#tiles()).observe($('shelf-tiles'))
  }

  get isOpen() {
    return !$('shelf-body').hidden
  }

  toggle(isOpen = !this.isOpen) {
    this.#expand(isOpen)
    this.draw()
  }

  #expand(isOpen) {
    $('shelf-body').hidden = !isOpen
    $('show-shelf').ariaExpanded = isOpen
  }

  #open(event) {
    const item = event.target.closest('.cell')?.cell.item
    if (!item) return
    event.preventDefault()
    this.#on.show(item)
  }

  /** Draws what the transfers are now. */
  draw() {
    const { running, failed, finished } = this.#transfers
    const isEmpty = running.size + failed.size + finished.size === 0
    if (isEmpty) this.#expand(false)
    const isNew = $('shelf').hidden && running.size > 0
    $('shelf').hidden = isEmpty
    if (isNew) this.#drawLine()
    $('shelf').classList.toggle('at-rest', running.size === 0)
    setText($('work-failed'), failed.size > 0 ? `${number(failed.size)} failed` : '')
    this.#line()
    this.#tiles()
    drawFailures(this.isOpen ? this.#transfers.reasons() : [], this.#on)
  }

  /** What is shown here and changes. */
  seenItems() {
    return this.#transfers.shown(limit).filter(item => this.isOpen || item.phase !== 'queued')
  }

  /** Where the picture of an image is in the window, and the picture. */
  origin(key) {
    const cell = this.isOpen ? this.#cells.get(key) : undefined
    const picture = cell?.element.querySelector('img')
    return picture ? { picture, from: cell.element.getBoundingClientRect() } : null
  }

  // MARK: The line

  /** Takes a sample of the bytes that the daemon has received since its start. */
  takeStats({ stats, at }) {
    this.#samples.push({ at, bytes: stats.bytesReceived ?? 0 })
    if (this.#samples.length > 4) this.#samples.shift()
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    this.#rate = last.at > first.at ? Math.max(0, (1000 * (last.bytes - first.bytes)) / (last.at - first.at)) : 0
    if (this.#transfers.running.size > 0) this.#line()
  }

  #drawLine() {
    const { running, ended, percent, secondsLeft, bytesLeft, newest, queued } = this.#transfers
    if (running.size === 0) return this.#end()
    const bar = $('shelf').querySelector('.bar')
    const count = `${number(ended)} of ${number(running.size + ended)}`
    bar.firstElementChild.style.transform = `scaleX(${(percent / 100).toFixed(3)})`
    bar.ariaValueNow = Math.floor(percent)
    bar.ariaValueText = `${Math.floor(percent)} %, ${count} downloads`
    setText($('work-percent'), `${Math.floor(percent)} %`)
    setText($('work-count'), queued > 0 ? `${count}, ${number(queued)} queued` : count)
    const seconds = Math.max(secondsLeft, bytesLeft / this.#rate)
    const left = Number.isFinite(seconds) ? ` · ${duration(seconds)} left` : ''
    setText($('work-rate'), `${bytes(this.#rate)}/s${left}`)
    if (newest) setText($('work-label'), nameOf(newest))
    if (performance.now() - this.#spokenAt < spokenEvery) return
    this.#spokenAt = performance.now()
    setText($('spoken'), `Downloads: ${count}, ${Math.floor(percent)} %`)
  }

  #end() {
    if ($('work-count').textContent === '') return
    for (const part of ['percent', 'count', 'rate', 'label']) setText($(`work-${part}`), '')
    setText($('spoken'), 'Downloads: all have ended')
  }

  // MARK: The tiles

  #drawTiles() {
    const items = this.isOpen ? this.#transfers.shown(limit) : []
    const width = $('shelf-tiles').clientWidth
    const { rows, height } = justified(items.map(item => ratioOf(item, target)), Math.max(1, width), target, true)
    $('shelf-tiles').style.height = `${items.length > 0 ? height : 0}px`
    const wanted = new Set(items.map(item => item.key))
    for (const [key, cell] of this.#cells) {
      if (wanted.has(key)) continue
      cell.element.remove()
      cell.clear()
      this.#cells.delete(key)
    }
    for (const row of rows) {
      row.tiles.forEach((tile, column) => {
        const item = items[row.first + column]
        this.#cell(item.key).configure(item, { ...tile, top: row.top, height: row.height }, !document.hidden)
      })
    }
    const more = this.#transfers.running.size - items.length
    setText($('shelf-more'), this.isOpen && more > 0 ? `and ${number(more)} more` : '')
    this.updateLight()
    this.#on.seen()
  }

  #cell(key) {
    let cell = this.#cells.get(key)
    if (!cell) {
      cell = new Cell(this.#thumbnails, () => this.updateLight())
      Object.assign(cell.element, { role: 'listitem', tabIndex: 0 })
      this.#cells.set(key, cell)
      $('shelf-tiles').append(cell.element)
    }
    return cell
  }

  updateLight() {
    const waiting = this.isConnected ? [...this.#cells.values()].filter(cell => cell.isWaiting) : []
    this.#light.shine(waiting.map(cell => cell.place))
  }
}
