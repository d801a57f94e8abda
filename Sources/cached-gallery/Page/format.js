/** Numbers, times and URLs as a person reads them. */
import { stateOf, states } from './states.js'

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

const numbers = new Intl.NumberFormat('en')
export const number = value => numbers.format(value ?? 0)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const spans = [['year', 31_557_600], ['month', 2_629_800], ['day', 86_400], ['hour', 3600], ['minute', 60]]

/** A time in Unix seconds, as "in 3 days" or "5 minutes ago". */
export function fromNow(time, now = Date.now() / 1000) {
  const distance = time - now
  const [unit, seconds] = spans.find(([, seconds]) => Math.abs(distance) >= seconds) ?? ['second', 1]
  return relative.format(Math.trunc(distance / seconds), unit)
}

/** A number of seconds in one unit: `8 s`, `3 min`. */
export function duration(seconds) {
  const [size, unit] = [[3600, 'h'], [60, 'min']].find(([size]) => seconds >= 1.5 * size) ?? [1, 's']
  return `${Math.max(1, Math.round(seconds / size))} ${unit}`
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

export const dayOf = time => day.format(time * 1000)
export const date = time => new Date(time * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/**
 * Percent escapes as the characters that they mean, as browsers show them. Characters that cannot be seen, or change the
 * direction of others, stay escaped.
 */
export function decoded(text) {
  return text.replace(/(%[0-9a-f]{2})+/gi, escapes => {
    try {
      return decodeURIComponent(escapes).replace(/[\p{C}\p{Z}\u034f\u115f\u3164]/gu, hidden)
    } catch {
      return escapes
    }
  }).replace(/[\p{Cc}\p{Cf}]/gu, hidden)
}

/** A space is one, and the joiner of emoji is harmless. */
const hidden = character => (character === ' ' || character === '\u200d' ? character : encodeURIComponent(character))

/** The last part of a URL that says something. */
export function nameOf(item) {
  const parts = (item.url || item.key).replace(/[?#].*/, '').split('/').filter(Boolean)
  return decoded(parts.at(-1) ?? item.url)
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

/** The progress of a download in words. */
export function progress(item) {
  const state = stateOf(item)
  if (!states[state].ring) return ''
  if (state === 'retrying' && item.failure?.retryAt) return `${states[state].word}: ${item.failure.message}`
  if (state !== 'receiving' && state !== 'unmeasured') return states[state].word
  return item.total ? `${bytes(item.received)} of ${bytes(item.total)}` : `${bytes(item.received)} received`
}
