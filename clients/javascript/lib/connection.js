/** The connection to the daemon. */
import { connect as open } from 'node:net'

/**
 * Connects to the first socket at which there is a daemon.
 *
 * @returns a connected socket; rejected with an Error whose message names each socket and its problem.
 */
export async function connect(paths) {
  const problems = []
  for (const path of paths) {
    try {
      return await new Promise((resolve, reject) => {
        const socket = open(path)
        socket.once('error', reject)
        socket.once('connect', () => {
          socket.off('error', reject)
          resolve(socket)
        })
      })
    } catch (error) {
      problems.push(`${path}: ${error.code ?? error.message}`)
      // A daemon runs, but too many clients wait for it.
      if (error.code === 'EAGAIN') break
    }
  }
  throw new Error(problems.join('; '))
}
