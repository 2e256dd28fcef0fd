import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createNodeEffects } from '../../../src/actors/node-effects.js'
import type { PluginInstance } from '../../../src/actors/plugin/instance.js'
import { startProcess } from '../../../src/actors/plugin/process-instance.js'
import { createInstanceIds, pluginEnvironment } from '../../../src/actors/plugin/process-spec.js'
import { conflictKeys, withFullPaths } from '../../../src/actors/plugin/conflicts.js'
import { HostCapability } from '../../../src/protocol/plugin.js'
import { type AttackCall, PLUGIN_ATTACKS, type PluginAttack } from '../../fixtures/plugin-attacks/table.js'

const FOLDER = join(import.meta.dirname, '../../fixtures/plugin-attacks')
const PLUGIN = 'dev.example.attack'
const never = new AbortController().signal
const effects = createNodeEffects({ logWrite: () => undefined })
const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-attacks-')))
afterAll(() => {
  effects.processes.killAll()
  rmSync(root, { recursive: true, force: true })
})
const nextInstanceId = createInstanceIds()
const host = { config: async () => ({ a: 1 }), publish: async () => undefined, protectedFiles: { reason: () => undefined } }

function prepare({ file, links = [] }: PluginAttack): string {
  const workspace = join(root, basename(file, '.mjs'))
  const outside = join(root, `${basename(file, '.mjs')}-outside`)
  for (const path of [workspace, outside]) mkdirSync(path)
  writeFileSync(join(outside, 'file'), 'secret')
  for (const link of links) symlinkSync(link.endsWith('file') ? join(outside, 'file') : outside, join(workspace, link))
  return workspace
}

async function start(attack: PluginAttack): Promise<PluginInstance> {
  const workspace = prepare(attack)
  const env = pluginEnvironment(effects, { pluginId: PLUGIN, directory: workspace })
  const capabilities = new Set((attack.capabilities ?? []).map((name) => HostCapability.parse(name)))
  const common = {
    pluginId: PLUGIN,
    place: { scope: 'workspace', workspace },
    config: {},
    directory: workspace,
    eventNamespaces: [PLUGIN],
  } as const
  const program = { program: process.execPath, args: [join(FOLDER, attack.file)], timeoutMs: attack.call?.timeoutMs ?? 1000 }
  const instance = await startProcess({ effects, nextInstanceId, host }, { ...common, ...program, env, capabilities })(
    1,
    () => undefined,
    never,
  )
  try {
    // The part of a publication that concerns this plugin alone; a registry has the tools of the built-in ones as well.
    withFullPaths({ pluginId: PLUGIN, reach: { type: 'everywhere' }, contributions: instance.contributions } as never)
    if (conflictKeys(PLUGIN, instance.contributions).includes('tool "read"')) throw new Error('the tool "read" is taken')
    return instance
  } catch (error) {
    instance.kill()
    await instance.gone
    throw error
  }
}

async function perform({ contributions }: PluginInstance, call: AttackCall): Promise<{ outcome: string; output: string }> {
  try {
    if (call.kind === 'tool') {
      const tool = contributions.tools?.find(({ id }) => id === 'attack')
      const context = { sessionId: 's', messageId: 'm', callId: 'c', agent: 'a', directory: root, signal: never, progress: () => undefined }
      const result = await tool?.invoke(call.input ?? {}, context)
      return { outcome: 'answers', output: result?.output ?? 'no tool' }
    }
    const request = {
      tenantId: null,
      hosted: false,
      workspaceId: null,
      workspace: null,
      sessionId: null,
      actor: null,
      path: {},
      query: {},
      headers: {},
      body: null,
    }
    const socket = await contributions.websocketRoutes?.[0]?.open(request, never)
    for await (const _message of socket?.outbound ?? []);
    return { outcome: 'answers', output: '' }
  } catch (error) {
    return { outcome: 'fails', output: error instanceof Error ? error.message : String(error) }
  }
}

describe('the corpus', () => {
  it('lists every program once, by what it says of itself', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.mjs') && name !== 'conversation.mjs')
    expect(PLUGIN_ATTACKS.map(({ file }) => file).toSorted()).toEqual(files.toSorted())
    for (const { file, what } of PLUGIN_ATTACKS) expect(readFileSync(join(FOLDER, file), 'utf8').split('\n', 1)[0]).toBe(`// ${what}`)
  })
})

describe.concurrent('a plugin that', () => {
  it.each(PLUGIN_ATTACKS.map((attack): [string, PluginAttack] => [basename(attack.file, '.mjs'), attack]))(
    '%s',
    { timeout: 90_000 },
    async (_name, attack) => {
      const { expected, call } = attack
      let failure: string | undefined
      const started = await start(attack).catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      if (typeof started === 'string') {
        expect(started).not.toBe('')
        expect(expected).toBe('never-active')
        return
      }
      expect(expected).not.toBe('never-active')
      void started.failed.then((reason) => (failure = reason))
      try {
        if (call !== undefined) {
          const { outcome, output } = await perform(started, call)
          if (call.outcome !== 'either') expect(`${outcome}: ${output.slice(0, 500)}`).toMatch(new RegExp(`^${call.outcome}: `))
          if (call.output !== undefined) expect(output).toMatch(new RegExp(call.output))
          if (call.not !== undefined) expect(output).not.toMatch(new RegExp(call.not))
        }
        if (expected === 'active-then-degraded') expect(await started.failed).not.toBe('')
        if (expected === 'active-harmless') expect(failure).toBeUndefined()
        expect(Object.prototype).not.toHaveProperty('polluted')
      } finally {
        started.retire()
        started.kill()
        await started.gone
      }
    },
  )
})
