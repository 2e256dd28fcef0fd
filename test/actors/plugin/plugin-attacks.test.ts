// Holds http-contract §2.11.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createNodeEffects } from '../../../src/platform/node/node-effects.js'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import type { PluginInstance } from '../../../src/actors/plugin/generation/instance.js'
import { startProcess } from '../../../src/actors/plugin/process/process-instance.js'
import { createInstanceIds, pluginEnvironment } from '../../../src/actors/plugin/process/process-spec.js'
import { createProtectedFiles } from '../../../src/platform/protection/protected-files.js'
import { HostCapability } from '../../../src/protocol/plugin/plugin.js'
import { type AttackCall, PLUGIN_ATTACKS, type PluginAttack } from '../../fixtures/plugin-attacks/table.js'

const FOLDER = join(import.meta.dirname, '../../fixtures/plugin-attacks')
const PLUGIN = 'dev.example.attack'
const never = new AbortController().signal
const effects = createNodeEffects({ logWrite: () => undefined })
const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-attacks-')))
afterAll(async () => {
  await effects.processes.killAll()
  rmSync(root, { recursive: true, force: true })
})
const nextInstanceId = createInstanceIds()
const { paths, env: serverEnv } = effects
const protectedFiles = createProtectedFiles({
  configDirectory: paths.config,
  stateDirectory: paths.state,
  cacheDirectory: paths.cache,
  home: paths.home,
  env: serverEnv,
  files: effects.files,
})
const host = { config: async () => ({ a: 1 }), setConfig: async () => undefined, publish: async () => undefined, protectedFiles }

async function start(attack: PluginAttack): Promise<PluginInstance> {
  const workspace = join(root, basename(attack.file, '.mjs'))
  mkdirSync(workspace)
  const env = pluginEnvironment(effects, { pluginId: PLUGIN, directory: workspace })
  const capabilities = new Set((attack.capabilities ?? []).map((name) => HostCapability.parse(name)))
  const common = {
    pluginId: PLUGIN,
    place: { scope: 'workspace', workspace },
    config: {},
    directory: workspace,
    eventNamespaces: [PLUGIN],
  } as const
  const program = {
    program: process.execPath,
    args: [join(FOLDER, attack.file)],
    timeoutMs: attack.call?.timeoutMs ?? (attack.call?.outcome === 'answers' ? 20_000 : 1000),
  }
  return startProcess(
    { effects, nextInstanceId, host, leases: createLeases({ effects, brokers: new Map() }) },
    { ...common, ...program, env, capabilities },
  )(1, () => undefined, never)
}

async function perform({ contributions }: PluginInstance, call: AttackCall): Promise<{ outcome: string; output: string }> {
  try {
    const tool = contributions.tools?.find(({ id }) => id === 'attack')
    const context = {
      sessionId: 's',
      messageId: 'm',
      callId: 'c',
      agent: 'a',
      directory: root,
      signal: never,
      progress: () => undefined,
      decisions: () => [],
    }
    const result = await tool?.invoke(call.input ?? {}, context)
    return { outcome: 'answers', output: result?.output ?? 'no tool' }
  } catch (error) {
    return { outcome: 'fails', output: error instanceof Error ? error.message : String(error) }
  }
}

describe('the corpus', () => {
  it('lists every program once, by what it says of itself', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.mjs') && !['conversation.mjs', 'generated.mjs'].includes(name))
    expect(PLUGIN_ATTACKS.map(({ file }) => file).toSorted()).toEqual(files.toSorted())
    for (const { file, what } of PLUGIN_ATTACKS) expect(readFileSync(join(FOLDER, file), 'utf8').split('\n', 1)[0]).toBe(`// ${what}`)
  })
})

/** What came of it: whether it started, how its call ended, whether it failed by itself. */
async function observe(attack: PluginAttack): Promise<unknown> {
  const { expected, call } = attack
  const instance = await start(attack).catch((error: unknown) => ({ reason: error instanceof Error ? error.message : String(error) }))
  if ('reason' in instance) return { started: false, reason: instance.reason }
  const failed = instance.failed.then((reason) => reason !== '')
  try {
    const came = call === undefined ? undefined : await perform(instance, call)
    const own =
      expected === 'active-then-degraded' ? failed : Promise.race([failed, new Promise((resolve) => setImmediate(resolve, false))])
    return { started: true, call: came, failed: await own }
  } finally {
    instance.retire()
    instance.kill()
    await instance.gone
  }
}

function wanted({ expected, call }: PluginAttack): unknown {
  const any: unknown = expect.anything()
  const some: unknown = expect.stringMatching(/./)
  if (expected === 'never-active') return { started: false, reason: some }
  const { outcome = 'either', output = '', not = '(?!)' } = call ?? {}
  const text: unknown = expect.toSatisfy((said: string) => new RegExp(output).test(said) && !new RegExp(not).test(said))
  const failed = expected === 'active-or-degraded' ? any : expected === 'active-then-degraded'
  return { started: true, call: call && { outcome: outcome === 'either' ? any : outcome, output: text }, failed }
}

/** What is said to the prototype of every object can be seen in the process of the host alone; the built program meets the whole corpus. */
const ON_PROTOTYPES = ['proto-keys', 'half-surrogates', 'tool-named-proto', 'hooks-of-the-prototype']

describe.concurrent('a plugin that', () => {
  const named = PLUGIN_ATTACKS.map((attack): [string, PluginAttack] => [basename(attack.file, '.mjs'), attack])
  it.each(named.filter(([name]) => ON_PROTOTYPES.includes(name)))('%s', async (_name, attack) => {
    expect(await observe(attack)).toEqual(wanted(attack))
    expect(Object.prototype).not.toHaveProperty('polluted')
  })
})
