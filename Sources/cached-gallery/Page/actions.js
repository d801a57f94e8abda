/** What can be done with an image: each action has a name, a label and a key, for buttons and for the keyboard. */
import { $, setText } from './dom.js'
import { bytes, nameOf } from './format.js'
import { post, view } from './server.js'

const removals = { cached: 'Remove …', inFlight: 'Cancel …', missing: 'Dismiss' }

/** How long a notice stays, in milliseconds. */
const noticeStays = 6000

export const actionKeys = {
  p: 'pin', r: 'fetch', v: 'verify', c: 'copy-url', f: 'copy-path', o: 'open', Delete: 'remove',
}

export class Actions {
  #onItems
  #onListChange
  #noticeTimer = null

  /** `onItems` receives the new state of images, `onListChange` is called after images were removed. */
  constructor({ onItems, onListChange }) {
    this.#onItems = onItems
    this.#onListChange = onListChange
  }

  /** The actions for an item, in the order of their buttons. */
  for(item) {
    const isCached = item.state === 'cached'
    const hasURL = item.url !== ''
    const action = (name, label, isEnabled, work) => ({ name, label, isEnabled, run: () => this.#run(work) })
    return [
      action('pin', item.pinned ? 'Unpin' : 'Pin', isCached && hasURL, () => this.#pin(item)),
      action('fetch', isCached ? 'Ask its origin again' : 'Fetch', hasURL && !item.phase,
        () => this.fetch([item.url], isCached)),
      action('verify', 'Verify', isCached, () => this.#verify(item)),
      action('copy-url', 'Copy URL', hasURL, () => this.#copy(item.url, 'The URL')),
      action('copy-path', 'Copy path', Boolean(item.path), () => this.#copy(item.path, 'The path')),
      action('open', 'Show in the file manager', isCached, () => post('open', { key: item.key })),
      action('remove', removals[item.state], true, () => this.#remove(item)),
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
    // A call names at most so many, which keeps each below the server's limit.
    for (let start = 0; start < urls.length; start += 500) {
      const { items } = await post('fetch', { urls: urls.slice(start, start + 500), refresh })
      this.#onItems(items)
    }
  }

  async #pin(item) {
    const { items } = await post('pin', { urls: [item.url], pinned: !item.pinned })
    this.#onItems(items.map(changed => ({ ...item, ...changed, pinned: changed.pinned ?? !item.pinned })))
    this.say(item.pinned ? 'It can be evicted again.' : 'It is pinned: it is never evicted.')
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

  async #remove(item) {
    if (item.state === 'missing') return this.#onListChange(item.key)
    const consequence = item.state === 'cached'
      ? `${item.url} is removed from the cache. Programs can fetch it again.`
      : `The download of ${item.url} ends, also for programs that wait for it.`
    if (!(await this.ask(`Remove ${nameOf(item)}?`, consequence, 'Remove'))) return
    const { entries, bytes: freed } = await post('remove', { urls: [item.url], keys: [item.key] })
    this.say(entries > 0 ? `Removed, ${bytes(freed)} are free.` : 'There was nothing to remove.')
    this.#onListChange()
  }

  async #copy(text, what) {
    await navigator.clipboard.writeText(text)
    this.say(`${what} is copied.`)
  }

  // MARK: Words with the user

  /** Shows a sentence for a while. */
  say(text) {
    setText($('notice'), text)
    clearTimeout(this.#noticeTimer)
    this.#noticeTimer = setTimeout(() => setText($('notice'), ''), noticeStays)
  }

  report(error) {
    this.say(error.message)
  }

  /** Asks before something that cannot be undone. */
  ask(title, text, yes) {
    const dialog = $('ask')
    setText($('ask-title'), title)
    setText(dialog.querySelector('p'), text)
    setText(dialog.querySelector('button.main'), yes)
    dialog.returnValue = ''
    dialog.showModal()
    return new Promise(resolve => {
      dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true })
    })
  }
}
