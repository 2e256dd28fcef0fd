// Holds subsystems d.6, d.9; decision 42: what agents of hosted callers may, whatever is said to allow more.
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message, ToolPart } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { lackingSandbox, whyNoBubblewrap } from '../server/bubblewrap.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { openStream } from '../server/stream.js'
import { toolParts } from '../server/transcript.js'

interface Call {
  readonly name: string
  readonly input: object
}

const OPERATOR = 'operator-token-1'
const TOKENS = { a: 'token-of-a', b: 'token-of-b' } as const
const noSandbox = whyNoBubblewrap() !== undefined

const textOf = (content: unknown): string =>
  Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('\n') : String(content)

/** Makes the calls that the latest prompt consists of, at once. */
function answer({ body, index }: ModelServerRequest): ReturnType<typeof reply> {
  const messages = body?.messages ?? []
  const prompt = messages.findLast(({ role }) => role === 'user')
  const calls = messages.at(-1)?.role === 'tool' ? [] : callsIn(textOf(prompt?.content))
  if (calls.length === 0) return reply(text('Done.'), finish('stop'))
  const made = calls.flatMap(({ name, input }, at) => toolCall({ index: at, id: `call_${index}_${at}`, name, input }))
  return reply(...made, finish('tool-calls'))
}

function callsIn(prompt: string): readonly Call[] {
  try {
    return JSON.parse(prompt) as Call[]
  } catch {
    return []
  }
}

/** Every tool that touches files, and a target. */
const TOUCHES: Readonly<Record<string, (path: string) => object>> = {
  read: (filePath) => ({ filePath }),
  write: (filePath) => ({ filePath, content: 'changed by write\n' }),
  edit: (filePath) => ({ filePath, oldString: 'mark', newString: 'changed by edit' }),
  apply_patch: (path) => ({ patchText: `*** Begin Patch\n*** Add File: ${path}.new\n+changed by apply_patch\n*** End Patch` }),
  glob: (path) => ({ pattern: '*', path: dirname(path) }),
  grep: (path) => ({ pattern: 'mark', path: dirname(path) }),
  bash: (path) => ({ command: `cat ${path}; ls ${dirname(path)}; echo changed >> ${path}` }),
  sandbox_exec: (path) => ({ command: `cat ${path}; ls ${dirname(path)}; echo changed >> ${path}` }),
}
/** What is never for them, wherever it leads. */
const NEVER: readonly Call[] = [
  { name: 'webfetch', input: { url: 'http://127.0.0.1:9/' } },
  { name: 'websearch', input: { query: 'x' } },
  { name: 'move_chat', input: { directory: '/tmp' } },
  { name: 'memory', input: { action: 'list' } },
]

/** A model of the family that changes files by patches; to others `write` is offered in its place. */
const PATCHING = { model: { providerId: 'test', modelId: 'gpt-5-scripted' } }
const MODELS = Object.fromEntries(['scripted', 'gpt-5-scripted'].map((id) => [id, { name: id, limit: { context: 100_000, output: 4000 } }]))
function withModels(baseURL: string, rest: object): object {
  return withModel(baseURL, {
    ...rest,
    provider: { test: { npm: '@ai-sdk/openai-compatible', auth: 'none', options: { baseURL }, models: MODELS } },
  })
}

const ALLOW_ALL = { '*': 'allow', external_directory: { '*': 'allow' }, bash: { '*': 'allow' } }
const RULES = ['*', 'external_directory', 'bash', 'edit', 'read'].map((permission) => ({ permission, pattern: '*', action: 'allow' }))

/** Every way to say that something is allowed: configuration, session, prompt; answers are always given, and are "always". */
const WAYS: readonly (readonly [string, object, object, object])[] = [
  ['an answer', {}, {}, {}],
  ['rules of the session', {}, { permission: RULES }, {}],
  ['an agent', { agent: { power: { mode: 'primary', permission: ALLOW_ALL } } }, {}, { agent: 'power' }],
  ['the configuration', { permission: { ...ALLOW_ALL, sandbox: 'on' } }, {}, {}],
  ['the bypass', { dangerouslySkipPermissions: true }, {}, {}],
]

