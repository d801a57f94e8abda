/** The stream of server-sent events. The browser opens it again by itself after it was cut. */
import { view } from './server.js'

/** Calls `handlers[name]` with the data of each event of this name; those of `open` and `error` have none. */
export function listen(handlers) {
  const source = new EventSource(`events?view=${view}`)
  for (const [name, work] of Object.entries(handlers)) source.addEventListener(name, ({ data }) => work(data && JSON.parse(data)))
}
