/** Every required field of a real bundle, left out and of another kind; and bundles that contradict themselves. */
import { expect, it } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import { openStore } from '../../../src/store/open.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { exported, importText, type TestBundle, waiting } from '../../fakes/bundles.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { calls, says, startTestService, type TestService } from '../../fakes/service.js'

type Path = readonly (string | number)[]

/** http-contract §2.5 and §2.7; `*` = each. What is not named here may be left out. */
const REQUIRED: readonly string[] = [
  'bundle',
  'targetWorkspaceRoot',
  'bundle.version',
  'bundle.session',
  'bundle.messages',
  'bundle.queuedPrompts',
  ...['id', 'slug', 'projectId', 'directory', 'title', 'version', 'time', 'time.created', 'time.updated'].map(
    (name) => `bundle.session.${name}`,
  ),
  ...['info', 'parts', 'info.id', 'info.sessionId', 'info.role', 'info.time', 'info.time.created'].map(
    (name) => `bundle.messages.*.${name}`,
  ),
  ...['agent', 'model', 'model.providerId', 'model.modelId'].map((name) => `bundle.messages.0.info.${name}`),
  ...['parentId', 'mode', 'agent', 'path', 'path.cwd', 'path.root', 'cost', 'tokens', 'modelId', 'providerId'].map(
    (name) => `bundle.messages.1.info.${name}`,
  ),
  ...['type', 'id', 'sessionId', 'messageId'].map((name) => `bundle.messages.*.parts.*.${name}`),
  'bundle.messages.0.parts.0.text',
  ...['request', 'delivery', 'request.parts', 'request.noReply', 'request.parts.0.type'].map((name) => `bundle.queuedPrompts.*.${name}`),
]

async function talked(service: TestService): Promise<TestBundle> {
  const id = await service.session({ title: 'Corpus' })
  service.steps.push(calls({ callId: 'a', tool: 'echo', input: { value: 'x' } }), says('An answer.'))
  await service.prompt(id, 'A question')
  await service.idle(id)
  const bundle = await exported(service, id)
  return { ...bundle, queuedPrompts: [waiting('one'), waiting('two')] }
}

const echo = { id: 'echo', invoke: ({ value }: { value: string }) => Promise.resolve({ title: 'Echo', output: value }) }

/** Where a path leads in a value; `*` leads to each. */
function places(value: unknown, [name, ...rest]: readonly string[], at: Path = []): Path[] {
  if (name === undefined) return [at]
  if (typeof value !== 'object' || value === null) throw new Error(`nothing is below ${at.join('.')}`)
  const names = name === '*' ? Object.keys(value) : [name]
  return names.flatMap((each) => {
    const step = Array.isArray(value) ? Number(each) : each
    if (!Object.hasOwn(value, each)) throw new Error(`${[...at, each].join('.')} is not in the bundle`)
    return places((value as Record<string, unknown>)[each], rest, [...at, step])
  })
}

/** A copy with another value at a path, or without it. */
function changed(value: unknown, [step, ...rest]: Path, to: unknown): unknown {
  if (step === undefined) return to
  const copy: Record<string | number, unknown> | unknown[] = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  const next = changed((value as Record<string | number, unknown>)[step], rest, to)
  if (next === undefined && !Array.isArray(copy)) delete copy[step]
  else (copy as Record<string | number, unknown>)[step] = next
  return copy
}

/** A value of another kind. */
const retyped = (value: unknown) => (typeof value === 'string' ? 7 : typeof value === 'object' ? 'text' : { of: 'another kind' })
const at = (value: unknown, path: Path) => path.reduce<unknown>((found, step) => (found as Record<string | number, unknown>)[step], value)

