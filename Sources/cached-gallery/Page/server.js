/** The calls to the server of this page. Each gives the reply, or throws an error whose message is for a person. */

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

/** Does something. */
export function post(name, body) {
  const headers = { 'Content-Type': 'application/json' }
  return reply(fetch(name, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** The address of a picture. The version makes that a newer one is asked for. */
export function pictureAddress(item) {
  return `image/${encodeURIComponent(item.key)}?v=${item.fetchedAt ?? item.size ?? 0}`
}
