/** The mouse and fingers in the grid. */

/** Binds clicks to the parts of the page. */
export function bindPointer(scroller, { grid, drawer, viewer, selection }) {
  const cellOf = event => event.target.closest('.cell')?.cell
  scroller.addEventListener('click', event => {
    const index = cellOf(event)?.index
    if (index === undefined) return
    grid.activate(index)
    if (event.shiftKey) selection.extend(index)
    else if (event.ctrlKey || event.metaKey || selection.size > 0) selection.toggle(index)
    else drawer.show(grid.activeItem)
  })
  scroller.addEventListener('dblclick', event => {
    if (cellOf(event)) viewer.show(grid.activeItem, grid.active)
  })
  // The original is saved or dragged out, and not the smaller picture.
  scroller.addEventListener('contextmenu', event => cellOf(event)?.useOriginal(), { capture: true })
  scroller.addEventListener('dragstart', event => cellOf(event)?.drag(event.dataTransfer))
  for (const [name, plays] of [['pointerover', true], ['pointerout', false]]) {
    scroller.addEventListener(name, event => cellOf(event)?.play(plays))
  }
}
