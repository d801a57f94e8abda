/** What there is to say about an image, as names and texts. */
import { bytes, date, decoded, derivedFrom, fromNow, number, progress } from './format.js'
import { percentOf, reasonOf } from './states.js'

const time = seconds => `${fromNow(seconds)} (${date(seconds)})`

/** Pairs of a name and a text; those with `isBad` are troubles. */
export function fields(item) {
  const list = []
  const add = (name, text, isBad = false) => {
    if (text !== undefined && text !== '') list.push({ name, text: String(text), isBad })
  }
  add('State', state(item))
  if (item.failure) {
    add('Failure', item.failure.message, true)
    add('Kind', item.failure.kind)
    add('HTTP status', item.failure.httpStatus)
    if (item.failure.retryAt) add('Next attempt', nextAttempt(item.failure.retryAt))
  }
  add('URL', item.url)
  if (decoded(item.url) !== item.url) add('Decoded', decoded(item.url))
  add('Derived from', derivedFrom(item.url))
  add('Key', item.key)
  add('Path', item.path)
  if (item.size !== undefined) add('Size', `${bytes(item.size)} (${number(item.size)} bytes)`)
  if (item.width) add('Pixels', `${number(item.width)} × ${number(item.height)}`)
  add('Type', item.mediaType)
  add('SHA-256', item.sha256)
  if (item.fetchedAt) add('Received', time(item.fetchedAt))
  if (item.freshUntil) add('Freshness', freshness(item))
  if (item.lastUsedAt) add('Last used', time(item.lastUsedAt))
  add('ETag', item.etag)
  if (item.modified) add('Last-Modified', date(item.modified))
  if (item.redirect) add('Redirected', `to the URL whose key ends with ${item.redirect}`)
  if (item.state === 'cached') add('Pinned', item.pinned ? 'yes: it is never evicted' : 'no')
  return list
}

function state(item) {
  if (item.state === 'missing') return item.failure ? 'could not be fetched' : reasonOf(item)
  if (!item.phase) return item.state === 'cached' ? 'cached' : item.state
  const percent = percentOf(item)
  const share = percent === undefined ? '' : `${Math.floor(percent)} %, `
  return `${item.state === 'cached' ? 'cached, and being refreshed' : 'in flight'}: ${share}${progress(item)}`
}

function nextAttempt(at) {
  return at > Date.now() / 1000 ? `not before ${date(at)}, ${fromNow(at)}` : 'at the next request'
}

function freshness(item) {
  const isFresh = item.freshUntil > Date.now() / 1000
  const strict = item.strict && !isFresh ? '; it must not be used before its origin has confirmed it' : ''
  return `${isFresh ? 'fresh until' : 'stale since'} ${time(item.freshUntil).replace(/ ago/, ' ago,')}${strict}`
}
