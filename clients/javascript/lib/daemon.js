/** The way to the daemon: its socket, and a start if there is none. */
import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { connect as open } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CacheError } from './item.js'
import * as places from './places.js'

/** Milliseconds between two attempts to connect, at first and at last. */
const [firstPause, longestPause] = [20, 1000]
/** Milliseconds in which a daemon that was there can come back by itself, before another one is started. */
const grace = 1000
/** Milliseconds to wait for the daemon of another program that started at the same moment. */
const race = 5000
/** What a socket says at which nobody listens, and what it says for a moment only. */
const silent = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED'])
const passing = new Set(['ECONNREFUSED', 'EAGAIN', 'EMFILE', 'ENFILE'])
/** The status of a daemon if another one holds its directory or its socket: EX_TEMPFAIL of sysexits.h. */
const held = 75
/** The user's own socket unit comes first. It is of no use if the application names another socket. */
const script = `
if [ -z "$CACHED_SOCKET" ] && [ $# = 0 ] && [ -S "$XDG_RUNTIME_DIR/systemd/private" ] &&
    systemctl --user start cached.socket 2>/dev/null; then exit; fi
exec "$0" --detach --idle-exit 10min "$@"
`

/** Where programs are that are not on the path. */
export const folders = ['/usr/local/bin', '/usr/bin']

/** The path of a program, or undefined. */
export function program(name, { env } = process) {
  if (process.platform === 'win32') return undefined
  return [...(env.PATH ?? '').split(':'), ...folders].map((folder) => `${folder || '.'}/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  })
}

/** The reason among the lines of a program that failed: the one that says so, otherwise the last. */
export function reasonIn(text) {
  const lines = text.trim().split('\n')
  const marked = lines.filter((line) => /^(cached|cachectl|Error): /.test(line)).map((line) => line.replace(/^\w+: /, ''))
  return (marked.at(-1) ?? lines.at(-1)).trim().slice(0, 200)
}

/** Where the daemon listens, and whether a missing one is started. It holds no descriptor. */
export class Daemon {
  constructor({ directory, socket, patience = 30_000, start, plain } = {}) {
    this.sockets = socket ? [socket] : places.sockets()
    this.patience = patience
    this.starts = start ?? process.env.CACHED_START !== 'no'
    /** Downloads in this process, if there is no daemon. */
    this.plain = plain
    /** For the programs, if the application names a socket. */
    this.options = socket ? ['--socket', socket, ...(directory ? ['--directory', directory] : [])] : []
  }

  /**
   * A connection to the first socket at which there is a daemon; rejected with an Error whose `code` is that of
   * the user's own socket, and whose message names each socket and its problem.
   */
  async connect() {
    const problems = []
    let code
    for (const path of this.sockets) {
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
        code ??= error.code
        // A daemon runs, but too many clients wait for it.
        if (error.code === 'EAGAIN') {
          code = 'EAGAIN'
          break
        }
      }
    }
    throw Object.assign(new Error(problems.join('; ')), { code })
  }

  async isRunning() {
    try {
      (await this.connect()).destroy()
      return true
    } catch (error) {
      return error.code === 'EAGAIN'
    }
  }

  /**
   * Starts a daemon, and waits until it answers or ends: its exit status, and the reason on its standard error.
   * Undefined if there is no program.
   */
  async #start(deadline, signal) {
    const path = program('cached')
    if (!path) return undefined
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', script, path, ...this.options], {
        detached: true, stdio: ['ignore', 'ignore', 'pipe'],
      })
      let text = ''
      child.stderr.setEncoding('utf8').on('data', (data) => (text += data))
      const settle = (end) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        child.stderr.destroy()
        resolve(end)
      }
      // It goes on: its daemon ends when nobody uses it.
      const leave = () => {
        child.unref()
        settle({})
      }
      const timer = later(deadline - Date.now(), () => {
        child.kill('SIGKILL')
        settle({ reason: 'it takes too long' })
      })
      const ended = (status) => settle({ status, reason: reasonIn(text) || `exit status ${status}` })
      signal?.addEventListener('abort', leave)
      child.once('error', (error) => settle({ reason: error.message }))
      // The daemon can hold the other end of the pipe, which then never closes.
      child.once('close', ended)
      child.once('exit', (status) => setTimeout(ended, 50, status))
    })
  }

  /**
   * A connection; a daemon is started if there is none, once. Rejected with CacheError `noDaemon`, or with the
   * reason of the signal.
   *
   * Patience is for a daemon that is there: one that was connected before, that is starting, or whose socket exists.
   * `forever`: tries once a second, and starts nothing. `onAbsent` is called when there is no daemon at the moment.
   */
  async reach({ wasConnected = false, forever = false, signal, onAbsent } = {}) {
    const began = Date.now()
    let deadline = forever ? Infinity : began + this.patience
    let pause = forever ? longestPause : firstPause
    let isPatient = wasConnected || forever
    let mayStart = this.starts && !forever
    let remedy = 'start cached'
    if (wasConnected || forever) await sleep(pause, undefined, { signal })
    for (;;) {
      let problem
      try {
        const socket = await this.connect()
        if (!signal?.aborted) return socket
        socket.destroy()
      } catch (error) {
        problem = error
      }
      signal?.throwIfAborted()
      if (silent.has(problem.code) && mayStart && (!wasConnected || Date.now() - began >= grace)) {
        mayStart = false
        const end = await this.#start(deadline, signal)
        signal?.throwIfAborted()
        if (end) {
          isPatient = end.status === 0 || end.status === held
          if (end.status === held) deadline = Math.min(deadline, Date.now() + race)
          if (end.status !== 0) remedy = `cached was started and failed: ${end.reason}`
          if (!isPatient) deadline = 0
          continue
        }
        remedy = 'there is no program cached, install it'
      }
      if (Date.now() >= deadline || !(isPatient || mayStart || passing.has(problem.code))) {
        const duration = isPatient ? ` for ${this.patience} ms` : ''
        throw new CacheError('noDaemon', `no daemon answered${duration} (${problem.message}); ${remedy}`)
      }
      onAbsent?.()
      await sleep(Math.min(pause, Math.max(1, deadline - Date.now())), undefined, { signal })
      pause = Math.min(longestPause, pause * 1.5)
    }
  }
}

/** A timer, unless the time is longer than one can be. */
export function later(milliseconds, action) {
  return milliseconds < 2 ** 31 ? setTimeout(action, Math.max(0, milliseconds)) : undefined
}
