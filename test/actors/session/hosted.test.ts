// Holds subsystems d.6, d.9, j, k; decision 42: sessions of hosted callers, what they delegate, pursue and take back.
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createOwners } from '../../../src/actors/tenancy/owners.js'
import { goalsPlugin } from '../../../src/plugins/goals/goals.plugin.js'
import { filesPlugin } from '../../../src/plugins/files/files.plugin.js'
import { subagentsPlugin } from '../../../src/plugins/subagents/subagents.plugin.js'
import { type Caller, PLUGIN_CALLER, type Quotas, TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, gate, says, startTestService, type TestService } from '../../fakes/service.js'

const NATIVE = { hosted: { execution: 'native', providers: ['played'] } }

async function start(config: Record<string, unknown> = NATIVE, quotas: Quotas = { maxSessions: 3 }) {
  const effects = createFakeEffects({ env: { SVC_AGENT_PLUGIN_SANDBOX: 'required' } })
  const plugins = [filesPlugin({ ripgrepPath: undefined }), subagentsPlugin(), goalsPlugin({ env: { FIRECRAWL_API_KEY: 'key' } })]
  const service = await startTestService({ effects, config, plugins })
  const directory = realpathSync(service.directory)
  const caller: Caller = {
    subject: 'hosted:acme',
    tenantId: 'acme',
    authenticated: true,
    operator: false,
    hosted: true,
    directoryPrefixes: [directory],
    quotas,
  }
  const { id } = await service.runtime.sessions.create(caller, directory, { title: 'Hosted' })
  const ask = (text: string, as: Caller = caller) => service.runtime.sessions.submitPrompt(as, id, { prompt: text }, 'prompt')
  const turn = async (...steps: TestService['steps']) => {
    service.steps.push(...steps)
    await ask('go')
    await service.idle(id)
  }
  return { service, directory, caller, id, ask, turn }
}

const write = (filePath: string, content = 'x\n') => calls({ callId: `call_${filePath}`, tool: 'write', input: { filePath, content } })
const toolsOf = (service: TestService, id: string) =>
  service.messages(id).flatMap(({ parts }) => parts.filter((part): part is ToolPart => part.type === 'tool'))
const task = (prompt: string, more: object = {}) =>
  calls({
    callId: `task_${prompt}`,
    tool: 'task',
    input: { description: 'a task', prompt, subagent_type: 'general', background: false, ...more },
  })

test('what it delegates is of its tenant, under its floor, in its directories, and counts for its quotas', async () => {
  const { service, directory, id, turn } = await start()
  await turn(
    task('one'),
    calls(
      { callId: 'in', tool: 'write', input: { filePath: 'in.txt', content: 'in\n' } },
      { callId: 'out', tool: 'write', input: { filePath: '/tmp/svc-out-of-reach.txt', content: 'out\n' } },
    ),
    says('did it'),
    says('done'),
  )
  const [child] = service.store.sessions.children(id)
  expect(child).toMatchObject({
    svcTenantId: 'acme',
    executionPolicy: 'native',
    createdBy: 'hosted:acme',
    directoryPrefixes: [directory],
    tenantQuotas: { maxSessions: 3 },
    directory,
  })
  expect(toolsOf(service, child?.id ?? '').map(({ state }) => state.status)).toEqual(['completed', 'error'])
  expect([readFileSync(join(directory, 'in.txt'), 'utf8'), existsSync('/tmp/svc-out-of-reach.txt')]).toEqual(['in\n', false])
  expect(JSON.stringify(service.requests[1]?.tools)).not.toContain('webfetch')

  await turn(task('two'), says('did it, too'), says('done'))
  await turn(task('three'), says('it cannot be had'))
  const [last] = toolsOf(service, id).slice(-1)
  expect([last?.state.status, JSON.stringify(last?.state)]).toEqual(['error', expect.stringContaining('it may have 3 sessions')])
})

test('a task that was begun in time goes on with nothing where execution was switched off meanwhile', async () => {
  const off = await start({ hosted: { execution: 'off', providers: ['played'] } })
  await expect(off.ask('go')).rejects.toMatchObject({ code: 'feature.not_implemented' })
  await expect(off.ask('go', PLUGIN_CALLER)).rejects.toMatchObject({ code: 'feature.not_implemented' })
})

/** As many as a played step uses. */
const STEP = 15
const spent = (quota: string, limit: number) => ({ code: 'quota.exceeded', details: expect.objectContaining({ quota, limit }) as object })

