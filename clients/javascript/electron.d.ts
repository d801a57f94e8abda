import type { Cache, Priority } from './index.js'

/** The address of an image in a page: `cached-image://load/?url=…`. */
export function imageAddress(url: string, scheme?: string): string

/**
 * A handler for `protocol.handle` of Electron. It answers with the bytes of the image when it is cached.
 * A page that no longer needs the image ends the download by the signal of its request. All requests share one
 * connection to the daemon, which closes after a second without requests; an image that is requested again within ten
 * seconds costs no call. A `Range` of one part is answered with that part.
 *
 * The status is that of the origin if the origin refused the image, 504 if no daemon answers, 416 for a
 * range outside the image, 400 for an address without a valid URL, otherwise 502. The body is a sentence for a person.
 *
 * @param options.priority the default is `visible`
 */
export function protocolHandler(
  cache: Cache, options?: { priority?: Priority }
): (request: Request) => Promise<Response>
