/** The messages of the daemon: calls to bytes, and bytes to replies. */
import { CacheError } from './item.js'

/** The longest call that the daemon accepts, in bytes. */
export const longestCall = 16 * 2 ** 20
const states = new Set(['missing', 'inFlight', 'cached'])
/** The path of an image. A daemon can name any path, and a program would read that file. */
const pathOfImage = /^\/([^\0]*\/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A call. CacheError `tooMany` if the daemon would refuse its length. */
export function encode(method, parameters, flags = {}) {
  const message = Buffer.from(JSON.stringify({ method: `io.cached.Cache.${method}`, parameters, ...flags }) + '\0')
  if (message.length > longestCall) {
    throw new CacheError('tooMany', `the URLs are longer than ${longestCall} bytes; ask for fewer at once`)
  }
  return message
}

/** Wants of a call, from pairs of a URL and its priority, with what each has beside them. */
export const wants = (pairs, extra) =>
  Array.from(pairs, ([url, priority]) => ({ url, ...(priority !== 'normal' && { priority }), ...extra }))

export function bad(reason) {
  throw new CacheError('badReply', `the answer from the socket is not one of cached: ${reason}; check the socket`)
}

/**
 * A reply with `parameters` and `continues`; undefined if the daemon is stopping.
 * CacheError if it is not a reply, or has an error.
 */
export function decode(bytes) {
  let reply
  try {
    reply = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    bad('it is not JSON')
  }
  if (!isObject(reply)) bad('it is not an object')
  const { error, parameters, continues } = reply
  if (!isAbsent(parameters) && !isObject(parameters)) bad('its parameters are not an object')
  if (!isAbsent(continues) && typeof continues !== 'boolean') bad('its continues is not a boolean')
  if (isAbsent(error)) return { parameters: parameters ?? {}, continues: continues ?? false }
  if (typeof error !== 'string' || error === '') bad('its error is not a name')
  if (error === 'io.cached.Cache.ShuttingDown') return undefined
  const word = error.slice(error.lastIndexOf('.') + 1)
  const detail = typeof reply.reason === 'string' ? reply.reason : JSON.stringify(parameters ?? {})
  throw new CacheError(word.slice(0, 1).toLowerCase() + word.slice(1), `the daemon refused the call: ${word}, ${detail}`)
}

/** The items of a reply. CacheError `badReply` if there are none. */
export function readItems({ items }) {
  return Array.isArray(items) ? items.map(readItem) : bad('it has no items')
}

function readItem(members) {
  if (!isObject(members)) bad('an item is not an object')
  const item = { url: text(members, 'url'), state: text(members, 'state'), sure: true }
  if (item.url === undefined || !states.has(item.state)) bad('an item has no URL, or a state that does not exist')
  for (const key of ['phase', 'path', 'mediaType']) {
    if (!isAbsent(members[key])) item[key] = text(members, key)
  }
  for (const key of ['received', 'total', 'size', 'width', 'height']) {
    if (!isAbsent(members[key])) item[key] = number(members, key)
  }
  if (item.state === 'cached' && !pathOfImage.test(item.path ?? '')) bad('a cached image has no path of an image')
  if (!isAbsent(members.failure)) {
    item.failure = readFailure(members.failure)
    if (item.state === 'missing') item.state = 'failed'
  }
  return item
}

function readFailure(members) {
  if (!isObject(members)) bad('a failure is not an object')
  const kind = text(members, 'kind')
  const message = text(members, 'message')
  if (!kind || message === undefined) bad('a failure has no kind or no message')
  return new CacheError(kind, message, {
    httpStatus: number(members, 'httpStatus'), retryAt: number(members, 'retryAt')
  })
}

const isAbsent = (value) => value === undefined || value === null
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

function text(members, key) {
  const value = members[key] ?? undefined
  return value === undefined || typeof value === 'string' ? value : bad(`${key} is not a text`)
}

function number(members, key) {
  const value = members[key] ?? undefined
  return value === undefined || (Number.isInteger(value) && value >= 0) ? value : bad(`${key} is not a number from 0`)
}