/** What a store holds beside what every import may change. */
function everything(service: TestService) {
  const { store } = service
  const sessions = store.sessions.list({ tenantId: 'local', includeArchived: true, limit: 100 }).map(({ id }) => id)
  const staged = store.sessions.list({ tenantId: ' import', includeArchived: true, limit: 100 })
  return { sessions, staged, events: service.events.length, unfinished: store.messages.unfinished(), last: store.events.last() }
}

it('what is missing or of another kind is refused as malformed, names its place, and leaves nothing', async () => {
  const service = await startTestService({ tools: [echo] })
  const body = { bundle: await talked(service), targetWorkspaceRoot: service.directory }
  const before = everything(service)
  const paths = REQUIRED.flatMap((path) => places(body, path.split('.')))
  expect(paths.length).toBeGreaterThan(80)
  const taken: string[] = []
  for (const path of paths) {
    const name = path.join('.')
    for (const to of [undefined, null, retyped(at(body, path))]) {
      const refused = await importText(service, JSON.stringify(changed(body, path, to))).then(
        () => ({ code: 'taken', message: name }),
        (error: unknown) => error as { code: string; message: string },
      )
      if (refused.code !== 'request.invalid' || !refused.message.includes(name))
        taken.push(`${name} ${JSON.stringify(to)}: ${refused.code} ${refused.message}`)
    }
  }
  expect(taken).toEqual([])
  expect(everything(service)).toEqual(before)
  // The same bundle as it was made is taken.
  const id = await importText(service, JSON.stringify(body))
  expect(service.messages(id)).toHaveLength(body.bundle.messages.length)
  expect(service.runtime.sessions.queue(id).count).toBe(2)
})

it.each([
  ['{}', '"targetWorkspaceRoot" is missing'],
  ['{"bundle":{}}', '"bundle.version" is missing'],
  ['[]', 'The body must be an object, not an array'],
  ['"text"', 'The body must be an object, not a string'],
  ['', 'ends before it is whole'],
  ['{"bundle":{"version":1', 'ends before it is whole'],
  ['{"bundle":{"version":1]}', 'is not JSON'],
  ['{"targetWorkspaceRoot":"/","targetWorkspaceRoot":"/"}', '"targetWorkspaceRoot" is there twice'],
  ['{"targetWorkspaceRoot":"/","wake":true}', '"wake" is no field that is known'],
  ['{"bundle":{"messages":[],"messages":[]}}', '"bundle.messages" is there twice'],
  ['{"bundle":{"artifacts":[{"info":{}}]}}', '"bundle.artifacts.0.info'],
  ['{"bundle":{"artifacts":[{}]}}', '"bundle.artifacts.0.info" is missing'],
  ['{"bundle":{"artifacts":[7]}}', '"bundle.artifacts.0" must be an object, not a number'],
])('the body %s is refused as malformed', async (body, told) => {
  const service = await startTestService()
  await expect(importText(service, body)).rejects.toMatchObject({ code: 'request.invalid', message: expect.stringContaining(told) })
})

const CONTRADICTIONS: Readonly<Record<string, (bundle: TestBundle) => unknown>> = {
  'a message twice': ({ messages, ...rest }) => ({ ...rest, messages: [...messages, messages[0]] }),
  'an answer twice': ({ messages, ...rest }) => ({ ...rest, messages: [...messages, messages[1]] }),
  'an answer without its question': ({ messages, ...rest }) => ({ ...rest, messages: messages.slice(1) }),
  'an answer before its question': ({ messages, ...rest }) => ({ ...rest, messages: messages.toReversed() }),
  'an answer to an answer': (bundle) => changed(bundle, ['messages', 1, 'info', 'parentId'], bundle.messages[1]?.info.id),
  'a part twice': (bundle) => changed(bundle, ['messages', 1, 'parts', 1, 'id'], bundle.messages[1]?.parts[0]?.id),
  'a part of another message': (bundle) => changed(bundle, ['messages', 1, 'parts', 0, 'messageId'], bundle.messages[0]?.info.id),
  'a part of another session': (bundle) => changed(bundle, ['messages', 1, 'parts', 0, 'sessionId'], 'ses_other'),
  'a message of another session': (bundle) => changed(bundle, ['messages', 0, 'info', 'sessionId'], 'ses_other'),
  'messages of another session than it tells': (bundle) => changed(bundle, ['session', 'id'], 'ses_other'),
  'a queued prompt twice': (bundle) => changed(bundle, ['queuedPrompts', 1], bundle.queuedPrompts[0]),
  'a message that still waits': (bundle) => changed(bundle, ['queuedPrompts', 0, 'request', 'messageId'], bundle.messages[0]?.info.id),
  'a version of tomorrow': (bundle) => changed(bundle, ['version'], 2),
}

