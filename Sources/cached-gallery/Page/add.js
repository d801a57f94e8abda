/** Adds URLs: typed into the dialog, or pasted or dropped anywhere, alone or in a text, a list or a page. */
import { $ } from './dom.js'
import { number } from './format.js'

/** How many URLs are taken at once. */
const limit = 10_000

/** The URLs in any text, each once. */
export function urlsIn(text) {
  const found = text.match(/\bhttps?:\/\/[^\s"'<>\\^`{|}]+/gi) ?? []
  const urls = found.map(url => url.replace(/&amp;/g, '&').replace(/[).,;:!?\]]+$/, ''))
  return [...new Set(urls)].slice(0, limit)
}

/** The texts of what was pasted or dropped. A page comes first, because its text alone has no addresses. */
async function texts(data) {
  const kinds = ['text/uri-list', 'text/html', 'text/plain'].map(kind => data.getData(kind))
  const files = [...data.files].filter(file => file.size < 10e6).map(file => file.text())
  return [...kinds, ...(await Promise.all(files))]
}

export class Adder {
  #actions
  #onAdd

  /** `onAdd` is called when downloads were asked for. */
  constructor(actions, onAdd) {
    this.#actions = actions
    this.#onAdd = onAdd
    const dialog = $('add')
    dialog.addEventListener('close', () => {
      const text = dialog.querySelector('textarea')
      if (dialog.returnValue === 'add') this.#add([text.value])
      text.value = ''
    })
    document.addEventListener('paste', event => {
      if (event.target.closest?.('input, textarea')) return
      event.preventDefault()
      this.#take(event.clipboardData)
    })
    document.addEventListener('dragover', event => {
      event.preventDefault()
      document.body.classList.add('dropping')
    })
    document.addEventListener('dragleave', event => {
      if (!event.relatedTarget) document.body.classList.remove('dropping')
    })
    document.addEventListener('drop', event => {
      event.preventDefault()
      document.body.classList.remove('dropping')
      this.#take(event.dataTransfer)
    })
  }

  show() {
    $('add').returnValue = ''
    $('add').showModal()
  }

  async #take(data) {
    this.#add(await texts(data))
  }

  async #add(texts) {
    const urls = urlsIn(texts.join('\n'))
    if (urls.length === 0) return this.#actions.say('There is no http or https URL in that.')
    try {
      await this.#actions.fetch(urls)
      this.#onAdd()
      this.#actions.say(urls.length === 1 ? 'One URL is being fetched.' : `${number(urls.length)} URLs are being fetched.`)
    } catch (error) {
      this.#actions.report(error)
    }
  }
}