/** Makes calls in a new session, and says always to whatever is asked. */
async function workIn(
  server: Server,
  directory: string,
  token: string,
  calls: readonly Call[],
  ofSession = {},
  ofPrompt = {},
): Promise<ToolPart[]> {
  const headers = { authorization: `Bearer ${token}`, 'x-svc-directory': directory }
  const ask = (method: string, path: string, body?: unknown) => server.call(method, path, body, headers)
  const session = (await ask('POST', '/v2/sessions', { title: 'work', ...ofSession })).body as Session
  const stream = await openStream(server.url, { sessionId: session.id, since: 0 }, headers)
  const prompted = await ask('POST', `/v2/sessions/${session.id}/prompt-async`, { prompt: JSON.stringify(calls), ...ofPrompt })
  expect([prompted.status, prompted.text]).toEqual([204, ''])
  for (let from = 0; ; ) {
    const event = await stream.waitFor(
      ({ type, data }) => type === 'permission.asked' || (type === 'session.execution.updated' && data.snapshot.finished),
      from,
    )
    from = stream.events.indexOf(event) + 1
    if (event.type !== 'permission.asked') break
    await ask('POST', `/v2/interactions/permissions/${event.data.id}/reply`, { reply: 'always' })
  }
  stream.close()
  return toolParts((await ask('GET', `/v2/sessions/${session.id}/context`)).body as Message[])
}

/** Has a subagent make the calls. */
async function workInTask(...[server, directory, token, calls, ofSession, ofPrompt]: Parameters<typeof workIn>): Promise<ToolPart[]> {
  const input = { description: 'work', prompt: JSON.stringify(calls), subagent_type: 'general', background: false }
  const [task] = await workIn(server, directory, token, [{ name: 'task', input }], ofSession, ofPrompt)
  expect([task?.tool, task?.state.status]).toEqual(['task', 'completed'])
  if (task?.state.status !== 'completed') throw new Error('it was not delegated')
  const { sessionId } = task.state.metadata as { sessionId: string }
  const headers = { authorization: `Bearer ${token}`, 'x-svc-directory': directory }
  const child = (await server.call('GET', `/v2/sessions/${sessionId}`, undefined, headers)).body as Session
  expect(child).toMatchObject({ svcTenantId: 'a', createdBy: 'hosted:a', directoryPrefixes: [directory], directory })
  return toolParts((await server.call('GET', `/v2/sessions/${sessionId}/context`, undefined, headers)).body as Message[])
}

const outcomeOf = (part: ToolPart | undefined) =>
  JSON.stringify(part?.state, (key, value: unknown) => (key === 'input' ? undefined : value))

/** What the analysis of a line cannot see: a program reads it. */
const reading = (path: string): Call => ({
  name: 'bash',
  input: {
    command: `node -e 'try { console.log(require("fs").readFileSync("${path}", "utf8")) } catch (e) { console.log("cannot", e.code) }'`,
  },
})

test.skipIf(noSandbox).each([
  ['sandbox', { permission: { sandbox: 'on' } }, /cannot ENOENT/],
  ['native', { hosted: { providers: ['test'], execution: 'native' } }, /mark-of-b/],
] as const)(
  `a program that a tenant runs (%s) finds another tenant in no sandbox${lackingSandbox()}`,
  async (_, configuration, expected) => {
    const model = await startModelServer(answer)
    const scene = openScene(makePlace())
    try {
      const { root } = scene.place
      const directories = ['of-a', 'of-b'].map((name) => join(root, name))
      for (const directory of directories) mkdirSync(directory)
      writeFileSync(join(root, 'of-b/file.txt'), 'mark-of-b\n')
      const [own = '', other = ''] = directories
      const tokens = [
        { token: TOKENS.a, tenantId: 'a', directoryPrefixes: [own] },
        { token: TOKENS.b, tenantId: 'b', directoryPrefixes: [other] },
      ]
      writeFileSync(join(root, 'tokens.json'), JSON.stringify({ tokens }), { mode: 0o600 })
      scene.place.configure(withModel(model.url, { hosted: { providers: ['test'] }, ...configuration }))
      const server = await scene.start({ SVC_AGENT_AUTH_CONFIG: join(root, 'tokens.json'), SVC_AGENT_TOKEN: OPERATOR })
      const [part] = await workIn(server, own, TOKENS.a, [reading(join(other, 'file.txt'))])
      expect([part?.state.status, outcomeOf(part)]).toEqual(['completed', expect.stringMatching(expected)])
      const [there] = await workIn(server, other, TOKENS.b, [reading(join(other, 'file.txt'))])
      expect(outcomeOf(there)).toContain('mark-of-b')
    } finally {
      await scene.close()
      await model.close()
    }
  },
)

