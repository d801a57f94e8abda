/**
 * The places of all images: rows that are as wide as the window, in whole pixels, and headings above some of them. The
 * list is cut into blocks, whose heights are estimated until the proportions of their images are known.
 */

/** How many images a block has. */
export const blockLength = 100
/** Wall between two images, in pixels. */
const gap = 4
/** The height of a heading, in pixels. */
export const headingHeight = 30
/** The proportion of an image that is not known yet, and the extremes of a place. */
const typical = 4 / 3
const [narrowest, widest] = [0.45, 3.5]

/** The wall at both sides of a picture that is smaller than its place, in pixels. */
const margin = 24

/** The proportion of the place of an image in rows of a height. A picture is not enlarged, and its place is not much wider. */
export function ratioOf(item, target) {
  if (!item) return typical
  if (!item.width || !item.height) return item.state === 'cached' ? 1 : typical
  return Math.min(widest, Math.max(narrowest, Math.min(item.width / item.height, (item.width + margin) / target)))
}

/**
 * Arranges images in rows of a width.
 *
 * Each row gets about the same share of them and is stretched to the width; the last row is not if it is short.
 */
export function justified(ratios, width, target, isLast = false) {
  const all = ratios.reduce((sum, ratio) => sum + ratio * target + gap, 0)
  const share = isLast ? width + gap : all / Math.max(1, Math.round(all / (width + gap)))
  const rows = []
  let [first, used, edge] = [0, 0, share]
  const close = end => {
    const length = ratios.slice(first, end).reduce((sum, ratio) => sum + ratio, 0)
    const stretched = (width - gap * (end - first - 1)) / length
    const isShort = end === ratios.length && stretched > 1.3 * target
    const height = Math.round(isShort ? target : Math.min(1.6 * target, stretched))
    rows.push(row(ratios, first, end, height, Math.abs(stretched - height) < 1 ? width : Infinity))
    first = end
  }
  ratios.forEach((ratio, index) => {
    const length = ratio * target + gap
    // A row ends before the image whose middle lies beyond its edge.
    if (index > first && used + length / 2 > edge) {
      close(index)
      edge += share
    }
    used += length
  })
  if (first < ratios.length) close(ratios.length)
  let top = 0
  for (const row of rows) {
    row.top = top
    top += row.height + gap
  }
  return { rows, height: top }
}

/** Arranges images under headings, one above each label that differs from the one before, which is `before` at first. */
function headed(ratios, labels, before, width, target, isLast) {
  const rows = []
  let [top, first, heading, label] = [0, 0, undefined, before]
  for (let index = 0; index <= ratios.length; index += 1) {
    const isOther = labels[index] !== undefined && labels[index] !== label
    if (index > first && (isOther || index === ratios.length)) {
      if (heading) top += headingHeight
      const run = justified(ratios.slice(first, index), width, target, isOther || isLast)
      run.rows.forEach((row, place) => rows.push({ ...row, first: first + row.first, top: top + row.top, heading: place ? undefined : heading }))
      top += run.height
    }
    if (isOther) [first, heading, label] = [index, labels[index], labels[index]]
  }
  return { rows, height: top }
}

function row(ratios, first, end, height, width) {
  const tiles = []
  let x = 0
  for (let index = first; index < end; index += 1) {
    const left = Math.round(x)
    x += ratios[index] * height
    const right = Math.round(x)
    tiles.push({ left, width: Math.min(right, width) - left })
    x += gap
  }
  // Rounded heights leave some pixels at the end of a full row.
  const last = tiles.at(-1)
  if (width !== Infinity) last.width = Math.max(8, width - last.left)
  return { first, height, tiles }
}

export class Layout {
  #width = 1
  #target = 180
  #total = 0
  /** The known proportions and labels of each block. */
  #known = new Map()
  #arranged = new Map()
  #tops = null

