/** Asks for the first list while the other files of the page are still on their way. */
import { read } from './address.js'
import { get, view } from './server.js'

/** How the list begins: as the address says. */
export const firstFilter = read().filter
/** How many items are asked for at once. */
export const pageLength = 100

export const firstList = get('list', { view, ...firstFilter, limit: pageLength })
// It is awaited later, also if it fails.
firstList.catch(() => {})