describe.skipIf(noSandbox).each(WAYS)(`what %s allows${lackingSandbox()}`, (_, configuration, ofSession, ofPrompt) => {
  let scene: Scene
  let model: ModelServer
  let server: Server
  const folder = (name: string): string => {
    mkdirSync(join(scene.place.root, name), { recursive: true })
    return realpathSync(join(scene.place.root, name))
  }
  beforeAll(async () => {
    model = await startModelServer(answer)
    scene = openScene(makePlace())
    const { root } = scene.place
    const tokens = (['a', 'b'] as const).map((name) => ({ token: TOKENS[name], tenantId: name, directoryPrefixes: [folder(`of-${name}`)] }))
    writeFileSync(join(root, 'tokens.json'), JSON.stringify({ tokens }), { mode: 0o600 })
    for (const name of ['of-a', 'of-b', 'outside']) {
      for (const file of ['one', ...Object.keys(TOUCHES)]) writeFileSync(join(folder(name), `${file}.txt`), `mark-${name}\n`)
    }
    symlinkSync(join(root, 'outside'), join(root, 'of-a/link'))
    scene.place.configure(withModels(model.url, { permission: { sandbox: 'on' }, hosted: { providers: ['test'] }, ...configuration }))
    server = await scene.start({ SVC_AGENT_AUTH_CONFIG: join(root, 'tokens.json'), SVC_AGENT_TOKEN: OPERATOR })
  })
  afterAll(async () => {
    await scene.close()
    await model.close()
  })

  const work = (token: string, calls: readonly Call[], more: object = {}) =>
    workIn(server, folder('of-a'), token, calls, ofSession, { ...ofPrompt, ...more })

  const stands = (path: string) => readFileSync(path, 'utf8')
  /** In every place that is not its own. */
  function expectUntouched(): void {
    for (const name of ['outside', 'of-b'])
      for (const tool of Object.keys(TOUCHES)) {
        expect(stands(join(folder(name), `${tool}.txt`))).toBe(`mark-${name}\n`)
        expect(existsSync(join(folder(name), `${tool}.txt.new`))).toBe(false)
      }
  }
  const targetsFor = (tool: string) => ({
    outside: join(folder('outside'), `${tool}.txt`),
    'another tenant': join(folder('of-b'), `${tool}.txt`),
    'a link': join(folder('of-a'), 'link', `${tool}.txt`),
    'a way up': join(folder('of-a'), '..', 'outside', `${tool}.txt`),
  })
  const beyond = Object.entries(TOUCHES).flatMap(([name, inputOf]) =>
    (['outside', 'another tenant', 'a link', 'a way up'] as const).map((where) => ({ name, where, inputOf })),
  )

  test('lets a tenant work in its own directory, and reach nothing else by any tool', async () => {
    const inside = Object.entries(TOUCHES)
      .filter(([name]) => name !== 'apply_patch')
      .map(([name, inputOf]) => ({ name, input: inputOf(join(folder('of-a'), `${name}.txt`)) }))
    const own = await work(TOKENS.a, inside)
    const done = own.map(({ tool, state }) => [tool, state.status])
    expect(done).toEqual(inside.filter(({ name }) => own.some(({ tool }) => tool === name)).map(({ name }) => [name, 'completed']))
    expect(outcomeOf(own.find(({ tool }) => tool === 'bash'))).toContain('mark-of-a')
    expect(stands(join(folder('of-a'), 'bash.txt'))).toContain('changed')

    const calls = beyond.map(({ name, where, inputOf }) => ({ name, input: inputOf(targetsFor(name)[where]) }))
    const parts = await work(TOKENS.a, [...calls, ...NEVER])
    expect(parts).toHaveLength(calls.length + NEVER.length)
    for (const [at, part] of parts.entries()) {
      const about = [part.tool, beyond[at]?.where ?? 'never']
      expect([...about, part.state.status]).toEqual([...about, 'error'])
      expect([...about, /mark-|one\.txt/.test(outcomeOf(part))]).toEqual([...about, false])
    }
    expectUntouched()
  })

  test('lets patches change files in its own directory, and nowhere else', async () => {
    const own = join(folder('of-a'), 'patched')
    const [part] = await work(TOKENS.a, [{ name: 'apply_patch', input: TOUCHES['apply_patch']?.(own) ?? {} }], PATCHING)
    expect([part?.tool, part?.state.status, stands(`${own}.new`)]).toEqual(['apply_patch', 'completed', 'changed by apply_patch\n'])
    const calls = beyond
      .filter(({ name }) => name === 'apply_patch')
      .map(({ name, where, inputOf }) => ({ name, input: inputOf(targetsFor(name)[where]) }))
    const parts = await work(TOKENS.a, calls, PATCHING)
    expect(parts.map(({ tool, state }) => [tool, state.status])).toEqual(calls.map(() => ['apply_patch', 'error']))
    expectUntouched()
  })

  test('lets its subagents work in its own directory, and reach nothing else by any tool', async () => {
    const inside = join(folder('of-a'), 'delegated.txt')
    const [made] = await workInTask(
      server,
      folder('of-a'),
      TOKENS.a,
      [{ name: 'write', input: { filePath: inside, content: 'made\n' } }],
      ofSession,
      ofPrompt,
    )
    expect([made?.state.status, stands(inside)]).toEqual(['completed', 'made\n'])
    const calls = [...beyond.map(({ name, where, inputOf }) => ({ name, input: inputOf(targetsFor(name)[where]) })), ...NEVER]
    const parts = await workInTask(server, folder('of-a'), TOKENS.a, calls, ofSession, ofPrompt)
    expect(parts).toHaveLength(calls.length)
    for (const [at, part] of parts.entries()) {
      const about = [part.tool, beyond[at]?.where ?? 'never']
      expect([...about, part.state.status]).toEqual([...about, 'error'])
      expect([...about, /mark-|one\.txt/.test(outcomeOf(part))]).toEqual([...about, false])
    }
    expectUntouched()
  })

  test('lets a session of the operator read the same places (the positive control)', async () => {
    const reading = beyond.filter(({ name }) => ['read', 'grep', 'glob'].includes(name))
    const parts = await work(
      OPERATOR,
      reading.map(({ name, where, inputOf }) => ({ name, input: inputOf(targetsFor(name)[where]) })),
    )
    for (const [at, part] of parts.entries()) {
      const about = [part.tool, reading[at]?.where]
      expect([...about, part.state.status, /mark-|one\.txt/.test(outcomeOf(part))]).toEqual([...about, 'completed', true])
    }
  })
})

