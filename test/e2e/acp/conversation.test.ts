// Holds subsystems n.
/** An editor holds a conversation with `svc acp`, on the built program. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RequestError } from '@agentclientprotocol/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createGate,
  finish,
  hold,
  type ModelServer,
  reasoning,
  reply,
  type Script,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import type { SessionQueueInfo } from '../../../src/protocol/message/message.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { choosing, type Editor, openEditor } from './editor.js'
import { besideTitles, isOfTitle } from './titles.js'

/** One server and one model for all tests but those that are about a server of the editor's own. */
let house: Scene
let shared: Server
let model: ModelServer
let played: Script = []
let scene: Scene
let editor: Editor | undefined
beforeAll(async () => {
  model = await startModelServer((request) => (typeof played === 'function' ? played(request) : reply(finish('stop'))))
  house = openScene(makePlace())
  house.place.configure(configuration({ permission: { '*': 'allow' } }))
  shared = await house.start()
})
afterAll(async () => {
  await house.close()
  await model.close()
})
beforeEach(() => {
  scene = openScene(makePlace({ 'notes.txt': 'remember the milk\n' }))
})
afterEach(async () => {
  await editor?.close()
  editor = undefined
  await scene.close()
})

const configuration = (rest: object = {}) => withModel(model.url, rest, { attachment: true, modalities: { input: ['text', 'image'] } })

/** `rules`: of the workspace, narrower than those of the installation, which allow everything. */
async function begin(script: Script, rules: object = {}, behaviour?: Parameters<typeof openEditor>[2]): Promise<Editor> {
  played = besideTitles(script)
  if (Object.keys(rules).length > 0) scene.place.write('svc.json', JSON.stringify(rules))
  editor = await openEditor(scene.place, ['--server', shared.url], behaviour)
  return editor
}

/** With a server of its own. */
async function beginAlone(script: Script): Promise<Editor> {
  played = besideTitles(script)
  scene.place.configure(configuration())
  editor = await openEditor(scene.place, [])
  return editor
}

/** Until this prompt waits in the queue: the one before it may pass through that as well. */
const waits = (at: Editor, prompt: string) =>
  at.until(() =>
    at.of('session_info_update').some(({ _meta }) => {
      const { queue } = (_meta?.['svc'] ?? {}) as { queue?: SessionQueueInfo }
      return queue?.items.some(({ text }) => text === prompt) === true
    }),
  )

const asked = () => JSON.stringify(model.requests.findLast((request) => !isOfTitle(request))?.body)

const say = (...words: string[]) => words.map((word) => ({ type: 'text' as const, text: word }))
const open = (at: Editor) => at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })

