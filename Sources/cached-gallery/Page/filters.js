/** The search box and the menus that choose which images are listed, and in what order. */
import { $, element, gathered } from './dom.js'
import { number } from './format.js'
import { get } from './server.js'

/** Calls `onChange` with the filter whenever it changes, and whether that was a choice in a menu; and `onSize` with the height of the rows. */
export function bindFilters(onChange, onSize) {
  const form = $('filters')
  const changed = isStep => {
    const { size, ...filter } = Object.fromEntries(new FormData(form))
    onChange(filter, isStep)
  }
  for (const name of ['pointerenter', 'focusin']) form.addEventListener(name, fillMenus)
  form.elements.size.addEventListener('input', event => onSize(Number(event.target.value)))
  // While one types, the list is not asked for at every letter.
  form.elements.contains.addEventListener('input', gathered(() => changed(false), 200))
  form.addEventListener('change', event => {
    if (event.target !== form.elements.contains && event.target !== form.elements.size) changed(true)
  })
  form.addEventListener('submit', event => event.preventDefault())
}

/** Shows a filter in the form. A host or type that the menus do not have yet is added. */
export function showFilter(filter) {
  for (const [name, value] of Object.entries(filter)) {
    const field = $('filters').elements[name]
    field.value = value
    if (field.value === value || !['host', 'type'].includes(name)) continue
    field.add(element('option', { value, textContent: value }))
    field.value = value
  }
}

/** Lists the images of a host. */
export function chooseHost(host) {
  showFilter({ host })
  $('filters').elements.host.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Fills the menus of hosts and types for somebody who comes near: that costs the daemon much. */
async function fillMenus() {
  // Without them the search box still finds hosts.
  const { hosts = [], types = [] } = await get('hosts').catch(() => ({}))
  fill('host', hosts.map(({ host, entries }) => ({ value: host, entries })))
  fill('type', types.map(({ type, entries }) => ({ value: type, entries })))
}

function fill(name, values) {
  const menu = $('filters').elements[name]
  const chosen = menu.value
  const options = values.map(({ value, entries }) => element('option', { value, textContent: `${value} (${number(entries)})` }))
  menu.replaceChildren(menu.options[0], ...options)
  menu.value = chosen
  if (menu.selectedIndex < 0) showFilter({ [name]: chosen })
}