test('without the sandbox, or without a provider that is named for them, agents do not work for hosted callers; natively by a setting alone', async () => {
  const model = await startModelServer(answer)
  const scene = openScene(makePlace())
  try {
    const { root } = scene.place
    const own = join(root, 'of-a')
    mkdirSync(own)
    writeFileSync(join(root, 'tokens.json'), JSON.stringify({ tokens: [{ token: TOKENS.a, tenantId: 'a', directoryPrefixes: [own] }] }), {
      mode: 0o600,
    })
    const env = { SVC_AGENT_AUTH_CONFIG: join(root, 'tokens.json'), SVC_AGENT_TOKEN: OPERATOR }
    const headers = { authorization: `Bearer ${TOKENS.a}`, 'x-svc-directory': own }
    const answers = async (configuration: object) => {
      scene.place.configure(withModel(model.url, configuration))
      const server = await scene.start(env)
      const ask = async (method: string, path: string, body?: unknown) =>
        (await server.call(method, path, body, headers)) as { status: number; body: unknown }
      const session = (await ask('POST', '/v2/sessions', {})).body as Session
      const prompted = await ask('POST', `/v2/sessions/${session.id}/prompt-async`, { prompt: 'hello' })
      const runtime = (await ask('GET', '/v2/runtime')).body as { executionAvailable: boolean }
      const validated = await server.call('GET', '/v2/config/validate', undefined, { authorization: `Bearer ${OPERATOR}` })
      await server.stop()
      const warns = [validated.text.includes('hosted.execution'), server.stderr().includes('hosted.execution: native')]
      return { policy: session.executionPolicy, available: runtime.executionAvailable, status: prompted.status, warns }
    }
    expect(await answers({ hosted: { providers: ['test'] } })).toEqual({
      policy: 'disabled',
      available: false,
      status: 501,
      warns: [false, false],
    })
    expect(await answers({ hosted: { providers: ['test'], execution: 'off' }, permission: { sandbox: 'on' } })).toMatchObject({
      policy: 'disabled',
      status: 501,
    })
    expect(await answers({ hosted: { providers: ['test'], execution: 'native' } })).toEqual({
      policy: 'native',
      available: true,
      status: 204,
      warns: [true, true],
    })
    expect(await answers({ hosted: { execution: 'native' } })).toMatchObject({ policy: 'native', status: 422 })
    const contained = { policy: 'sandbox', available: true, status: 204 }
    expect(noSandbox ? contained : await answers({ hosted: { providers: ['test'] }, permission: { sandbox: 'on' } })).toMatchObject(
      contained,
    )
  } finally {
    await scene.close()
    await model.close()
  }
})
