/** The contract test can fail: no handler of any operation can be broken without its valid call telling (`npm run mutate`). */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Contract, contractOf } from './contract/document.js'
import { callValidly, VALID_CALLS } from './contract/valid-calls.js'
import { openWorld, type World } from './contract/world.js'
import type { Kind, Mutant } from './mutants/mutant.js'

const SCRIPT = fileURLToPath(new URL('../../scripts/build-mutants.mjs', import.meta.url))
/** Opens no socket whose silence could be told from that of a program that says nothing. */
const NEVER_SILENT = new Set(['v2.plugins.pty.connect'])
const KINDS: readonly Kind[] = ['throws', 'silent']
const MUTANTS = Object.keys(VALID_CALLS).flatMap((id) =>
  KINDS.filter((kind) => kind === 'throws' || !NEVER_SILENT.has(id)).map((kind) => ({ id, kind })),
)

const folder = mkdtempSync(join(tmpdir(), 'svc-mutants-'))
const file = join(folder, 'mutant.json')

let world: World
let contract: Contract
beforeAll(async () => {
  choose(null)
  const program = execFileSync(process.execPath, [SCRIPT], { encoding: 'utf8' })
  world = await openWorld({ SVC_TEST_MUTANT: file }, program)
  contract = await contractOf(world.server)
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Breaks one handler, or none. */
function choose(mutant: Mutant | null): void {
  writeFileSync(file, JSON.stringify(mutant))
  writeFileSync(`${file}.struck`, '')
}

/** That each call passes where nothing is broken is what the contract test says, with the same calls; a few say that this build is no other. */
const CONTROLS = Object.keys(VALID_CALLS).filter((_, index) => index % 10 === 0)

test.each(CONTROLS)('%s passes while its handler is sound', async (id) => {
  choose(null)
  await callValidly(world, contract, id)
})

test.each(MUTANTS)('$id does not pass when its handler is $kind', async (mutant) => {
  choose(mutant)
  const told = await callValidly(world, contract, mutant.id).then(
    () => 'nothing',
    (error: unknown) => String(error),
  )
  expect({ told, struck: readFileSync(`${file}.struck`, 'utf8').split('\n')[0] }).toEqual({
    told: expect.not.stringMatching(/^nothing$/) as string,
    struck: mutant.id,
  })
})
