/**
 * The part of the address after `#`, which stays in the browser: the filter, the order, and the image that is open. So
 * the page can be found again, and Back leads to what was seen before.
 */
const names = { contains: 'q', state: 'state', host: 'host', type: 'type', order: 'order' }
const plain = { order: 'newest' }

/** What the address says now. */
export function read() {
  const given = new URLSearchParams(location.hash.slice(1))
  const filter = Object.fromEntries(Object.entries(names).map(([name, short]) => [name, given.get(short) ?? plain[name] ?? '']))
  return { filter, image: given.get('image') ?? '' }
}

/** Changes the address. With `isStep`, Back leads to the one before. */
export function write({ filter, image = '' }, isStep) {
  const chosen = Object.entries(names).map(([name, short]) => [short, filter[name] === plain[name] ? '' : filter[name]])
  const text = new URLSearchParams([...chosen, ['image', image]].filter(([, value]) => value)).toString()
  const address = text ? `#${text}` : location.pathname
  if (address === (location.hash || location.pathname)) return
  if (isStep) history.pushState({ isStep: true }, '', address)
  else history.replaceState(history.state, '', address)
}

/** Remembers the place in the list, for this page when it is loaded again. */
export function rememberPlace(place) {
  sessionStorage.setItem('place', JSON.stringify(place))
}

/** The remembered place, if the page was loaded again; else null. */
export function rememberedPlace() {
  const [{ type }] = performance.getEntriesByType('navigation')
  return type === 'navigate' ? null : JSON.parse(sessionStorage.getItem('place'))
}

/** Whether Back leads to another state of this page. */
export const hasStep = () => Boolean(history.state?.isStep)
