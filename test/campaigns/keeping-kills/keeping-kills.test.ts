/**
 * `svc backup`, `svc restore` and the first start after an upgrade are killed with SIGKILL, each before its nth change of a file or a
 * database, over all that it makes: nothing is lost, and doing it again does it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readArchive } from '../../../src/server/keeping/archive.js'
import { MANIFEST, readManifest } from '../../../src/server/keeping/manifest.js'
import { openStore } from '../../../src/store/open.js'
import { type Home, makeHome } from '../../cli/program.js'
import { PATIENCE } from '../../fakes/patience.js'
import { inColumnsOf, layOutState, OLD_SCHEMAS, rowsOf } from '../../fixtures/old-states.js'
import { SEED, times, WHOLE } from '../scale.js'

const KILLS = times(3, 50)
const DIES_AT = fileURLToPath(new URL('../../fixtures/dies-at.cjs', import.meta.url))
const NEWEST = OLD_SCHEMAS.at(-1) ?? 0
/** Of a conversation, whatever the schema. */
const TOLD = ['sessions', 'messages', 'artifacts', 'events']

let home: Home
beforeAll(() => {
  home = makeHome()
})
afterAll(() => home.close())

const under = (env: Readonly<Record<string, string>>) => ({ env: { NODE_OPTIONS: `--require ${DIES_AT}`, ...env } })

/** A number of instants all over what `args` does to `prepare`d files; a sample takes others with each seed. */
async function killAll(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  prepare: () => void,
  check: () => void,
): Promise<number> {
  prepare()
  const count = join(home.path, 'count')
  const whole = await home.run(args, under({ ...env, SVC_TEST_COUNT: count }))
  expect(whole).toMatchObject({ code: 0 })
  const steps = Number(readFileSync(count, 'utf8'))
  let killed = 0
  for (let index = 0; index < KILLS; index++) {
    prepare()
    const instant = 1 + Math.floor(((index + (SEED % 7) / 7) * steps) / KILLS)
    const { code } = await home.run(args, under({ ...env, SVC_TEST_DIES_AT: String(instant) }))
    if (code === null) killed++
    check()
  }
  return killed
}

function newState(name: string, schema?: number): string {
  const state = join(home.path, name)
  rmSync(state, { recursive: true, force: true })
  mkdirSync(state, { mode: 0o700 })
  if (schema !== undefined) layOutState(schema, state)
  return state
}

/** Path and digest of each member, and what the manifest says they are. */
function membersOf(file: string): { readonly there: unknown; readonly told: unknown } {
  const there: (readonly [string, string])[] = []
  let told: unknown
  for (const { path, chunks } of readArchive(file)) {
    const bytes = Buffer.concat([...chunks()].map((chunk) => Buffer.from(chunk)))
    if (path === MANIFEST) told = readManifest(bytes.toString('utf8')).members.map((member) => [member.path, member.sha256])
    else there.push([path, createHash('sha256').update(bytes).digest('hex')])
  }
  return { there, told }
}

const rowsOfState = (state: string) => rowsOf(join(state, 'agent.sqlite3'), TOLD)

test(
  `a backup that is killed leaves the one before it, or is whole (${KILLS} instants, seed ${SEED})`,
  async () => {
    const state = newState('state-backup', NEWEST)
    const rows = rowsOfState(state)
    const file = join(home.path, 'killed.tar')
    const env = { SVC_AGENT_STATE_DIR: state }
    expect((await home.run(['backup', file], { env })).code).toBe(0)
    const check = () => {
      const { there, told } = membersOf(file)
      expect(there).toEqual(told)
      expect(rowsOfState(state)).toEqual(rows)
    }
    expect(await killAll(['backup', '--replace', file], env, () => undefined, check)).toBeGreaterThan(KILLS / 2)
    expect((await home.run(['backup', '--replace', file], { env })).code).toBe(0)
    expect(readdirSync(home.path).filter((name) => name.startsWith('killed'))).toEqual(['killed.tar'])
  },
  WHOLE ? 20 * PATIENCE : 3 * PATIENCE,
)

test(
  `a restore that is killed leaves the old state or ends in the new one, and the old one is kept (${KILLS} instants, seed ${SEED})`,
  async () => {
    const from = newState('state-from', NEWEST)
    const file = join(home.path, 'restored.tar')
    expect((await home.run(['backup', file], { env: { SVC_AGENT_STATE_DIR: from } })).code).toBe(0)
    const fresh = rowsOfState(from)
    const old = rowsOfState(newState('state-to', 8))
    const state = join(home.path, 'state-to')
    const check = () => {
      openStore({ directory: state, now: () => 1 }).close()
      const aside = readdirSync(state).find((name) => name.startsWith('before-restore-') && existsSync(join(state, name, 'agent.sqlite3')))
      const rows = rowsOfState(state)
      const oldEvents = (of: typeof rows) => inColumnsOf(old['events'], of['events'])
      const isOld = JSON.stringify(oldEvents(rows)) === JSON.stringify(old['events'])
      expect(isOld ? oldEvents(rows) : rows['events']).toEqual((isOld ? old : fresh)['events'])
      const kept = isOld ? rows : rowsOfState(join(state, aside ?? 'nowhere'))
      expect(oldEvents(kept)).toEqual(old['events'])
      expect(readdirSync(join(state, 'artifacts', 'local'))).toHaveLength(2)
      expect(existsSync(join(state, '.restoring'))).toBe(false)
    }
    const args = ['restore', '--replace', '--without-configuration', file]
    const killed = await killAll(args, { SVC_AGENT_STATE_DIR: state }, () => void newState('state-to', 8), check)
    expect(killed).toBeGreaterThan(KILLS / 2)
    expect((await home.run(args, { env: { SVC_AGENT_STATE_DIR: state } })).code).toBe(0)
    expect(rowsOfState(state)).toEqual(fresh)
  },
  WHOLE ? 20 * PATIENCE : 3 * PATIENCE,
)

test(
  `an upgrade that is killed goes on with the next start, from a copy that is kept (${KILLS} instants, seed ${SEED})`,
  async () => {
    const before = rowsOfState(newState('state-old', 1))
    const state = join(home.path, 'state-old')
    const check = () => {
      openStore({ directory: state, now: () => 1 }).close()
      const rows = rowsOfState(state)
      for (const table of ['artifacts', 'messages', 'sessions'])
        expect([table, rows[table]?.length]).toEqual([table, before[table]?.length])
      expect(inColumnsOf(before['events'], rows['events']).slice(0, before['events']?.length)).toEqual(before['events'])
      const kept = readdirSync(state).filter((name) => /^before-schema-\d+\.sqlite3$/.test(name))
      expect(kept).toContain('before-schema-1.sqlite3')
      expect(rowsOf(join(state, 'before-schema-1.sqlite3'), TOLD)).toEqual(before)
    }
    const killed = await killAll(['session', 'list'], { SVC_AGENT_STATE_DIR: state }, () => void newState('state-old', 1), check)
    expect(killed).toBeGreaterThan(KILLS / 2)
  },
  WHOLE ? 20 * PATIENCE : 3 * PATIENCE,
)
