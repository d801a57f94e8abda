/** Selects images by a rectangle that is drawn over empty room. */
import { element } from './dom.js'

/** How far the pointer moves at least, and how near an edge it scrolls the list, in pixels. */
const least = 4
const edge = 32

/** Binds the mouse to the selection. Fingers scroll. */
export function bindLasso({ scroll, layout }, selection) {
  const place = scroll.element
  const rectangle = element('div', { className: 'lasso' })
  /** Where in the list the rectangle begins, and what was selected before. */
  let start
  let others
  let pointer
  let isScrolling = false

  const select = isEnd => {
    const end = scroll.pointOf(pointer)
    const [left, right] = [Math.min(start.x, end.x), Math.max(start.x, end.x)]
    const [top, bottom] = [Math.min(start.y, end.y), Math.max(start.y, end.y)]
    Object.assign(rectangle.style, {
      left: `${left}px`, top: `${top - scroll.offset}px`, width: `${right - left}px`, height: `${bottom - top}px`,
    })
    selection.choose(others, layout.within({ left, top, right, bottom }), isEnd)
  }

  const scrollOn = () => {
    const { top, bottom } = place.getBoundingClientRect()
    const beyond = Math.min(0, pointer.clientY - top - edge) + Math.max(0, pointer.clientY - bottom + edge)
    isScrolling = rectangle.isConnected && beyond !== 0
    if (!isScrolling) return
    place.scrollBy(0, beyond / 2)
    select()
    requestAnimationFrame(scrollOn)
  }

  const follow = event => {
    pointer = event
    const at = scroll.pointOf(event)
    if (!rectangle.isConnected && Math.hypot(at.x - start.x, at.y - start.y) < least) return
    if (!rectangle.isConnected) place.firstElementChild.append(rectangle)
    select()
    if (!isScrolling) scrollOn()
  }

  const end = () => {
    place.removeEventListener('pointermove', follow)
    if (rectangle.isConnected) select(true)
    else if (others.length === 0) selection.clear()
    rectangle.remove()
  }

  place.addEventListener('pointerdown', event => {
    if (event.button !== 0 || event.pointerType === 'touch' || event.target.closest('.cell')) return
    start = scroll.pointOf(event)
    others = event.shiftKey || event.ctrlKey || event.metaKey ? selection.items : []
    place.setPointerCapture(event.pointerId)
    place.addEventListener('pointermove', follow)
    place.addEventListener('lostpointercapture', end, { once: true })
  })
}