describe('a conversation', () => {
  test('of text and thoughts ends its turn, and nothing but the protocol is on standard output', async () => {
    const at = await beginAlone([reply(reasoning('Let me see.'), text('Hello ', 'there.'), finish('stop'))])
    const { sessionId, modes, configOptions } = await open(at)
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(expect.arrayContaining(['build', 'plan']))
    expect(modes?.currentModeId).toBe('build')
    expect(configOptions?.map(({ id }) => id)).toEqual(expect.arrayContaining(['mode', 'model']))
    expect(await at.agent.request('session/prompt', { sessionId, prompt: say('hi') })).toMatchObject({
      stopReason: 'end_turn',
      usage: { totalTokens: 120, inputTokens: expect.any(Number) as number },
    })
    expect(at.of('session_info_update')).toContainEqual(
      expect.objectContaining({ _meta: { svc: { status: expect.objectContaining({ type: 'busy' }) as unknown } } }),
    )
    expect(at.said()).toBe('Hello there.')
    expect(at.said('agent_thought_chunk')).toBe('Let me see.')
    expect(at.of('usage_update').at(-1)).toMatchObject({ used: 120, size: expect.any(Number) as number })
    await at.until(() => at.of('available_commands_update').length > 0)
    expect(at.of('available_commands_update')[0]?.availableCommands.map(({ name }) => name)).toContain('compact')
    for (const line of at.stdout().trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  })

  test('asks before a file is written, shows what changes, and takes the answer', async () => {
    const write = toolCall({ id: 'call_1', name: 'write', input: { filePath: 'out.txt', content: 'written\n' } })
    const questions: unknown[] = []
    const ask: NonNullable<Parameters<typeof openEditor>[2]>['ask'] = (params) => {
      questions.push(params)
      return choosing('allow_once')(params)
    }
    const at = await begin(
      [reply(write, finish('tool_calls')), reply(text('Done.'), finish('stop'))],
      { permission: { edit: 'ask' } },
      { ask },
    )
    const { sessionId } = await open(at)
    expect(await at.agent.request('session/prompt', { sessionId, prompt: say('write it') })).toMatchObject({ stopReason: 'end_turn' })
    expect(questions).toMatchObject([
      {
        sessionId,
        toolCall: { toolCallId: 'call_1', kind: 'edit' },
        options: [{ optionId: 'once' }, { optionId: 'always' }, { optionId: 'reject' }],
      },
    ])
    expect(readFileSync(join(scene.place.repo, 'out.txt'), 'utf8')).toBe('written\n')
    const path = join(scene.place.repo, 'out.txt')
    expect(at.of('tool_call')).toMatchObject([{ toolCallId: 'call_1', kind: 'edit' }])
    expect(at.of('tool_call_update').at(-1)).toMatchObject({
      toolCallId: 'call_1',
      status: 'completed',
      locations: [{ path }],
      content: expect.arrayContaining([{ type: 'diff', path, newText: 'written\n' }]) as unknown,
    })
  })

  /** A command that waits until the test has seen the first it prints. */
  async function runWatched(capabilities: object): Promise<{ readonly at: Editor; readonly other: readonly string[] }> {
    const input = { command: 'echo begun; while ! test -e go; do sleep 0.05; done; echo over; exit 3' }
    const bash = toolCall({ id: 'call_b', name: 'bash', input })
    const other: string[] = []
    const at = await begin(
      [reply(bash, finish('tool_calls')), reply(text('Seen.'), finish('stop'))],
      {},
      { capabilities, other: (method) => void other.push(method) },
    )
    const { sessionId } = await open(at)
    const ended = at.agent.request('session/prompt', { sessionId, prompt: say('run it') })
    const shown = () => [...at.of('tool_call'), ...at.of('tool_call_update')].map(({ content, _meta }) => [content, _meta])
    await at.until(() => JSON.stringify(shown()).includes('begun\\n'))
    writeFileSync(join(scene.place.repo, 'go'), '')
    expect(await ended).toMatchObject({ stopReason: 'end_turn' })
    return { at, other }
  }

  test('shows a command as a terminal where an editor shows those, while it runs', async () => {
    const { at } = await runWatched({ _meta: { terminal_output: true } })
    const content = [{ type: 'terminal', terminalId: 'call_b' }]
    const { repo: cwd } = scene.place
    expect(at.of('tool_call')).toMatchObject([{ content, _meta: { terminal_info: { terminal_id: 'call_b', cwd } } }])
    const told = at.of('tool_call_update').map(({ _meta }) => (_meta?.['terminal_output'] as { data: string } | undefined)?.data ?? '')
    expect(told.join('').trimEnd()).toBe('begun\nover')
    const exit = { terminal_exit: { terminal_id: 'call_b', exit_code: 3, signal: null } }
    expect(at.of('tool_call_update').at(-1)).toMatchObject({ status: 'failed', content, _meta: exit })
  })

  test('shows what a command prints as a text elsewhere, while it runs, and runs nothing in the editor', async () => {
    const { at, other } = await runWatched({ terminal: true })
    const said = expect.stringContaining('begun\nover') as string
    const content = [{ type: 'content', content: { type: 'text', text: said } }]
    expect(at.of('tool_call_update').at(-1)).toMatchObject({ toolCallId: 'call_b', status: 'failed', content })
    expect(other).toEqual([])
  })

  test('asks once, whatever many prompts wait for it, and an editor that answers with an error refuses', async () => {
    const gate = createGate()
    const write = toolCall({ id: 'call_1', name: 'write', input: { filePath: 'out.txt', content: 'written\n' } })
    let asks = 0
    const ask = () => {
      asks++
      throw new RequestError(-32603, 'no window is open')
    }
    const at = await begin(
      [reply(text('Well, '), hold(gate), write, finish('tool_calls')), reply(text('then not.'), finish('stop'))],
      { permission: { edit: 'ask' } },
      { ask },
    )
    const { sessionId } = await open(at)
    const first = at.agent.request('session/prompt', { sessionId, prompt: say('write it') })
    await at.until(() => at.said().includes('Well'))
    const second = at.agent.request('session/prompt', { sessionId, prompt: say('now') })
    await waits(at, 'now')
    gate.open()
    expect(await Promise.all([first, second])).toMatchObject([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
    expect(asks).toBe(1)
    expect(existsSync(join(scene.place.repo, 'out.txt'))).toBe(false)
  })

  test('that is refused changes nothing, and the model hears of it', async () => {
    const write = toolCall({ id: 'call_1', name: 'write', input: { filePath: 'out.txt', content: 'written\n' } })
    const at = await begin(
      [reply(write, finish('tool_calls')), reply(text('Then not.'), finish('stop'))],
      { permission: { edit: 'ask' } },
      { ask: choosing('reject_once') },
    )
    const { sessionId } = await open(at)
    await at.agent.request('session/prompt', { sessionId, prompt: say('write it') })
    expect(existsSync(join(scene.place.repo, 'out.txt'))).toBe(false)
    expect(at.of('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
  })

  const question = toolCall({
    id: 'call_q',
    name: 'question',
    input: {
      questions: [
        {
          question: 'Which?',
          header: 'Colour',
          options: [
            { label: 'red', description: 'warm' },
            { label: 'blue', description: 'cold' },
          ],
        },
      ],
    },
  })

  test.each([
    ['by the request of svc', { other: (method: string) => (method === 'session/request_question' ? { answers: [['blue']] } : undefined) }],
    [
      'by a form',
      {
        capabilities: { elicitation: { form: {} } },
        other: (method: string) => (method === 'elicitation/create' ? { action: 'accept', content: { q0: 'blue' } } : undefined),
      },
    ],
    [
      'by choices, where an editor knows nothing else',
      {
        ask: ({ options }: { options: readonly { optionId: string; name: string }[] }) => ({
          outcome: { outcome: 'selected' as const, optionId: options.find(({ name }) => name === 'blue')?.optionId ?? '' },
        }),
      },
    ],
  ])('has questions answered %s', async (_, behaviour) => {
    const at = await begin([reply(question, finish('tool_calls')), reply(text('Blue it is.'), finish('stop'))], {}, behaviour)
    const { sessionId } = await open(at)
    expect(await at.agent.request('session/prompt', { sessionId, prompt: say('ask me') })).toMatchObject({ stopReason: 'end_turn' })
    expect(asked()).toContain('blue')
    expect(at.said()).toContain('Blue it is.')
  })

  test('is cancelled in the middle, and goes on afterwards', async () => {
    const gate = createGate()
    const at = await begin([reply(text('Once upon '), hold(gate), finish('stop')), reply(text('Again.'), finish('stop'))])
    const { sessionId } = await open(at)
    const ended = at.agent.request('session/prompt', { sessionId, prompt: say('a story') })
    await at.until(() => at.said().includes('Once'))
    await at.agent.notify('session/cancel', { sessionId })
    expect(await ended).toMatchObject({ stopReason: 'cancelled' })
    gate.open()
    expect(await at.agent.request('session/prompt', { sessionId, prompt: say('once more') })).toMatchObject({ stopReason: 'end_turn' })
    expect(at.said()).toContain('Again.')
  })

  test('changes who answers, by a mode and by an option', async () => {
    const server = shared.in(scene.place.repo)
    const at = await begin(() => reply(text('ok'), finish('stop')))
    const { sessionId } = await open(at)
    await at.agent.request('session/set_mode', { sessionId, modeId: 'plan' })
    expect(
      at
        .of('config_option_update')
        .at(-1)
        ?.configOptions.find(({ id }) => id === 'mode'),
    ).toMatchObject({ currentValue: 'plan' })
    await at.agent.request('session/prompt', { sessionId, prompt: say('what now?') })
    const changed = await at.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'build' })
    expect(changed.configOptions.find(({ id }) => id === 'mode')).toMatchObject({ currentValue: 'build' })
    await at.agent.request('session/prompt', { sessionId, prompt: say('and now?') })
    const messages = await server.messages(sessionId)
    expect(messages.filter(({ info }) => info.role === 'assistant').map(({ info }) => info.agent)).toEqual(['plan', 'build'])
    await expect(at.agent.request('session/set_mode', { sessionId, modeId: 'nobody' })).rejects.toMatchObject({ code: -32602 })
  })

  test('sends pictures and files along', async () => {
    const at = await begin([reply(text('A dot.'), finish('stop'))])
    const { sessionId } = await open(at)
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await at.agent.request('session/prompt', {
      sessionId,
      prompt: [
        ...say('what is it?'),
        { type: 'image', data, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///tmp/unsaved.txt', text: 'an unsaved line', mimeType: 'text/plain' } },
      ],
    })
    const sent = asked()
    expect(sent).toContain(data)
    expect(sent).toContain('unsaved')
  })

  test('has a linked file as the editor has it, unsaved; what the editor does not read stays a link', async () => {
    const read: unknown[] = []
    const at = await begin(
      [reply(text('Seen.'), finish('stop'))],
      {},
      {
        capabilities: { fs: { readTextFile: true } },
        other: (method, params) => {
          if (method !== 'fs/read_text_file') return undefined
          read.push(params)
          return JSON.stringify(params).includes('notes.txt') ? { content: 'remember the oats, unsaved' } : { content: 17 }
        },
      },
    )
    writeFileSync(join(scene.place.repo, 'other.txt'), 'on the disk\n')
    const { sessionId } = await open(at)
    const link = (name: string) => ({
      type: 'resource_link' as const,
      name,
      uri: pathToFileURL(join(scene.place.repo, name)).href,
      mimeType: 'text/plain',
    })
    await at.agent.request('session/prompt', { sessionId, prompt: [...say('look'), link('notes.txt'), link('other.txt')] })
    expect(read).toMatchObject([{ sessionId, path: join(scene.place.repo, 'notes.txt') }, { sessionId }])
    expect(asked()).toContain('remember the oats, unsaved')
    expect(asked()).not.toContain('the milk')
    expect(asked()).not.toContain('on the disk')
    expect(asked()).toContain(link('other.txt').uri)
  })

  test('that is closed while it is answered is not told any more, and goes on', async () => {
    const gate = createGate()
    const server = shared.in(scene.place.repo)
    const at = await begin([reply(text('Once upon '), hold(gate), text('a time.'), finish('stop'))])
    const { sessionId } = await open(at)
    const stream = await server.stream({ tail: true })
    const ended = at.agent.request('session/prompt', { sessionId, prompt: say('a story') })
    await at.until(() => at.said().includes('Once'))
    await at.agent.request('session/close', { sessionId })
    expect(await ended).toMatchObject({ stopReason: 'cancelled' })
    gate.open()
    await stream.idle(sessionId)
    await open(at)
    expect(at.said()).toBe('Once upon ')
    expect(JSON.stringify(await server.messages(sessionId))).toContain('a time.')
  })

  test('has prompts that join it while it is answered, and nothing of it is told twice', async () => {
    const gate = createGate()
    const at = await begin([
      reply(text('One, '), hold(gate), text('two. '), finish('stop')),
      reply(reasoning('More.'), text('Three.'), finish('stop')),
    ])
    const { sessionId } = await open(at)
    const first = at.agent.request('session/prompt', { sessionId, prompt: say('count') })
    await at.until(() => at.said().includes('One'))
    const second = at.agent.request('session/prompt', { sessionId, prompt: say('on') })
    await waits(at, 'on')
    gate.open()
    expect(await Promise.all([first, second])).toMatchObject([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
    expect(at.said()).toBe('One, two. Three.')
    expect(at.said('agent_thought_chunk')).toBe('More.')
  })

  test('is told again when it is loaded, and is found in the list', async () => {
    const read = toolCall({ id: 'call_r', name: 'read', input: { filePath: 'notes.txt' } })
    const first = await beginAlone([
      reply(text('I look.'), read, finish('tool_calls')),
      reply(text('Milk.'), finish('stop')),
      reply(text('Still milk.'), finish('stop')),
    ])
    const { sessionId } = await open(first)
    await first.agent.request('session/prompt', { sessionId, prompt: say('what should I buy?') })
    expect(await first.close()).toBe(0)
    const again = await openEditor(scene.place, [])
    editor = again
    const listed = await again.agent.request('session/list', { cwd: scene.place.repo })
    expect(listed.sessions).toMatchObject([{ sessionId, cwd: scene.place.repo }])
    await again.agent.request('session/load', { sessionId, cwd: scene.place.repo, mcpServers: [] })
    expect(again.said('user_message_chunk')).toBe('what should I buy?')
    expect(again.said()).toBe('I look.Milk.')
    expect(again.of('tool_call')).toMatchObject([
      { toolCallId: 'call_r', kind: 'read', status: 'completed', locations: [{ path: join(scene.place.repo, 'notes.txt') }] },
    ])
    await again.agent.request('session/prompt', { sessionId, prompt: say('sure?') })
    expect(again.said()).toBe('I look.Milk.Still milk.')
  })
})