it.each(Object.entries(CONTRADICTIONS))('a bundle with %s is refused as contradictory, and leaves nothing', async (_what, contradict) => {
  const service = await startTestService({ tools: [echo] })
  const bundle = await talked(service)
  const before = everything(service)
  const body = (value: unknown) => JSON.stringify({ bundle: value, targetWorkspaceRoot: service.directory })
  await expect(importText(service, body(contradict(bundle)))).rejects.toMatchObject({ code: 'request.unprocessable' })
  expect(everything(service)).toEqual(before)
  await importText(service, body(bundle))
})

it('fields that are added pass wherever a bundle has fields', async () => {
  const service = await startTestService({ tools: [echo] })
  const more = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(more)
      : typeof value === 'object' && value !== null
        ? { ...Object.fromEntries(Object.entries(value).map(([name, each]) => [name, more(each)])), 'x-more': { deep: [1] } }
        : value
  const { session, messages, queuedPrompts, ...rest } = await talked(service)
  const { model: _model, permission: _permission, ...plain } = session
  const bundle = {
    ...rest,
    'x-more': [{ messages: 7 }],
    session: more(plain),
    messages: messages.map((message) => {
      const added = more(message) as Message
      return { ...added, info: message.info.role === 'user' ? { ...added.info, model: message.info.model } : added.info }
    }),
    queuedPrompts: queuedPrompts.map((each) => ({ ...(each as object), 'x-more': null })),
  }
  const id = await importText(service, JSON.stringify({ bundle, targetWorkspaceRoot: service.directory }))
  expect(service.messages(id)).toHaveLength(messages.length)
})

it('what says that it is running was interrupted', async () => {
  const service = await startTestService({ tools: [echo] })
  const bundle = await talked(service)
  const message = bundle.messages[1]
  const tool = message?.parts.findIndex(({ type }) => type === 'tool') ?? -1
  const running = { status: 'running', input: { value: 'x' }, time: { start: 5 } }
  const first = message?.parts[0]
  const thought = { ...first, id: 'prt_thought', type: 'reasoning', text: 'hm', time: { start: 5 } }
  const pending = { ...first, id: 'prt_pending', type: 'tool', tool: 'echo', callId: 'b', state: { status: 'pending', input: {}, raw: '' } }
  const parts = [...((changed(message, ['parts', tool, 'state'], running) as Message).parts as unknown[]), thought, pending]
  const id = await importText(
    service,
    JSON.stringify({ bundle: changed(bundle, ['messages', 1, 'parts'], parts), targetWorkspaceRoot: service.directory }),
  )
  const ended = message?.info.role === 'assistant' ? message.info.time.completed : undefined
  expect(service.messages(id)[1]?.parts.filter(({ type }) => type === 'tool' || type === 'reasoning')).toMatchObject([
    { state: { status: 'error', input: { value: 'x' }, time: { start: 5, end: ended } }, metadata: { interrupted: true } },
    { type: 'reasoning', time: { start: 5, end: ended } },
    { state: { status: 'error', input: {} }, metadata: { interrupted: true } },
  ])
})

