/** Numbers, times and URLs as a person reads them. */

const units = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytes(count) {
  let value = count ?? 0
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

export const number = value => (value ?? 0).toLocaleString('en')

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const spans = [['year', 31_557_600], ['month', 2_629_800], ['day', 86_400], ['hour', 3600], ['minute', 60]]

/** A time in Unix seconds, as "in 3 days" or "5 minutes ago". */
export function fromNow(time, now = Date.now() / 1000) {
  const distance = time - now
  const [unit, seconds] = spans.find(([, seconds]) => Math.abs(distance) >= seconds) ?? ['second', 1]
  return relative.format(Math.trunc(distance / seconds), unit)
}

export const date = time => new Date(time * 1000).toLocaleString()

/** The last part of a URL that says something. */
export function nameOf(item) {
  const parts = (item.url || item.key).replace(/[?#].*/, '').split('/').filter(Boolean)
  return parts.length > 2 || !item.url ? parts.at(-1) : parts.at(-1) ?? item.url
}

/** What the fragment of a URL says: `256 px`, `for ada`; empty without one. */
export function variantOf(url) {
  const fields = new URLSearchParams(url?.split('#')[1] ?? '')
  const [account, side] = [fields.get('as'), fields.get('side')]
  return [account && `for ${account}`, side && `${side} px`].filter(Boolean).join(', ')
}

/** The URL of the image that a smaller one was made of; undefined for others. */
export function derivedFrom(url) {
  return /[#&]side=\d+$/.test(url ?? '') ? url.replace(/[#&]side=\d+$/, '') : undefined
}

export function hostOf(url) {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

/** The type in one word: `PNG`. */
export function typeOf(item) {
  const subtype = (item.mediaType ?? '').replace(/^image\//, '')
  return subtype.replace(/^(x-|vnd\.microsoft\.)|\+xml$/g, '').toUpperCase()
}

const phases = {
  queued: 'Queued', connecting: 'Connecting', receiving: 'Receiving', retrying: 'Waits for the next attempt',
  deriving: 'Deriving',
  publishing: 'Saving',
}

/** The progress of a download in words. */
export function progress(item) {
  if (item.phase && item.phase !== 'receiving') return phases[item.phase] ?? item.phase
  return item.total ? `${bytes(item.received)} of ${bytes(item.total)}` : `${bytes(item.received)} received`
}

/** The received share in percent; undefined while nobody knows the total. */
export function percentOf(item) {
  if (item.percent !== undefined) return item.percent
  return item.total > 0 ? (100 * (item.received ?? 0)) / item.total : undefined
}
