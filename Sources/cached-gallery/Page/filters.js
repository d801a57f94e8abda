/** The search box and the menus that choose which images are listed, and in what order. */
import { $, element, gathered } from './dom.js'
import { number } from './format.js'
import { get } from './server.js'

/** Calls `onChange` with the filter whenever it changes. */
export function bindFilters(onChange) {
  const form = $('filters')
  const changed = () => onChange(Object.fromEntries(new FormData(form)))
  // While one types, the list is not asked for at every letter.
  form.elements.contains.addEventListener('input', gathered(changed, 200))
  form.addEventListener('change', event => {
    if (event.target !== form.elements.contains) changed()
  })
  form.addEventListener('submit', event => event.preventDefault())
}

/** Fills the menus of hosts and types. */
export async function fillMenus() {
  try {
    const { hosts = [], types = [] } = await get('hosts')
    fill('host', hosts.map(({ host, entries }) => ({ value: host, entries })))
    fill('type', types.map(({ type, entries }) => ({ value: type, entries })))
  } catch {
    // Without them the search box still finds hosts.
  }
}

function fill(name, values) {
  const menu = $('filters').elements[name]
  const chosen = menu.value
  const options = values.map(({ value, entries }) => element('option', { value, textContent: `${value} (${number(entries)})` }))
  menu.replaceChildren(menu.options[0], ...options)
  menu.value = chosen
  if (menu.selectedIndex < 0) menu.selectedIndex = 0
}