it('an answer whose question was deleted travels without it', async () => {
  const service = await startTestService({ tools: [echo] })
  const { session } = await talked(service)
  const [question] = service.messages(session.id)
  service.runtime.sessions.deleteMessage(session.id, question?.info.id ?? '')
  const bundle = await exported(service, session.id)
  expect(bundle.messages[0]).toMatchObject({ questionDeleted: true, info: { role: 'assistant' } })
  const id = await importText(service, JSON.stringify({ bundle, targetWorkspaceRoot: service.directory }))
  expect(service.messages(id)).toHaveLength(bundle.messages.length)
})

it('a session that is not there and a directory that is not are errors of an export, and none of a directory is none', async () => {
  const effects = createFakeEffects()
  const service = await startTestService({ effects, store: openStore({ directory: ':memory:', now: () => effects.clock.now() }) })
  const id = await service.session()
  const write = async (request: { workspaceRoot: string; sessionId?: string }, caller = TRUSTED_CALLER) => {
    let text = ''
    for await (const piece of service.runtime.sessions.export(caller, request)) text += piece
    return text
  }
  const { directory } = service
  await expect(write({ workspaceRoot: directory, sessionId: 'ses_none' })).rejects.toMatchObject({ code: 'resource.not_found' })
  await expect(write({ workspaceRoot: effects.root, sessionId: id })).rejects.toMatchObject({ code: 'resource.not_found' })
  await expect(write({ workspaceRoot: `${directory}/nowhere` })).rejects.toMatchObject({ code: 'request.invalid_directory' })
  await expect(write({ workspaceRoot: effects.root }, { ...TRUSTED_CALLER, directoryPrefixes: [directory] })).rejects.toMatchObject({
    code: 'auth.directory_forbidden',
  })
  expect(await write({ workspaceRoot: effects.root })).toBe('{"bundles":[]}')
  expect(JSON.parse(await write({ workspaceRoot: directory, sessionId: id }))).toMatchObject({ bundles: [{ session: { id } }] })
})

it('what is nested very deep, or made of very many parts, is refused before more of it is read', async () => {
  const service = await startTestService({ tools: [echo] })
  const bundle = await talked(service)
  const before = everything(service)
  /** A field nobody knows, of the bundle or of its first message. */
  const withField = (place: 'bundle' | 'message', text: string) => {
    const [first, ...others] = bundle.messages
    const marked = place === 'bundle' ? { ...bundle, odd: 'HERE' } : { ...bundle, messages: [{ ...first, odd: 'HERE' }, ...others] }
    return JSON.stringify({ bundle: marked, targetWorkspaceRoot: service.directory }).replace('"HERE"', () => text)
  }
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  for (const place of ['bundle', 'message'] as const) {
    const takenOf = async (text: string) => {
      let taken = 0
      const pieces = function* () {
        for (let at = 0; at < text.length; at += 65_536) {
          taken++
          yield text.slice(at, at + 65_536)
        }
      }
      const outcome = await importText(service, pieces()).then(
        () => 'imported',
        (error: unknown) => error,
      )
      return { outcome, taken }
    }
    expect((await takenOf(withField(place, nested(LIMITS.bundles.depth - 20)))).outcome, 'control').toBe('imported')
    expect(await takenOf(withField(place, `${'['.repeat(2_000_000)}${'1,'.repeat(1_000_000)}`))).toMatchObject({
      outcome: { code: 'request.invalid', message: expect.stringContaining(`deeper than ${LIMITS.bundles.depth} levels`) as string },
      taken: 1,
    })
    const many = await takenOf(withField(place, `[${'1,'.repeat(4_000_000)}1]`))
    expect(many.outcome).toMatchObject({ code: 'request.unprocessable', message: expect.stringContaining('parts') as string })
    expect(many.taken).toBeLessThan(20)
  }
  const { sessions } = everything(service)
  expect([sessions.length, everything(service).staged], 'the two controls').toEqual([before.sessions.length + 2, before.staged])
})
