/** The bytes of each host as areas. A click lists the images of the host. */
import { $, button, element } from './dom.js'
import { chooseHost } from './filters.js'
import { bytes } from './format.js'
import { get } from './server.js'

const most = 20
const every = 20_000
let askedAt = -Infinity

export async function drawHosts() {
  if (performance.now() - askedAt < every) return
  askedAt = performance.now()
  try {
    const { hosts = [] } = await get('hosts')
    const largest = hosts.filter(host => host.bytes > 0).sort((one, other) => other.bytes - one.bytes).slice(0, most)
    const areas = []
    divide(largest, 0, 0, 100, 100, areas)
    $('hosts').replaceChildren(...areas)
  } catch {
    // The next opening asks again.
    askedAt = -Infinity
  }
}

/** Divides a place, in percent, in two of about the same bytes, and so on. The map is twice as wide as high. */
function divide(hosts, x, y, width, height, areas) {
  if (hosts.length <= 1) return hosts.forEach(host => areas.push(area(host, x, y, width, height)))
  const sum = list => list.reduce((total, host) => total + host.bytes, 0)
  const all = sum(hosts)
  let count = 1
  while (count < hosts.length - 1 && sum(hosts.slice(0, count)) < all / 2) count += 1
  const share = sum(hosts.slice(0, count)) / all
  const [first, rest] = [hosts.slice(0, count), hosts.slice(count)]
  if (2 * width > height) {
    divide(first, x, y, width * share, height, areas)
    divide(rest, x + width * share, y, width * (1 - share), height, areas)
  } else {
    divide(first, x, y, width, height * share, areas)
    divide(rest, x, y + height * share, width, height * (1 - share), areas)
  }
}

function area({ host, bytes: size, entries }, x, y, width, height) {
  const text = `${host}: ${bytes(size)}, ${entries} ${entries === 1 ? 'image' : 'images'}`
  const made = button('', () => chooseHost(host), { title: text, ariaLabel: text })
  made.append(element('bdi', { textContent: host }))
  Object.assign(made.style, { left: `${x}%`, top: `${y}%`, width: `${width}%`, height: `${height}%` })
  return made
}
