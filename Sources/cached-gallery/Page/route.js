/** Keeps the address and the page the same: what is open is in the address, and what the address says is shown. */
import { hasStep, read, write } from './address.js'
import { showFilter } from './filters.js'
import { get } from './server.js'

export class Route {
  #catalog
  #viewer
  #actions
  #activate
  #filter

  /** `activate` moves the keyboard to a place in the list, `filter` shows another list. */
  constructor({ catalog, viewer, actions, activate, filter }) {
    this.#catalog = catalog
    this.#viewer = viewer
    this.#actions = actions
    this.#activate = activate
    this.#filter = filter
    addEventListener('popstate', () => this.#follow())
  }

  /** Shows the image that the address of a new page names. */
  begin() {
    if (read().image) this.#follow()
  }

  /** The viewer has another image, or none. */
  show(item) {
    const { image } = read()
    const { filter } = this.#catalog
    if (item) write({ filter, image: item.key }, image === '')
    else if (image !== '' && hasStep()) history.back()
    else write({ filter })
    const index = item ? this.#catalog.indexOf(item.key) : -1
    if (index >= 0) this.#activate(index)
  }

  async #follow() {
    const { filter, image } = read()
    if (JSON.stringify(filter) !== JSON.stringify(this.#catalog.filter)) {
      showFilter(filter)
      this.#filter(filter)
    }
    if (image === (this.#viewer.item?.key ?? '')) return
    if (image === '') return void this.#viewer.close()
    try {
      const item = this.#catalog.item(image) ?? (await get('info', { key: image })).item
      if (item.state === 'cached') this.#viewer.show(item, this.#catalog.indexOf(image))
      else this.#actions.say('The image is not cached any more.')
    } catch (error) {
      this.#actions.report(error)
    }
  }
}
