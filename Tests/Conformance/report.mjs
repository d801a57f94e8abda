// The result as Markdown: the number of passed tests beside the published results of other caches, and
// the tests that fail.

import fs from 'node:fs'
import path from 'node:path'

import { kind } from './selection.mjs'

const published = {
  varnish: 'Varnish', caddy: 'Caddy', apache: 'Apache httpd', squid: 'Squid',
  trafficserver: 'Traffic Server', nginx: 'nginx', haproxy: 'HAProxy'
}

export function report (suite, selection, results, version) {
  const tests = selection.suites.flatMap(each => each.tests)
  const count = (from, of) =>
    tests.filter(test => kind(test) === of && from[test.id] === true).length
  const all = of => tests.filter(test => kind(test) === of).length
  const passed = count(results, 'required')
  const row = (name, from) =>
    `| ${name} | ${count(from, 'required')} of ${all('required')} | ` +
    `${count(from, 'optimal')} of ${all('optimal')} | ${count(from, 'check')} of ${all('check')} |`

  const lines = [
    '| | required | optimal | “does it …?”: yes |', '|---|---|---|---|',
    row(`**${version || 'cached'}**`, results)
  ]
  for (const [file, name] of Object.entries(published)) {
    lines.push(row(name, readResults(suite, file)))
  }
  lines.push('', 'Required tests that fail:', '', ...failures(tests, results, 'required'))
  lines.push('', 'Optimal tests that fail:', '', ...failures(tests, results, 'optimal'))
  lines.push('', 'Not run:', '', '| required | of all | why |', '|---|---|---|')
  for (const { why, ids } of selection.left.values()) {
    lines.push(`| ${ids.filter(test => kind(test) === 'required').length} | ${ids.length} | ${why} |`)
  }
  return { text: lines.join('\n'), passed }
}

function failures (tests, results, of) {
  const failed = tests.filter(test => kind(test) === of && results[test.id] !== true)
  if (!failed.length) return ['- none']
  const byReason = new Map()
  for (const test of failed) {
    const why = reason(results[test.id])
    byReason.set(why, [...byReason.get(why) ?? [], `\`${test.id}\``])
  }
  return [...byReason].map(([why, those]) => `- ${why}: ${those.join(' ')}`)
}

// Without the path of the suite on this machine.
function reason (result) {
  return result?.[1]?.replace(/ imported from .*/, '') ?? 'no result'
}

function readResults (suite, name) {
  return JSON.parse(fs.readFileSync(path.join(suite, 'results', `${name}.json`), 'utf8'))
}

// Replaces the text between the two marks of a page.
export function writeInto (file, text) {
  const page = fs.readFileSync(file, 'utf8')
  const [head, rest] = page.split('<!-- results -->\n')
  const [, tail] = rest.split('<!-- /results -->')
  fs.writeFileSync(file, `${head}<!-- results -->\n${text}\n<!-- /results -->${tail}`)
}
