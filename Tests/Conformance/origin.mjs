// The suite's own server, in this process, with two changes.
//
// A proxy would pass on the request number (`Req-Num`) of the suite's client. The daemon sends the same
// request for every caller, so this file gives the number to the server. And each response gets its head
// in front of its body, see adapter.mjs.

import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import process from 'node:process'

import { join } from './envelope.mjs'

export async function startOrigin (suite, scratch) {
  const port = await freePort()
  process.env.npm_config_protocol = 'http'
  process.env.npm_config_port = String(port)
  process.env.npm_config_pidfile = path.join(scratch, 'origin.pid')

  const calls = new Map()
  const createServer = http.createServer
  http.createServer = handler => createServer((request, response) => {
    const test = request.url.startsWith('/test/') ? testOf(request.url) : undefined
    if (test) prepare(request, response, calls.get(test))
    handler(request, response)
  })
  quietly()
  await import(path.join(suite, 'test-engine/server/server.mjs'))
  return { base: `http://127.0.0.1:${port}`, begin: (url, headers) => begin(calls, url, headers) }
}

function begin (calls, url, headers) {
  const test = testOf(new URL(url).pathname)
  const call = { fields: suiteFields(headers), sent: [], end: () => { call.isOver = true } }
  // It stays until the next call: a background revalidation belongs to the call that caused it.
  calls.set(test, call)
  return call
}

function testOf (target) {
  return target.split('/')[2].split('?')[0]
}

function suiteFields (headers) {
  const own = new Set(['test-name', 'test-id', 'req-num'])
  return (headers ?? []).filter(([name]) => own.has(name.toLowerCase()))
}

function prepare (request, response, call) {
  for (const [name, value] of call?.fields ?? []) request.headers[name.toLowerCase()] ??= value
  const end = response.end.bind(response)
  response.end = body => {
    const envelope = join(
      response.statusCode, response.statusMessage, fields(response), body ?? '')
    if (call && !call.isOver) call.sent.push(envelope)
    if ([204, 304].includes(response.statusCode)) return end()
    if (response.hasHeader('content-length')) {
      response.setHeader('content-length', envelope.length)
    }
    return end(envelope)
  }
}

function fields (response) {
  return response.getRawHeaderNames().flatMap(name => {
    const value = response.getHeader(name)
    return Array.isArray(value) ? value.map(each => [name, each]) : [[name, value]]
  })
}

// Keeps the server's messages away from standard output, which is for the report.
function quietly () {
  const log = console.log
  console.log = (...words) => /^(SERVER WARNING|Listening)/.test(words[0]) || log(...words)
}

function freePort () {
  return new Promise(resolve => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