  /** Changes the width of the rows and the height they aim at. */
  configure(width, target) {
    if (width === this.#width && target === this.#target) return
    this.#width = width
    this.#target = target
    this.#arranged.clear()
    this.#tops = null
  }

  /** The list has this many images. */
  resize(total) {
    if (total === this.#total) return
    for (const block of [this.#total, total].map(count => Math.floor(Math.max(0, count - 1) / blockLength))) this.#arranged.delete(block)
    this.#total = total
    this.#tops = null
  }

  /** The list is another one. */
  forget() {
    this.#known.clear()
    this.#arranged.clear()
    this.#tops = null
  }

  /** Takes the proportions of the images of a block, and the labels that they do not have yet: they keep one. */
  learn(block, ratios, label) {
    const known = this.#known.get(block)
    const labels = ratios.map((_, index) => known?.labels[index] ?? label(index))
    const isSame = ratios.every((ratio, index) => ratio === known?.ratios[index] && labels[index] === known.labels[index])
    if (known?.ratios.length === ratios.length && isSame) return
    this.#known.set(block, { ratios, labels })
    this.#arranged.delete(block)
    // The next one may begin with the same label.
    this.#arranged.delete(block + 1)
    this.#tops = null
  }

  get #blocks() {
    return Math.ceil(this.#total / blockLength)
  }

  #block(block) {
    const isLast = block === this.#blocks - 1
    const known = this.#known.get(block)
    // Most blocks are alike as long as nothing is known about them.
    const name = known || isLast ? block : 'unknown'
    let arranged = this.#arranged.get(name)
    if (!arranged) {
      const length = Math.min(blockLength, this.#total - block * blockLength)
      const ratios = Array.from({ length }, (_, index) => known?.ratios[index] ?? typical)
      const before = this.#known.get(block - 1)?.labels.findLast(Boolean)
      arranged = headed(ratios, known?.labels ?? [], before, this.#width, this.#target, isLast)
      this.#arranged.set(name, arranged)
    }
    return arranged
  }

  /** The top of each block, and the end of the last. */
  #places() {
    if (!this.#tops) {
      this.#tops = [0]
      for (let block = 0; block < this.#blocks; block += 1) this.#tops.push(this.#tops[block] + this.#block(block).height)
    }
    return this.#tops
  }

  get height() {
    return this.#places().at(-1)
  }

  /** The block at a height. */
  #at(y) {
    const tops = this.#places()
    let [low, high] = [0, Math.max(0, this.#blocks - 1)]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (tops[middle] <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The rows between two heights: `first` is the position of the first image of a row in the list. */
  rows(top, bottom) {
    const found = []
    for (let block = this.#at(top); block < this.#blocks && this.#places()[block] < bottom; block += 1) {
      const start = this.#places()[block]
      for (const row of this.#block(block).rows) {
        if (start + row.top + row.height <= top || start + row.top >= bottom) continue
        found.push({ ...row, first: block * blockLength + row.first, top: start + row.top })
      }
    }
    return found
  }

  /** The place of the image at a position in the list. */
  place(index) {
    const block = Math.floor(index / blockLength)
    const row = this.#block(block).rows.findLast(row => row.first <= index % blockLength)
    const tile = row.tiles[(index % blockLength) - row.first]
    return { ...tile, top: this.#places()[block] + row.top, height: row.height, above: row.heading ? headingHeight : 0 }
  }

  /** The position of the image at a place, or the nearest one in the row there, or in the one below or above (-1). */
  index(x, y, direction = 1) {
    const at = Math.max(0, Math.min(y, this.height - gap - 1))
    const reach = headingHeight + gap
    const row = (direction < 0 && this.rows(at - reach, at + 1).at(-1)) || this.rows(at, at + reach + 1)[0]
    if (!row) return 0
    const distances = row.tiles.map(tile => Math.abs(tile.left + tile.width / 2 - x))
    return row.first + distances.indexOf(Math.min(...distances))
  }

  /** The positions of the images that meet a rectangle. */
  within({ left, top, right, bottom }) {
    return this.rows(top, bottom).flatMap(row => row.tiles.flatMap((tile, column) => (
      tile.left < right && tile.left + tile.width > left ? [row.first + column] : [])))
  }
}
