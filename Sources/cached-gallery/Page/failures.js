/** Failed downloads, grouped by their reason, with what can be done. */
import { $, button, element } from './dom.js'
import { hostOf, nameOf, number } from './format.js'

/** How many images of a group have a button of their own. */
const most = 6

/** What a person can do about a kind of failure. */
function advice({ kind, httpStatus }) {
  if (kind === 'http' && [401, 403].includes(httpStatus)) {
    return 'The server wants a permission, or refuses programs without a contact: see CACHED_CONTACT, and docs/do/private-images.md.'
  }
  if (kind === 'http' && [404, 410].includes(httpStatus)) return 'The image does not exist there any more. Dismiss it.'
  if (kind === 'http' && (httpStatus === 429 || httpStatus >= 500)) return 'The server is busy or broken. Retry later.'
  return {
    unresolved: 'Check the name of the host, and the network.',
    unreachable: 'Check the network, and whether the server runs.',
    timeout: 'Retry when the server is less busy.',
    truncated: 'The server ended too early. Retry.',
    tls: 'The certificate of the server is not acceptable. Open its page in a browser to see why.',
    addressRefused: 'Addresses of the own network need --allow-network.',
    notAnImage: 'The address leads to something else, such as a page that asks for a login.',
    tooLarge: 'The image is larger than CACHED_MAX_IMAGE_BYTES permits.',
    underivable: 'The original can be shown in its place.',
    noRoom: 'Free space on the disk, or raise CACHED_MAX_BYTES.',
    storage: 'The cache directory cannot be written. Run: cachectl doctor',
    invalidURL: 'Correct the URL.',
  }[kind] ?? 'The details of an image say more.'
}

/**
 * Draws the groups. `on.show` gets an image whose details are wanted, `on.retry` and `on.dismiss` get a list of images.
 */
export function drawFailures(groups, on) {
  const focused = document.activeElement?.dataset?.failure
  $('failures').replaceChildren(...groups.map(items => group(items, on)))
  if (focused) $('failures').querySelector(`[data-failure="${CSS.escape(focused)}"]`)?.focus()
}

function group(items, on) {
  const [{ failure }] = items
  const hosts = new Set(items.map(item => hostOf(item.url)))
  const place = hosts.size === 1 ? [...hosts][0] : `${number(hosts.size)} hosts`
  const count = items.length === 1 ? 'One image' : `${number(items.length)} images`
  const named = (made, name) => {
    made.dataset.failure = name
    return made
  }
  const action = (text, work) => named(button(text, work), `${text} ${failure.kind} ${failure.httpStatus ?? ''}`)
  const names = items.slice(-most).reverse().map(item => {
    const made = button('', () => on.show(item), { className: 'link', title: item.url })
    made.append(element('bdi', { textContent: nameOf(item) }))
    return named(made, item.key)
  })
  if (items.length > most) names.push(element('span', { textContent: `and ${number(items.length - most)} more` }))
  const all = items.length === 1 ? '' : ' all'
  return element('section', {},
    element('h2', { textContent: `${count} of ${place}: ${failure.message}` }),
    element('p', { textContent: advice(failure) }),
    element('p', { className: 'names' }, ...names),
    element('menu', {},
      action(`Retry${all}`, () => on.retry(items)),
      action(`Dismiss${all}`, () => on.dismiss(items))))
}
