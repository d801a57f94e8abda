// One daemon with its own directory and socket, and the one call that the adapter needs.

import { spawn, spawnSync } from 'node:child_process'
import net from 'node:net'
import path from 'node:path'
import process from 'node:process'

// Ends every message (https://varlink.org/Protocol).
const endOfMessage = '\0'

// Settings that differ from the defaults; docs/understand/benchmarks.md gives the reasons.
const settings = {
  CACHED_ACCEPT: 'any',
  CACHED_SHARED: 'yes',
  CACHED_ATTEMPTS: '1'
}

export class Daemon {
  constructor (program, scratch) {
    this.program = program
    this.socket = path.join(scratch, 'socket')
    this.directory = path.join(scratch, 'images')
    this.version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.trim()
  }

  async start () {
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('CACHE'))
    this.child = spawn(
      this.program,
      ['--directory', this.directory, '--socket', this.socket, '--allow-network', '127.0.0.0/8',
        '--log-level', 'error'],
      {
        env: { ...Object.fromEntries(clean), XDG_CONFIG_HOME: this.directory, ...settings },
        stdio: ['ignore', 'ignore', 'inherit']
      })
    this.ended = new Promise(resolve => this.child.once('exit', resolve))
    this.child.once('error', error => { throw error })
    await this.listening()
  }

  async listening () {
    for (let tries = 0; tries < 500; tries++) {
      if (this.child.exitCode !== null) throw new Error('the daemon did not start')
      try {
        await this.call('org.varlink.service.GetInfo', {})
        return
      } catch {
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
    throw new Error('the daemon does not answer')
  }

  async stop () {
    if (!this.child) return
    this.child.kill('SIGTERM')
    await this.ended
  }

  async fetch (url, signal) {
    const { items } = await this.call('io.cached.Cache.Fetch', { urls: [url] }, signal)
    // The suite asks for a failing URL again at once. With `missing` there is no entry that this removes.
    if (items[0].state === 'missing') await this.call('io.cached.Cache.Remove', { urls: [url] }, signal)
    return items[0]
  }

  call (method, parameters, signal) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.socket)
      let reply = ''
      const stop = () => socket.destroy(new DOMException('timed out', 'AbortError'))
      signal?.addEventListener('abort', stop)
      socket.setEncoding('utf8')
      socket.on('connect', () => socket.write(JSON.stringify({ method, parameters }) + endOfMessage))
      socket.on('data', piece => {
        reply += piece
        if (!reply.endsWith(endOfMessage)) return
        socket.end()
        signal?.removeEventListener('abort', stop)
        const message = JSON.parse(reply.slice(0, -1))
        message.error ? reject(new Error(message.error)) : resolve(message.parameters)
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the daemon closed the connection')))
    })
  }
}
