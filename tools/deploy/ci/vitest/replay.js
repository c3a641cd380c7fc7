// Gives tests a diglot replay server, with or without faults.

import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const diglot = process.env.DIGLOT ?? 'diglot'

/** Starts a server for the running test and returns its address. faults are rules as
 * diglot replay --help describes them. */
export async function replay(faults) {
  const address = `127.0.0.1:${await freePort()}`
  const args = ['replay', '--listen', address]
  if (faults) {
    const rules = join(mkdtempSync(join(tmpdir(), 'replay-')), 'faults.yaml')
    writeFileSync(rules, faults)
    args.push('--faults', rules)
  }
  const server = spawn(diglot, args, { stdio: 'inherit' })
  onTestFinished(() => {
    server.kill()
  })
  const url = `http://${address}`
  await ready(url)
  return url
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function ready(url) {
  for (const end = Date.now() + 10_000; ; ) {
    try {
      await fetch(`${url}/health`)
      return
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
