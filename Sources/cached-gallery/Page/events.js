/** The stream of server-sent events. The browser opens it again by itself after it was cut. */
import { view } from './server.js'

/**
 * Calls `handlers[name]` with the data of each event of this name.
 *
 * `handlers.opened` is called when the stream has been opened, the first time and later ones; `handlers.cut`
 * when it has broken.
 */
export function listen(handlers) {
  const source = new EventSource(`events?view=${view}`)
  source.addEventListener('open', () => handlers.opened())
  source.addEventListener('error', () => handlers.cut())
  for (const name of ['state', 'items', 'downloads', 'stats', 'list', 'stale', 'failures', 'history', 'verify']) {
    source.addEventListener(name, event => handlers[name]?.(JSON.parse(event.data)))
  }
}
