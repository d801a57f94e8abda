/** The keyboard: what can be done with the mouse can be done with these keys. */
import { $, element } from './dom.js'
import { actionKeys } from './actions.js'

const help = [
  ['/', 'Search'], ['Arrows', 'Move from image to image'], ['Home, End', 'First and last image'],
  ['Page Up, Down', 'Move by a screen'], ['Enter', 'Show the details'], ['Escape', 'Close the details'],
  ['p', 'Pin or unpin'], ['r', 'Fetch, or ask its origin again'], ['v', 'Verify'], ['c, f', 'Copy the URL, the path'],
  ['o', 'Show in the file manager'], ['Delete', 'Remove'], ['a', 'Add URLs'], ['s', 'State of the cache'],
  ['u', 'Show the changed list'], ['?', 'These keys'],
]

/** Binds the keys to the parts of the page. */
export function bindKeys({ grid, drawer, adder, state, actions, showChanges }) {
  $('keys').querySelector('dl').append(...help.flatMap(([key, what]) => [
    element('dt', { textContent: key }), element('dd', { textContent: what }),
  ]))
  const showKeys = () => $('keys').showModal()
  $('show-keys').addEventListener('click', showKeys)

  const open = () => {
    if (!grid.activeItem) return
    drawer.show(grid.activeItem)
    $('drawer').focus()
  }
  const moves = {
    ArrowLeft: () => grid.active - 1, ArrowRight: () => grid.active + 1,
    ArrowUp: () => (grid.active >= grid.columns ? grid.active - grid.columns : grid.active),
    ArrowDown: () => grid.active + grid.columns,
    Home: () => 0, End: () => Infinity,
    PageUp: () => Math.max(grid.active % grid.columns, grid.active - grid.rowsPerScreen * grid.columns),
    PageDown: () => grid.active + grid.rowsPerScreen * grid.columns,
  }
  const anywhere = {
    '/': () => $('filters').elements.contains.select(), a: () => adder.show(), s: () => state.toggle(),
    u: showChanges, '?': showKeys, Escape: () => drawer.close(),
  }

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    const isInField = event.target.closest('input, textarea, select')
    if (isInField && event.key !== 'Escape') return
    if (isInField) grid.focus()
    const isInGrid = event.target === $('scroller')
    if (anywhere[event.key]) anywhere[event.key]()
    else if (isInGrid && moves[event.key]) grid.activate(moves[event.key]())
    else if (isInGrid && (event.key === 'Enter' || event.key === ' ')) open()
    else if (actionKeys[event.key] && grid.activeItem) actions.run(actionKeys[event.key], drawer.item ?? grid.activeItem)
    else return
    event.preventDefault()
  })
}
