/** The rows of the grid as the document has them, for those who hear it: their cells lie where they are put. */
import { element, setText } from './dom.js'
import { headingHeight } from './layout.js'

export class Rows {
  #place
  /** The rows by the position of their first image. */
  #rows = new Map()

  constructor(place) {
    this.#place = place
  }

  /** Puts rows, headings and cells in the order of the list, in which they are read aloud, moving as few as possible. */
  arrange(rows, cells, offset) {
    const inRow = Map.groupBy(cells, cell => cell.row)
    const kept = new Map()
    for (const { first, heading, top } of rows) {
      const line = this.#rows.get(first) ?? element('div', { className: 'row', role: 'row' })
      const ordered = (inRow.get(first) ?? []).sort((one, other) => one.index - other.index)
      place(line, [...headingOf(line, heading, top - offset), ...ordered.map(cell => cell.element)])
      kept.set(first, line)
    }
    for (const [first, line] of this.#rows) if (!kept.has(first)) line.remove()
    this.#rows = kept
    place(this.#place, [...kept.values()])
  }
}

/** The heading of a row, if it has one. */
function headingOf(line, text, top) {
  const known = line.querySelector('.heading')
  if (!text) known?.remove()
  if (!text) return []
  const heading = known ?? element('div', { className: 'heading', role: 'rowheader' })
  setText(heading, text)
  heading.style.top = `${top - headingHeight}px`
  return [heading]
}

/** Makes these elements the last children of their parent, in this order. */
function place(parent, children) {
  let next = null
  for (const child of children.toReversed()) {
    if (child.nextSibling !== next || child.parentNode !== parent) parent.insertBefore(child, next)
    next = child
  }
}
