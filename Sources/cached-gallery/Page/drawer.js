/** The details of one image beside the grid, and what can be done with it. */
import { $, button, element } from './dom.js'
import { decoded, nameOf } from './format.js'
import { fields } from './fields.js'
import { get, pictureAddress } from './server.js'

export class Drawer {
  /** The key of the image whose details are shown. */
  key = null

  #actions
  #on
  #item
  #list
  #copies = []
  #countdown = null
  /** Counts what is asked, so that an answer that comes too late is noticed. */
  #asked = 0

  /** `on.close` is called at the end, `on.view` to see an image as a whole. */
  constructor(actions, on) {
    this.#actions = actions
    this.#on = on
  }

  get item() {
    return this.isOpen ? this.#item : undefined
  }

  get isOpen() {
    return !$('drawer').hidden
  }

  /** Shows an item at once, and its details when they have come. */
  async show(item) {
    if (!item) return
    if (item.key !== this.key) this.#copies = []
    this.key = item.key
    this.#item = item
    $('drawer').hidden = false
    this.#draw()
    const asked = (this.#asked += 1)
    try {
      const reply = await get('info', { key: item.key })
      if (asked !== this.#asked || this.key !== item.key) return
      // A failed download is known to this page; the daemon may have forgotten it.
      const failure = reply.item.state === 'missing' ? { failure: item.failure } : {}
      this.#item = { ...failure, ...reply.item, url: reply.item.url || item.url }
      this.#copies = reply.copies ?? []
      this.#draw()
    } catch (error) {
      this.#actions.report(error)
    }
  }

  /** The image has changed. While it is in flight the news says all. */
  refresh(item) {
    if (!item || item.key !== this.key) return
    const facts = item => `${item.state} ${Boolean(item.phase)} ${Boolean(item.pinned)}`
    const isSame = facts(item) === facts(this.#item)
    if (isSame && !item.phase) return
    if (!isSame) return void this.show(item)
    this.#item = { ...this.#item, ...item }
    this.#drawFields()
  }

  close() {
    if (!this.isOpen) return
    $('drawer').hidden = true
    $('drawer').replaceChildren()
    clearTimeout(this.#countdown)
    this.key = null
    this.#on.close()
  }

  // MARK: Drawing

  #draw() {
    const item = this.#item
    const title = element('h2', {}, element('bdi', { textContent: nameOf(item) }))
    const close = button('✕', () => this.close(), { ariaLabel: 'Close the details' })
    this.#list = element('dl')
    this.#drawFields()
    // The buttons are made anew only if others are needed, because one of them may have the focus.
    const focused = document.activeElement?.dataset?.action
    const parts = [element('header', {}, title, close), ...this.#picture(item), this.#buttons(item), this.#list]
    $('drawer').replaceChildren(...parts)
    if (focused) $('drawer').querySelector(`[data-action="${focused}"]`)?.focus()
  }

  #picture(item) {
    if (item.state !== 'cached') return []
    const picture = element('img', { src: pictureAddress(item), alt: '', className: 'transparent' })
    const view = button('', () => this.#on.view(this.#item), { className: 'preview', ariaLabel: `View ${nameOf(item)}` })
    view.append(picture)
    picture.onerror = () => view.replaceWith(element('p', { textContent: 'There is no preview of this image.' }))
    return [view]
  }

  #buttons(item) {
    return element('menu', {}, ...this.#actions.for(item).map(({ name, label, run, isEnabled }) => {
      const made = button(label, run, { disabled: !isEnabled })
      made.dataset.action = name
      return made
    }))
  }

  #drawFields() {
    const rows = fields(this.#item).flatMap(({ name, text, isBad }) => [
      element('dt', { textContent: name }), element('dd', { textContent: text, className: isBad ? 'bad' : '' }),
    ])
    const others = this.#copies.filter(copy => copy.key !== this.key)
    if (others.length > 0) {
      const buttons = others.map(copy => {
        const made = button('', () => this.show(copy))
        made.append(element('bdi', { textContent: decoded(copy.url) || copy.key }))
        return made
      })
      rows.push(element('dt', { textContent: 'Same content' }), element('dd', {}, ...buttons))
    }
    this.#list.replaceChildren(...rows)
    this.#countDown()
  }

  /** Draws the time of the next attempt anew while it has not come. */
  #countDown() {
    clearTimeout(this.#countdown)
    const wait = (this.#item.failure?.retryAt ?? 0) * 1000 - Date.now()
    if (wait > 0) this.#countdown = setTimeout(() => this.#drawFields(), wait > 90_000 ? 30_000 : 1000)
  }
}
