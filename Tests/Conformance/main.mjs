// Runs the applicable part of the suite through the built daemon and prints a Markdown report.
//
//   main.mjs --suite DIRECTORY [--daemon PATH] [--only ID] [--require COUNT] [--write FILE]
//
// Exits 1 if fewer than COUNT required tests pass.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'

import { adaptFetch, standInForUndici } from './adapter.mjs'
import { Daemon } from './daemon.mjs'
import { startOrigin } from './origin.mjs'
import { report, writeInto } from './report.mjs'
import { select } from './selection.mjs'

const { values: options } = parseArgs({
  options: {
    suite: { type: 'string' },
    daemon: { type: 'string', default: '.build/release/cached' },
    only: { type: 'string' },
    require: { type: 'string', default: '0' },
    write: { type: 'string' }
  }
})

standInForUndici()
const suite = path.resolve(options.suite)
const load = name => import(path.join(suite, name))
const { default: tests } = await load('tests/index.mjs')
const { runTests, getResults } = await load('test-engine/client/runner.mjs')

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'cached-http-'))
const daemon = new Daemon(options.daemon, scratch)
try {
  const selection = select(tests, options.only)
  const origin = await startOrigin(suite, scratch)
  await daemon.start()
  adaptFetch(daemon, origin)
  await runTests(selection.suites, false, origin.base)

  const outcome = report(suite, selection, getResults(), daemon.version)
  console.log(outcome.text)
  if (options.write) writeInto(options.write, outcome.text)
  process.exitCode = outcome.passed >= Number(options.require) ? 0 : 1
} finally {
  await daemon.stop()
  fs.rmSync(scratch, { recursive: true, force: true })
}
process.exit()