test('tokens of models in a day: no more is asked once they are used up, until the next day, whatever becomes of the session', async () => {
  const { service, caller, directory, id, ask, turn } = await start(NATIVE, { modelTokensPerDay: 2 * STEP })
  const { sessions } = service.runtime
  await turn(says('one'))
  await turn(says('two'))
  await expect(ask('three')).rejects.toMatchObject(spent('modelTokensPerDay', 2 * STEP))
  await sessions.delete(caller, id)
  const next = await sessions.create(caller, directory, { title: 'Next' })
  const again = () => sessions.submitPrompt(caller, next.id, { prompt: 'go' }, 'prompt')
  await expect(again()).rejects.toMatchObject({ details: { retryAfterSeconds: expect.any(Number) as number } })
  const other: Caller = { ...caller, tenantId: 'other' }
  const theirs = await sessions.create(other, directory, { title: 'Of others' })
  service.steps.push(says('of others'))
  await sessions.submitPrompt(other, theirs.id, { prompt: 'go' }, 'prompt')
  await service.idle(theirs.id)
  await service.effects.clock.advanceAsync(86_400_000)
  service.steps.push(says('tomorrow'))
  await again()
  await service.idle(next.id)
  expect(service.steps).toEqual([])
})

test('of models that are asked at once, the last find less left; what is cut short counts as well', async () => {
  const { service, caller, directory, id, ask } = await start(NATIVE, { modelTokensPerDay: 2 * STEP })
  const { sessions } = service.runtime
  const [begun, held] = [gate(), gate()]
  service.steps.push(async (push, signal) => {
    push({ type: 'text', delta: 'begun' })
    begun.open()
    await Promise.race([held.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
    signal.throwIfAborted()
  })
  await ask('one')
  await begun.promise
  const second = await sessions.create(caller, directory, { title: 'Second' })
  await expect(sessions.submitPrompt(caller, second.id, { prompt: 'two' }, 'prompt')).rejects.toMatchObject(
    spent('modelTokensPerDay', 2 * STEP),
  )
  await sessions.abort(id)
  await service.idle(id)
  await expect(ask('two')).rejects.toMatchObject(spent('modelTokensPerDay', 2 * STEP))
  held.open()
})

test('what models cost in a day counts where their price is known', async () => {
  const priced = { name: 'Played', toolCall: true, limit: { context: 100_000, output: 1000 }, cost: { input: 100_000, output: 0 } }
  const provider = { played: { npm: 'played', auth: 'none', options: { baseURL: 'http://127.0.0.1:9/v1' }, models: { one: priced } } }
  const { ask, turn } = await start({ ...NATIVE, provider }, { modelCostPerDay: 0.5 })
  await turn(says('one'))
  await expect(ask('two')).rejects.toMatchObject(spent('modelCostPerDay', 0.5))
  const free = await start(NATIVE, { modelCostPerDay: 0.5 })
  await free.turn(says('one'))
  await free.turn(says('two'))
})

test('its goal is pursued until its agent ends it; no page is read for it with the key of the installation', async () => {
  const { service, caller, id, turn } = await start()
  const { plugins } = service.runtime
  const ask = (operation: string, body?: object) =>
    plugins.call(operation, {
      caller,
      params: { session_id: id },
      query: {},
      headers: {},
      body,
      directory: '',
      signal: new AbortController().signal,
    })
  expect(await ask('v2.plugins.goals.set', { text: 'reach it', researchUrls: ['https://example.org/'] })).toMatchObject({
    goal: { text: 'reach it', status: 'active', research: [] },
    researchEnabled: false,
  })
  await expect(ask('v2.plugins.goals.research', { url: 'https://example.org/' })).rejects.toMatchObject({ code: 'request.invalid' })
  await turn(
    write('step.txt'),
    says('a step'),
    calls({ callId: 'end', tool: 'complete_goal', input: { summary: 'reached' } }),
    says('it is reached'),
  )
  expect(await ask('v2.plugins.goals.get')).toMatchObject({ goal: { status: 'complete', summary: 'reached' } })
  expect(JSON.stringify(service.requests[0]?.messages)).toContain('reach it')
})

test('undo brings back what its agent changed, and nothing that lies elsewhere, is protected, or lies behind a link', async () => {
  const { service, directory, id, turn } = await start()
  const { sessions } = service.runtime
  await turn(write('a.txt'), says('done'))
  await sessions.undo(id, {})
  expect(existsSync(join(directory, 'a.txt'))).toBe(false)
  await sessions.unrevert(id)
  expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('x\n')

  const [part] = toolsOf(service, id)
  if (part?.state.status !== 'completed') throw new Error('it was not written')
  const { state } = part
  const forge = (path: string, isAbsolute: boolean) =>
    service.store.transact('process', () =>
      service.store.messages.putPart({
        ...part,
        state: {
          ...state,
          metadata: {
            ...(state.metadata as object),
            snapshots: [
              {
                path,
                ...(isAbsolute && { absolute: true }),
                before: { exists: true, contentBase64: 'eA==', sha256: service.effects.sha256('x') },
                after: { exists: false },
              },
            ],
          },
        },
      }),
    )
  const outside = join(directory, '..', 'outside')
  mkdirSync(outside)
  symlinkSync(outside, join(directory, 'link'))
  for (const [path, isAbsolute, why] of [
    [join(outside, 'x'), true, 'lies outside of the directory of the session'],
    ['.git/hooks/pre-commit', false, 'is protected'],
    ['link/x', false, 'is reached through a link'],
  ] as const) {
    forge(path, isAbsolute)
    await expect(sessions.undo(id, {})).rejects.toMatchObject({
      code: 'resource.conflict',
      message: expect.stringContaining(why) as string,
    })
  }
  expect([existsSync(join(outside, 'x')), existsSync(join(directory, '.git'))]).toEqual([false, false])
})

test('the same is brought back for a session of this machine (the positive control)', async () => {
  const { service, directory } = await start()
  const id = await service.session()
  service.steps.push(write('a.txt'), says('done'))
  await service.prompt(id, 'go')
  await service.idle(id)
  const [part] = toolsOf(service, id)
  if (part?.state.status !== 'completed') throw new Error('it was not written')
  const place = join(directory, '..', 'outside')
  mkdirSync(place)
  const state = { exists: true, contentBase64: 'eA==', sha256: service.effects.sha256('x') }
  const snapshots = [{ path: join(realpathSync(place), 'x'), absolute: true, before: state, after: { exists: false } }]
  const forged = { ...part, state: { ...part.state, metadata: { ...(part.state.metadata as object), snapshots } } }
  service.store.transact('process', () => service.store.messages.putPart(forged))
  await service.runtime.sessions.undo(id, {})
  expect(readFileSync(join(place, 'x'), 'utf8')).toBe('x')
})

test('what has no tenant of its own is also of the tenant above it, in the same directory and workspace', async () => {
  const { service, directory, caller, id } = await start()
  const { store, runtime } = service
  const own = store.sessions.get(id)
  if (own === undefined) throw new Error('there is no session')
  const { svcTenantId: _, ...local } = own
  const below = (name: string, parentId: string, more: object = {}) => {
    const session = { ...local, id: `ses_${name}`, slug: name, parentId, ...more }
    store.transact('process', () => store.sessions.insert(session))
    return session.id
  }
  const child = below('child', id)
  const grandchild = below('grandchild', child)
  const elsewhere = below('elsewhere', id, { directory: `${directory}/else` })
  const ofWorkspace = below('workspace', id, { workspaceId: 'ws' })
  const ofOther = below('other', id, { svcTenantId: 'other' })
  let deep = id
  for (let at = 0; at < 17; at++) deep = below(`deep_${at}`, deep)
  const tenantsOf = (sessionId: string) => [runtime.sessions.owner(sessionId)?.tenantId, runtime.sessions.owner(sessionId)?.alsoOf]
  expect([child, grandchild, `ses_deep_15`].map(tenantsOf)).toEqual([1, 2, 3].map(() => ['local', ['acme']]))
  expect([elsewhere, ofWorkspace, `ses_deep_16`].map(tenantsOf)).toEqual([1, 2, 3].map(() => ['local', undefined]))
  expect(tenantsOf(ofOther)).toEqual(['other', undefined])
  const owners = createOwners(store)
  for (const [who, expected] of [
    [caller, [true, true, false, false, false]],
    [{ ...caller, tenantId: 'other' }, [false, false, false, false, true]],
    [{ ...caller, directoryPrefixes: ['/elsewhere'] }, [false, false, false, false, false]],
    [TRUSTED_CALLER, [true, true, true, true, false]],
  ] as const)
    expect([child, grandchild, elsewhere, ofWorkspace, ofOther].map((each) => owners.mayUse(who, each))).toEqual(expected)
})
