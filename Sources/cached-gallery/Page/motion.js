/** Tiles that move to another place fly there, so that eyes can follow (FLIP). */
const duration = 200
const isStill = matchMedia('(prefers-reduced-motion: reduce)')

const isMoving = () => !isStill.matches && !document.hidden

/** An element has come to another place: `from` is the one before, as a rectangle in the window. */
export function move(element, from, to = element.getBoundingClientRect()) {
  if (!isMoving() || (from.left === to.left && from.top === to.top && from.width === to.width)) return undefined
  const start = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${from.width / to.width}, ${from.height / to.height})`
  return element.animate(
    [{ transform: start, transformOrigin: '0 0' }, { transform: 'none', transformOrigin: '0 0' }],
    { duration, easing: 'cubic-bezier(.2, .8, .3, 1)' })
}

/** A picture flies over everything, from a place in the window to an element that shows it afterwards. */
export function fly(picture, from, target) {
  if (!isMoving()) return
  const to = target.getBoundingClientRect()
  const copy = picture.cloneNode()
  copy.className = 'flying'
  Object.assign(copy.style, { left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px`, height: `${to.height}px` })
  document.body.append(copy)
  target.style.visibility = 'hidden'
  const flight = move(copy, from, to)
  const land = () => {
    copy.remove()
    target.style.visibility = ''
  }
  if (flight) flight.onfinish = flight.oncancel = land
  else land()
}

/** Where the cells on the screen are in the window, by the keys of their images. */
export function rectangles(cells) {
  const seen = [...cells].filter(([, cell]) => cell.isSeen)
  return new Map(seen.map(([key, cell]) => [key, cell.element.getBoundingClientRect()]))
}

/**
 * Images that a list has in another place than before fly there.
 *
 * `originOf` gives the picture of an image that was elsewhere on the page, and its place there.
 */
export function flyAll(cells, before, originOf) {
  if (!isMoving()) return
  for (const [key, cell] of cells) {
    if (!cell.isSeen) continue
    const from = before.get(key)
    const elsewhere = from ? null : originOf(key)
    if (from) move(cell.element, from)
    else if (elsewhere) fly(elsewhere.picture, elsewhere.from, cell.element)
  }
}
