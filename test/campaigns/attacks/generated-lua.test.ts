// Holds plugin-protocol §6.1; threat-model L1, L2, L3, L4.
/**
 * Scripts made of what they try and of how they go about it, from a seed: each against the Lua sandbox itself, and as packages of a server whose
 * programs are in a sandbox and of one whose programs are not. Some of them, or all (`npm run campaigns`).
 */
import { afterEach, describe, expect, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { type Hostile, keepVigil, NEIGHBOUR, openWard, WARD, type Ward } from '../../e2e/plugin/hostile.js'
import { makePlace } from '../../e2e/server/place.js'
import { openScene, type Scene } from '../../e2e/server/server.js'
import { endSandboxes, luaPackage, removeSandboxFiles, type Reply, startSandbox } from '../../fixtures/lua-sandbox.js'
import { sample, SEED, WHOLE } from '../scale.js'
import { ESCAPED, HARMLESS, type LuaScript, luaScripts } from './generated/lua-scripts.js'

const SCRIPTS = luaScripts(SEED)
/** A script is ended after this long, where it would be after thirty seconds. */
const SOON = ['--callback-ms', '1500']

let scene: Scene | undefined
let ward: Ward | undefined
afterEach(async () => {
  await endSandboxes()
  removeSandboxFiles()
  await scene?.close()
  await ward?.model.close()
  scene = undefined
  ward = undefined
})

interface Seen {
  readonly reply: Reply
  readonly next: Reply
  /** How the process ended, where the script made it. */
  readonly ended: { readonly code: number | null; readonly signal: string | null } | undefined
  readonly lastWords: string
  readonly peak: number
}

async function strike(source: string): Promise<Seen> {
  const sandbox = await startSandbox(luaPackage({ 'main.lua': source }), {
    onRequest: ({ method }) => (method === 'host.workspace.read' ? { error: 'there is none' } : 'answer'),
    watched: true,
    args: SOON,
  })
  await sandbox.frame(({ method }) => method === 'runner.ready')
  const loaded = await sandbox.initialize()
  const reply = loaded.error === undefined ? await sandbox.tool('attack') : loaded
  const next = await sandbox.tool('after')
  const ended = isServed(next) ? undefined : await sandbox.ended
  const seen = { reply, next, ended, lastWords: sandbox.stderr().trimEnd().split('\n').at(-1) ?? '', peak: sandbox.peak() }
  await sandbox.end()
  return seen
}

const isServed = ({ result, error }: Reply): boolean => (error === undefined ? result.output === 'true1' : error.includes('unknown tool'))

/** What is wrong with what came of a script; nothing when it hurt only itself. */
function wrong({ reply, ended, lastWords, peak }: Seen): string[] {
  return [
    ...(reply.error === undefined && reply.result?.output === 'escaped' ? ['it escaped'] : []),
    ...(ended !== undefined && (ended.code !== 1 || lastWords === '') ? [`it ended with ${ended.code ?? ended.signal}: ${lastWords}`] : []),
    ...(peak > 0 && peak < LIMITS.lua.processBytes ? [] : [`it took ${peak} bytes`]),
  ]
}

describe('against the sandbox itself', () => {
  test.each(sample(SCRIPTS, 10))('$name', async ({ source }) => {
    const seen = await strike(source)
    expect({ wrong: wrong(seen), source: wrong(seen).length > 0 ? source : '' }).toEqual({ wrong: [], source: '' })
  })

  test('what escapes is seen, and what does nothing is let be', async () => {
    expect(wrong(await strike(ESCAPED))).toEqual(['it escaped'])
    const harmless = await strike(HARMLESS)
    expect([wrong(harmless), harmless.reply.result]).toEqual([[], expect.objectContaining({ output: 'held' })])
    expect(wrong({ ...harmless, peak: LIMITS.lua.processBytes, ended: { code: null, signal: 'SIGSEGV' } })).toHaveLength(2)
  })

  test('there are a hundred, each once', () => {
    expect(new Set(SCRIPTS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(100)
    expect(new Set(SCRIPTS.map(({ source }) => source)).size).toBe(SCRIPTS.length)
  })
})

const BATCH = 8
const idOf = ({ name }: LuaScript) => `hostile.${name.toLowerCase()}`
const toolOf = ({ name }: LuaScript) => name.replaceAll('-', '_')

function packageOf(script: LuaScript): Hostile {
  const source = script.source
    .replace('id = "attack"', `id = "${toolOf(script)}"`)
    .replace('id = "after"', `id = "${toolOf(script)}_after"`)
  return { id: idOf(script), agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': source } }
}

const isOver = (state: ToolPart['state'] | undefined) =>
  state?.status === 'error' || (state?.status === 'completed' && state.output !== 'escaped')

/** What hangs in a call waits for thirty seconds on a server: there it is tried while it is loaded. */
const onServer = SCRIPTS.filter(({ hangs, atLoad }) => !hangs || atLoad)

/** A small run has one server. */
const MODES = WHOLE ? ['off', 'auto'] : ['auto']

test.for(MODES)(`packages of a server, with the sandbox of programs %s, seed ${SEED}`, { timeout: 1_200_000 }, async (mode) => {
  const opened = openScene(makePlace())
  scene = opened
  const { ward: made, server } = await openWard(opened.place, () => opened.start({ ...WARD, SVC_AGENT_PLUGIN_SANDBOX: mode }))
  ward = made
  const { before, ...vigil } = await keepVigil(server, opened.place, made)
  const scripts = sample(onServer, BATCH).slice(0, WHOLE ? undefined : BATCH)
  for (let next = 0; next < scripts.length; next += BATCH) {
    const batch = scripts.slice(next, next + BATCH)
    await made.install(batch.map(packageOf))
    const settled = await Promise.all(batch.map((script) => made.until(idOf(script), ['active', 'failed'])))
    const viable = batch.filter((_, index) => settled[index]?.state === 'active')
    expect.soft(batch.filter((script) => !viable.includes(script) && !script.atLoad).map(({ name }) => name)).toEqual([])
    const states = await made.turn([...viable.map((script) => ({ name: toolOf(script), input: {} })), { name: 'neighbour', input: {} }])
    expect.soft(viable.filter((script) => !isOver(states.get(toolOf(script)))).map(({ name }) => [name, states])).toEqual([])
    expect.soft(states.get('neighbour')).toMatchObject({ status: 'completed', output: String(before.pid) })
    expect.soft((await made.records()).get(NEIGHBOUR)).toEqual(before.info)
    made.remove(batch.map(idOf))
    if (next === (WHOLE ? 3 * BATCH : 0)) await vigil.warm()
  }
  await made.records()
  await vigil.end()
})
