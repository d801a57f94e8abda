/** What images that stand together in a list have in common: the day on which they came, or their host. */
import { bytes, dayOf, hostOf } from './format.js'

/** The heading above an image, in orders that have headings. */
export function headingOf(item, order) {
  if (!item) return undefined
  if (order === 'host') return hostOf(item.url) || 'No URL'
  return order === 'newest' && item.fetchedAt ? dayOf(item.fetchedAt) : undefined
}

/** What is said about a place in the list while one is looking for another. */
export function labelOf(item, order) {
  if (order === 'largest' && item?.size) return bytes(item.size)
  if (order === 'used' && item?.lastUsedAt) return dayOf(item.lastUsedAt)
  return headingOf(item, order)
}
