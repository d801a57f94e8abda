/** The calls to the server of this page. Each gives the reply, or throws an error whose message is for a person. */
import { nameOf } from './format.js'

/** The server keeps a list and a set of visible images for each page under this name. */
export const view = crypto.randomUUID()

async function reply(request) {
  let response
  try {
    response = await request
  } catch {
    throw new Error('The gallery has ended. Start it again with: cachectl gallery')
  }
  const body = await response.json().catch(() => ({}))
  if (body.message) throw new Error(body.message)
  if (!response.ok) throw new Error(`The gallery refused a request (${response.status}).`)
  return body
}

/** Asks for something. Parameters without a value are left out. */
export function get(name, parameters = {}, signal) {
  const given = Object.entries(parameters).filter(([, value]) => value !== '' && value !== undefined)
  const query = new URLSearchParams(given)
  return reply(fetch(`${name}?${query}`, { signal }))
}

/** Does something. With `keepalive` it is done even if the page is closed now. */
export function post(name, body, keepalive = false) {
  const headers = { 'Content-Type': 'application/json' }
  return reply(fetch(name, { method: 'POST', headers, body: JSON.stringify(body), keepalive }))
}

/** Distinguishes a picture from that of another refresh. */
export const versionOf = item => `${item.fetchedAt ?? 0}.${item.size ?? 0}`

/** The address of a picture, with the name under which it is saved. The version makes that a newer one is asked for. */
export function pictureAddress(item) {
  const name = encodeURIComponent(nameOf(item).slice(0, 80).replace(/^\.+$/, 'image'))
  return `image/${encodeURIComponent(item.key)}/${name}?v=${versionOf(item)}`
}

/** The address of the bytes of a download that are here. */
export function partialAddress(item, received) {
  return `partial/${encodeURIComponent(item.key)}?type=${encodeURIComponent(item.mediaType)}&received=${received}`
}

/** The address of a smaller picture, which the daemon derives if it is not here. */
export function thumbnailAddress(item, side) {
  return `thumbnail?side=${side}&v=${versionOf(item)}&url=${encodeURIComponent(item.url)}`
}
