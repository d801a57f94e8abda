/**
 * The reason of a failure: `kind` for programs, and `message` for people. index.d.ts lists the kinds.
 */
export class CacheError extends Error {
  name = 'CacheError'

  constructor(kind, message, { httpStatus, retryAt } = {}) {
    super(message)
    this.kind = kind
    if (httpStatus !== undefined) this.httpStatus = httpStatus
    if (retryAt !== undefined) this.retryAt = retryAt
  }
}

const members = ['state', 'phase', 'received', 'total', 'path', 'size', 'mediaType', 'width', 'height', 'sure']

/** Whether two items say the same about an image. */
export function areEqual(one, other) {
  return members.every((member) => one[member] === other[member]) &&
    one.failure?.kind === other.failure?.kind && one.failure?.message === other.failure?.message &&
    one.failure?.retryAt === other.failure?.retryAt
}
