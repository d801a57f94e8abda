/** The keyboard: what can be done with the mouse can be done with these keys. */
import { $, element, on } from './dom.js'
import { actionKeys } from './actions.js'
import { fillLegend } from './legend.js'

const help = [
  ['/', 'Search'], ['Arrows', 'Move from image to image'], ['Home, End', 'First and last image'],
  ['Page Up, Down', 'Move by a screen'], ['Enter, Space', 'View the image in the whole window'],
  ['i', 'Show the details'], ['Escape', 'Close, or end the selection'], ['x', 'Select the image, or not'],
  ['Shift + arrows', 'Select all images up to there'], ['Drag', 'Over empty room: select by a rectangle'],
  ['p', 'Pin or unpin'], ['r', 'Fetch, or ask its origin again'],
  ['v', 'Verify'], ['c, f', 'Copy the URL, the path'], ['o', 'Show in the file manager'], ['Delete', 'Remove'],
  ['z', 'Undo the removal'], ['b', 'Viewer, held: the picture before its refresh'], ['a', 'Add URLs'], ['d', 'Show the downloads'], ['s', 'State of the cache'],
  ['[ ]', 'Smaller, larger pictures'], ['u', 'Show the changed list'], ['?', 'These signs and keys'],
]

/** Binds the keys to the parts of the page. */
export function bindKeys({ grid, drawer, viewer, adder, state, shelf, selection, actions, many, showChanges }) {
  $('key-list').append(...help.flatMap(([key, what]) => [
    element('dt', { textContent: key }), element('dd', { textContent: what }),
  ]))
  const showKeys = () => {
    fillLegend()
    $('keys').showModal()
  }
  on('show-keys', showKeys)

  const details = item => {
    if (!item) return
    viewer.close()
    drawer.show(item)
    $('drawer').focus()
  }
  const resize = steps => {
    const slider = $('filters').elements.size
    slider.value = Number(slider.value) + 20 * steps
    slider.dispatchEvent(new Event('input'))
  }
  const moves = {
    ArrowLeft: () => grid.active - 1, ArrowRight: () => grid.active + 1,
    ArrowUp: () => grid.below(-1), ArrowDown: () => grid.below(1),
    Home: () => 0, End: () => Infinity,
    PageUp: () => grid.below(-1, grid.screen), PageDown: () => grid.below(1, grid.screen),
  }
  const inGrid = {
    Enter: () => viewer.show(grid.activeItem, grid.active), ' ': () => viewer.show(grid.activeItem, grid.active),
    x: () => selection.toggle(grid.active), i: () => details(grid.activeItem),
  }
  const anywhere = {
    '/': () => $('filters').elements.contains.select(), a: () => adder.show(), s: () => state.toggle(),
    d: () => shelf.toggle(), u: showChanges, z: () => actions.undo(), '?': showKeys, '[': () => resize(-1), ']': () => resize(1),
    Escape: () => (selection.size > 0 ? selection.clear() : drawer.close()),
  }
  const run = (key, item) => {
    if (selection.size > 0 && many[key]) {
      many[key](selection.items)
      return selection.clear()
    }
    return item && actions.run(actionKeys[key], item)
  }

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    const isInField = event.target.closest('input, textarea, select')
    if (isInField && event.key !== 'Escape') return
    if (isInField) grid.focus()
    const isInGrid = event.target === $('scroller')
    if (isInGrid && moves[event.key]) {
      if (event.shiftKey && selection.size === 0) selection.toggle(grid.active)
      grid.activate(moves[event.key]())
      if (event.shiftKey) selection.extend(grid.active)
    } else if (isInGrid && inGrid[event.key]) inGrid[event.key]()
    else if (anywhere[event.key]) anywhere[event.key]()
    else if (actionKeys[event.key]) run(event.key, drawer.item ?? grid.activeItem)
    else return
    event.preventDefault()
  })
  /** Gets the keys that the viewer has no use for. */
  return (key, item) => (key === 'i' ? details(item) : key === 'z' ? actions.undo() : actionKeys[key] && actions.run(actionKeys[key], item))
}
