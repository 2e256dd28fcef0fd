import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { bundleProgram } from '../../fakes/programs.js'

/** Tells which descriptor numbers above 2 a program it starts has, before and after closing what it inherited. */
const PROGRAM = `
import { closeInheritedDescriptors } from './src/platform/node/process/descriptors.ts'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
const inChild = () => execFileSync('/bin/sh', ['-c', 'test -e /proc/self/fd/120 && echo open || echo closed'], { encoding: 'utf8' }).trim()
const before = inChild()
const closed = closeInheritedDescriptors()
readFileSync('/proc/self/stat')
console.log(JSON.stringify({ before, closed, after: inChild(), again: closeInheritedDescriptors() }))
`
const Told = z.object({ before: z.string(), closed: z.number(), after: z.string(), again: z.number() })

it.skipIf(process.platform !== 'linux')('closes what the starter of the server left open, and nothing of its own', () => {
  const extra = openSync('/dev/null', 'r')
  try {
    const stdio = ['ignore', 'pipe', 'inherit', ...Array.from({ length: 117 }, () => 'ignore' as const), extra] as const
    const told = Told.parse(JSON.parse(execFileSync(process.execPath, [bundleProgram(PROGRAM)], { encoding: 'utf8', stdio: [...stdio] })))
    expect(told).toMatchObject({ before: 'open', after: 'closed', again: 0 })
    expect(told.closed).toBeGreaterThan(0)
  } finally {
    closeSync(extra)
  }
})
