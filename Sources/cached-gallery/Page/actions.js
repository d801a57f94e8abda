/** What can be done with an image: each action has a name, a label and a key, for buttons and for the keyboard. */
import { $, button, element } from './dom.js'
import { bytes, nameOf, number } from './format.js'
import { pictureAddress, post, view } from './server.js'

const removals = { cached: 'Remove', inFlight: 'Cancel', missing: 'Remove' }

/** How long a notice stays, and how long a removal can be undone, in milliseconds. */
const noticeStays = 6000
const undoable = 10_000

export const actionKeys = {
  p: 'pin', r: 'fetch', v: 'verify', c: 'copy-url', f: 'copy-path', o: 'open', Delete: 'remove',
}

export class Actions {
  #on
  #noticeTimer = null
  /** Images that will be removed, by key. */
  #leaving = new Map()
  #leavingTimer = null

  /**
   * `on.items` receives the new state of images, and whether they were asked for in this order; `on.removed` is called after
   * images were removed, `on.leaving` when other images will be.
   */
  constructor(on) {
    this.#on = on
    addEventListener('pagehide', () => this.#run(() => this.#removeNow(true)))
  }

  /** The actions for an item, in the order of their buttons. */
  for(item) {
    const isCached = item.state === 'cached'
    const hasURL = item.url !== ''
    const action = (name, label, isEnabled, work) => ({ name, label, isEnabled, run: () => this.#run(work) })
    return [
      action('pin', item.pinned ? 'Unpin' : 'Pin', isCached && hasURL, () => this.pinAll([item])),
      action('fetch', isCached ? 'Ask its origin again' : 'Fetch', hasURL && !item.phase,
        () => this.fetch([item.url], isCached)),
      action('verify', 'Verify', isCached, () => this.#verify(item)),
      action('copy-url', 'Copy URL', hasURL, () => this.#copy(item.url, 'The URL')),
      action('copy-path', 'Copy path', Boolean(item.path), () => this.#copy(item.path, 'The path')),
      action('open', 'Show in the file manager', isCached, () => post('open', { key: item.key })),
      action('remove', removals[item.state], item.state !== 'missing', () => this.remove([item])),
    ]
  }

  /** Runs the action of this name if the item has it. */
  run(name, item) {
    const action = this.for(item).find(action => action.name === name)
    if (action?.isEnabled) action.run()
  }

  async #run(work) {
    try {
      await work()
    } catch (error) {
      this.report(error)
    }
  }

  /** Starts downloads. */
  async fetch(urls, refresh = false) {
    for (const part of parts(urls)) {
      const { items } = await post('fetch', { urls: part, refresh })
      this.#on.items(items, true)
    }
  }

  /** Asks for failed images again, also before the daemon would. */
  retry(items) {
    return this.#run(() => this.fetch(items.map(item => item.url), true))
  }

  async #verify(item) {
    const { isDamaged } = await post('verify', { url: item.url, key: item.key })
    const result = isDamaged ? 'is damaged: its bytes are not those that were received.' : 'is intact.'
    this.say(`${nameOf(item)} ${result}`)
  }

  /** Starts to verify every image; the state of things shows the progress. */
  verifyAll() {
    return this.#run(() => post('verify', { view }))
  }

  // MARK: Many at once

  /** Pins these images, or unpins them if all are pinned. */
  pinAll(items) {
    const named = items.filter(item => item.url && item.state === 'cached')
    const pinned = !named.every(item => item.pinned)
    return this.#run(async () => {
      for (const urls of parts(named.map(item => item.url))) {
        const { items: changed } = await post('pin', { urls, pinned })
        this.#on.items(changed.map(item => ({ ...item, pinned: item.pinned ?? pinned })))
      }
      this.say(`${images(named.length)} ${pinned ? 'pinned' : 'unpinned'}.`)
    })
  }

  copyAll(items) {
    return this.#run(() => this.#copy(items.map(item => item.url).filter(Boolean).join('\n'), `${images(items.length)}: the URLs`))
  }

  /** Saves the originals as files, as the browser does with any download. */
  saveAll(items) {
    for (const item of items.filter(item => item.state === 'cached')) {
      const link = element('a', { href: pictureAddress(item), download: nameOf(item) })
      link.click()
    }
  }

  /** Removes images after some seconds in which that can be undone. */
  remove(items) {
    for (const item of items) this.#leaving.set(item.key, item)
    this.#on.leaving()
    clearTimeout(this.#leavingTimer)
    this.#leavingTimer = setTimeout(() => this.#run(() => this.#removeNow()), undoable)
    this.say(`${images(this.#leaving.size)} will be removed.`, 'Undo (z)', () => {
      clearTimeout(this.#leavingTimer)
      this.#leaving.clear()
      this.#on.leaving()
    })
  }

  isLeaving(key) {
    return this.#leaving.has(key)
  }

  async #removeNow(isLast = false) {
    const items = [...this.#leaving.values()]
    this.#leaving.clear()
    clearTimeout(this.#leavingTimer)
    if (items.length === 0) return
    let [entries, freed] = [0, 0]
    for (const urls of parts(items.map(item => item.url).filter(Boolean))) {
      const reply = await post('remove', { urls }, isLast)
      entries += reply.entries
      freed += reply.bytes
    }
    this.say(entries > 0 ? `${images(entries)} removed, ${bytes(freed)} are free.` : 'There was nothing to remove.')
    this.#on.leaving()
    this.#on.removed()
  }

  async #copy(text, what) {
    await navigator.clipboard.writeText(text)
    this.say(`${what} is copied.`)
  }

  // MARK: Words with the user

  /** Shows a sentence for a while, with a button if there is something to do. */
  say(text, label, work) {
    clearTimeout(this.#noticeTimer)
    const notice = $('notice')
    const clear = () => {
      notice.replaceChildren()
      notice.hidePopover()
    }
    notice.replaceChildren(element('span', { textContent: text }), ...(label ? [button(label, () => (clear(), work()))] : []))
    // Shown anew, it is above a viewer that was opened since.
    notice.hidePopover()
    notice.showPopover()
    this.#noticeTimer = setTimeout(clear, label ? undoable : noticeStays)
  }

  /** Does what the button of the notice does, if it has one. */
  undo() {
    $('notice').querySelector('button')?.click()
  }

  report(error) {
    this.say(error.message)
  }
}

const images = count => (count === 1 ? 'One image' : `${number(count)} images`)

/** A call names at most so many URLs, which keeps each below the server's limit. */
function parts(urls) {
  return Array.from({ length: Math.ceil(urls.length / 500) }, (_, part) => urls.slice(part * 500, (part + 1) * 500))
}
