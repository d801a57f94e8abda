/** Asks for the first list while the other files of the page are still on their way. */
import { get, view } from './server.js'

/** How the list begins: before anything is chosen. */
export const firstFilter = { order: 'newest', contains: '', host: '', type: '', state: '' }
/** How many items are asked for at once. */
export const pageLength = 100

export const firstList = get('list', { view, ...firstFilter, limit: pageLength })
// It is awaited later, also if it fails.
firstList.catch(() => {})
