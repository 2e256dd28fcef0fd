// Holds plugin-protocol §3.1, §3.4, §3.6; laws §8: what serves before it was started has no actors until somebody needs them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PackageLifecycleInfo } from '../../../src/protocol/plugin/plugin.js'
import type { NativePlugin } from '../../../src/ports/plugin.js'
import type { PlayedChild } from '../../../src/simulation/child.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { readTool } from '../../fakes/plugins.js'
import { until } from '../../fakes/programs.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

const ID = 'dev.example.resting'
const TOOL = 'resting_tool'

/** Answers as a plugin with one tool, and ends when it is told to. */
function play(child: PlayedChild): void {
  let rest = ''
  const say = (frame: unknown) => child.stdout(`${JSON.stringify(frame)}\n`)
  child.onInput((text) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, method } = JSON.parse(line) as { id?: number; method: string }
      const tools = [{ id: TOOL, description: 'x', parameters: { type: 'object' } }]
      if (method === 'initialize') say({ id, result: { protocol: 'svc-plugin/2', tools } })
      else if (method === 'tool.invoke') say({ id, result: { output: 'done' } })
      else if (method === 'shutdown') child.end()
    }
  })
  child.onEnd(() => child.end())
}

/** A server that has started the approved package once, and the next ones. */
async function remembered() {
  const effects = createFakeEffects({ env: { SVC_AGENT_PLUGIN_SANDBOX: 'off' } })
  const children: PlayedChild[] = []
  effects.processes.pipe(() => (child) => {
    children.push(child)
    play(child)
  })
  const root = join(effects.paths.config, 'plugins', ID)
  mkdirSync(root, { recursive: true })
  const agent = { runtime: 'process', command: ['/bin/sh'], scope: 'workspace' }
  writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify({ id: ID, version: '1', agent }))
  const file = join(effects.paths.config, 'config.json')
  const approving = (...revisions: string[]) => {
    const workspaceId = effects.paths.cwd
    const trust = revisions.map((revision) => ({ workspaceId, packageId: ID, revision, executableApproved: true }))
    return { plugins: { [ID]: { options: { trust } } } }
  }
  const approve = (...revisions: string[]) =>
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...approving(...revisions) }))
  const first = await startTestService({ effects })
  const [found] = await first.runtime.plugins.lifecycle(first.directory)
  const config = approving(found?.revision ?? '')
  approve(found?.revision ?? '')
  await first.runtime.plugins.lifecycle(first.directory)
  await reaches(first, 'active')
  await until(
    'its offer is kept',
    async () => (await effects.files.readDirectory(join(effects.paths.state, 'plugin-offers')).catch(() => [])).length === 1,
  )
  const told = statesIn(first)
  await first.stop()
  children.length = 0
  const next = async (...tools: string[]) => {
    const service = await startTestService({
      effects,
      config,
      steps: [...tools.map((tool, n) => calls({ callId: `call_${n}`, tool, input: {} })), says('Done.')],
    })
    await service.runtime.system.tools(service.directory)
    await reaches(service, 'active')
    return service
  }
  return { effects, children, config, next, told, approve }
}

const statesIn = (service: TestService) =>
  service.events.flatMap(({ type, data }) => (type === 'package.updated' ? [(data['info'] as PackageLifecycleInfo).state] : []))

async function reaches(service: TestService, state: string): Promise<void> {
  await service.until(({ type, data }) => type === 'package.updated' && (data['info'] as PackageLifecycleInfo).state === state)
}

test('tells the same states as one that is started, lists the same, and runs nothing', async () => {
  const { next, children, told } = await remembered()
  const service = await next()
  expect(told.slice(-3)).toEqual(statesIn(service).slice(-3))
  expect(statesIn(service)).toEqual(['discovered', 'trusted', 'enabled', 'loading', 'active'])
  expect(await service.runtime.plugins.lifecycle(service.directory)).toMatchObject([{ state: 'active', generation: 1, leaseActive: true }])
  expect(children).toEqual([])
})

test('is made and started by a call of its tool, once', async () => {
  const { next, children } = await remembered()
  const service = await next(TOOL, TOOL)
  const session = await service.session()
  await service.prompt(session, 'go')
  await service.idle(session)
  expect(JSON.stringify(service.messages(session))).toContain('done')
  expect(children).toHaveLength(1)
  expect(statesIn(service).slice(-1)).toEqual(['active'])
})

test('is there for somebody who looks, as if it had been made at once', async () => {
  const { next, children } = await remembered()
  const service = await next()
  const { actors, plugins } = service.runtime.inspector.tree()
  const id = `package:${ID}@${service.directory}`
  expect(actors.find((each) => each.id === id)).toMatchObject({ kind: 'package', state: ['running.serving.active'] })
  expect(actors.find((each) => each.id === `${id}/generation:1/instance`)).toMatchObject({ state: ['resting'] })
  expect(plugins.find(({ pluginId }) => pluginId === ID)).toMatchObject({
    state: 'active',
    generations: [{ number: 1, state: ['serving'] }],
  })
  expect(statesIn(service).slice(-1)).toEqual(['active'])
  expect(children).toEqual([])
})

test('takes nothing any more once its approval is withdrawn', async () => {
  const { next, children, approve } = await remembered()
  const service = await next()
  approve()
  expect(await service.runtime.plugins.lifecycle(service.directory)).toMatchObject([{ state: 'permission-required', leaseActive: false }])
  await until('it is withdrawn', async () => !(await service.runtime.system.tools(service.directory)).some(({ id }) => id === TOOL))
  expect(children).toEqual([])
})

test('starts other content as its next generation', async () => {
  const { next, children, approve, effects } = await remembered()
  const service = await next()
  writeFileSync(join(effects.paths.config, 'plugins', ID, 'more'), 'more')
  const [changed] = await service.runtime.plugins.lifecycle(service.directory)
  expect(changed).toMatchObject({ state: 'update-available', generation: 1 })
  approve(changed?.revision ?? '')
  await service.runtime.plugins.lifecycle(service.directory)
  await until('the next serves', async () => {
    const [info] = await service.runtime.plugins.lifecycle(service.directory)
    return info?.state === 'active' && info.generation === 2
  })
  expect(children).toHaveLength(1)
})

test('whose tool another has by now is refused as one that is started, and tells why', async () => {
  const { effects, children, config } = await remembered()
  const owner: NativePlugin = { id: 'dev.svc.owner', name: 'Owner', start: () => ({ tools: [{ ...readTool, id: TOOL }] }) }
  const service = await startTestService({ effects, config, plugins: [owner] })
  await service.runtime.system.tools(service.directory)
  await reaches(service, 'failed')
  const [info] = await service.runtime.plugins.lifecycle(service.directory)
  expect(info?.diagnostics[0]?.message).toBe(`The tool "${TOOL}" is already contributed by dev.svc.owner.`)
  expect(statesIn(service)).toEqual(['discovered', 'trusted', 'enabled', 'loading', 'failed'])
  expect(children).toEqual([])
})

test('ends with the service, and leaves nothing', async () => {
  const { next, children } = await remembered()
  const service = await next()
  await service.stop()
  expect(children).toEqual([])
})
