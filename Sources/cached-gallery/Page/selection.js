/** The images that are selected, and the bar with what can be done with all of them. */
import { $, button, setText } from './dom.js'
import { bytes, number } from './format.js'

/** How many images can be selected with one step. */
const limit = 5000

export class Selection {
  /** The items by key. */
  #items = new Map()
  #catalog
  #onChange
  /** The place from which Shift extends. */
  #start = 0

  /** `actions` are the names of buttons with what they do with a list of items; `onChange` is called after changes. */
  constructor(catalog, actions, onChange) {
    this.#catalog = catalog
    this.#onChange = onChange
    const buttons = Object.entries({ ...actions, Clear() {} }).map(([text, work]) => button(text, () => {
      work(this.items)
      this.clear()
    }))
    $('selected-actions').append(...buttons)
  }

  get size() {
    return this.#items.size
  }

  get items() {
    return [...this.#items.values()]
  }

  has(key) {
    return this.#items.has(key)
  }

  /** Selects an image, or does not any more. */
  toggle(index) {
    const item = this.#catalog.at(index)
    if (!item) return
    this.#start = index
    if (!this.#items.delete(item.key)) this.#items.set(item.key, item)
    this.#changed()
  }

  /** Selects all images from the last one that was selected. */
  async extend(index) {
    const [first, last] = [Math.min(this.#start, index), Math.max(this.#start, index)]
    for (const item of await this.#catalog.range(first, Math.min(last, first + limit - 1))) this.#items.set(item.key, item)
    this.#changed()
  }

  /** Selects the images at these places beside others. Those that are not known are asked for if `isAll`. */
  async choose(others, places, isAll) {
    const wanted = places.slice(0, limit)
    let items = wanted.map(place => this.#catalog.at(place))
    if (isAll && items.includes(undefined)) {
      const range = await this.#catalog.range(wanted[0], wanted.at(-1))
      items = wanted.map(place => range[place - wanted[0]])
    }
    this.#items = new Map([...others, ...items.filter(Boolean)].map(item => [item.key, item]))
    this.#changed()
  }

  clear() {
    this.#items.clear()
    this.#changed()
  }

  #changed() {
    const size = this.items.reduce((sum, item) => sum + (item.size ?? 0), 0)
    $('selection').hidden = this.size === 0
    setText($('selected'), this.size > 0 ? `${number(this.size)} selected, ${bytes(size)}` : '')
    this.#onChange()
  }
}
