// Holds subsystems l.4, sessions-events §10.12.
/** Subagents of an external agent, on the built program with an agent of the official library. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { makePlace } from '../server/place.js'
import { descendants, untilNone } from '../server/processes.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { bundledAgent } from '../../fixtures/agents/bundled.js'

const AGENT = bundledAgent('working')

let scene: Scene
let server: Server
let notes: string
beforeEach(async () => {
  scene = openScene(makePlace())
  notes = join(scene.place.root, 'notes')
  await begin()
})
afterEach(() => scene.close())

async function begin(): Promise<void> {
  server = await scene.start({ SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify([process.execPath, AGENT, notes]) })
}

const create = (body: object = {}) => server.createSession({ externalProvider: 'codex', ...body })
const settled = async (id: string) => expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)
const children = async (id: string) => (await server.get<{ items: Session[] }>(`/v2/sessions/${id}/children`)).items
const asked = async () => server.get<PermissionRequest[]>('/v2/interactions/permissions')
const heard = (): { readonly heard: string; readonly sessionId?: string }[] =>
  existsSync(notes)
    ? readFileSync(notes, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { heard: string })
    : []

async function answer(id: string, ...lines: string[]): Promise<Message> {
  await server.prompt(id, { prompt: lines.join('\n') })
  await settled(id)
  return last(id)
}

async function last(id: string): Promise<Message> {
  const message = (await server.messages(id)).at(-1)
  if (message === undefined) throw new Error('nothing was said')
  return message
}

async function onlyChild(id: string): Promise<Session> {
  await expect.poll(async () => (await children(id)).length).toBe(1)
  const [child] = await children(id)
  if (child === undefined) throw new Error('there is no child')
  return child
}

const textOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const callsOf = ({ parts }: Message) => parts.flatMap((part) => (part.type === 'tool' ? [part] : []))
const said = async (id: string) => (await server.messages(id)).map((message) => [message.info.role, textOf(message)])

describe('a subagent of an external agent', () => {
  test('is a child session with what it says and calls, linked by a call of its parent, which goes on meanwhile', async () => {
    const { id } = await create({ permission: [{ permission: 'bash', pattern: 'rm *', action: 'deny' }] })
    const message = await answer(
      id,
      'say before',
      'sub kid say looking ',
      'sub kid run ls',
      'say meanwhile',
      'sub kid say found',
      'sub kid usage 0.25',
      'sub kid plan Look on',
      'sub other say nothing',
      'rests kid',
      'say after',
      'usage 0.5',
    )
    const made = (await children(id)).toSorted((a, b) => a.title.localeCompare(b.title))
    expect(made).toMatchObject([
      {
        parentId: id,
        title: 'Look at kid',
        agent: 'codex',
        model: { providerId: 'external', id: 'codex' },
        externalAgent: { provider: 'codex', status: 'completed', nested: true },
      },
      { title: 'Look at other', externalAgent: { status: 'error' } },
    ])
    const [kid, other] = made
    const link = (child: Session | undefined, status: string) => ({ sessionId: child?.id, agent: 'codex', status, background: false })
    expect(textOf(message)).toBe('beforemeanwhileafter')
    expect(callsOf(message)).toMatchObject([
      {
        tool: 'task',
        state: {
          status: 'completed',
          title: 'Look at kid',
          input: { prompt: 'Look at kid well' },
          output: 'looking \nfound',
          metadata: link(kid, 'completed'),
        },
      },
      { tool: 'task', state: { status: 'error' }, metadata: link(other, 'error') },
    ])
    expect(await said(kid?.id ?? '')).toEqual([
      ['user', 'Look at kid well'],
      ['assistant', 'looking found'],
    ])
    const work = await last(kid?.id ?? '')
    expect(work.info).toMatchObject({ finish: 'stop', cost: 0.25, tokens: { total: 1200 } })
    expect(callsOf(work)).toMatchObject([{ tool: 'execute', state: { status: 'completed', output: 'ran ls' } }])
    expect(await server.get(`/v2/sessions/${kid?.id}/todos`)).toMatchObject([{ content: 'Look on' }])
    expect((await last(other?.id ?? '')).info).toMatchObject({ error: { message: expect.stringContaining('had not ended') as string } })
    expect(message.info).toMatchObject({ cost: 0.5 })
    for (const text of [JSON.stringify(made), JSON.stringify(await server.messages(id))]) expect(text).not.toContain('"kid"')
    expect(await untilNone(() => descendants(server.pid).filter(({ command }) => command.includes('working.cjs')))).toEqual([])
  })

  test('takes no prompt, neither while it works nor afterwards, nor after a restart', async () => {
    const { id } = await create()
    await server.prompt(id, { prompt: 'sub kid say hm\nwait' })
    const child = await onlyChild(id)
    await expect.poll(() => said(child.id)).toHaveLength(2)
    const refused = async () => {
      for (const noReply of [false, true])
        expect(await server.call('POST', `/v2/sessions/${child.id}/prompt`, { prompt: 'and?', noReply })).toMatchObject({
          status: 422,
          body: { message: expect.stringContaining('takes no prompt') as string },
        })
    }
    await refused()
    await server.call('POST', `/v2/sessions/${id}/abort`)
    await settled(id)
    await refused()
    await server.stop()
    await begin()
    await refused()
    expect(await said(child.id)).toHaveLength(2)
  })

  test('is stopped with its parent, or alone, which its agent is told of', async () => {
    const { id } = await create()
    await server.prompt(id, { prompt: 'sub kid say hm\nsub kid shell exec sleep 600' })
    const first = await onlyChild(id)
    await expect.poll(async () => callsOf(await last(first.id)).length).toBe(1)
    await server.call('POST', `/v2/sessions/${id}/abort`)
    await Promise.all([settled(id), settled(first.id)])
    expect((await last(first.id)).info).toMatchObject({ error: { message: 'Session aborted' } })
    expect(await untilNone(() => descendants(server.pid).filter(({ command }) => command.includes('sleep 600')))).toEqual([])

    const next = await create()
    await server.prompt(next.id, { prompt: 'sub kid say hm\nask make\nsub kid say more\nsay on' })
    const second = await onlyChild(next.id)
    await expect.poll(async () => (await asked()).length).toBe(1)
    expect((await server.call('POST', `/v2/sessions/${second.id}/abort`)).body).toBe(true)
    await settled(second.id)
    await expect.poll(() => heard().findLast(({ heard: what }) => what === 'session/cancel')?.sessionId).toBe('kid')
    for (const { id: request } of await asked())
      await server.call('POST', `/v2/interactions/permissions/${request}/reply`, { reply: 'once' })
    await settled(next.id)
    expect(textOf(await last(next.id))).toContain('on')
    expect(callsOf(await last(next.id))).toMatchObject([
      { tool: 'task', state: { status: 'error' }, metadata: { sessionId: second.id, status: 'stopped' } },
      { tool: 'execute' },
    ])
    expect(textOf(await last(second.id))).toBe('hm')
  })

  test('asks in its own session, by the rules of its parent, and what it has written is undone with it', async () => {
    const { id } = await create({ permission: [{ permission: 'edit', pattern: '*.lock', action: 'deny' }] })
    const at = (name: string) => join(scene.place.repo, name)
    await server.prompt(id, {
      prompt: [`sub kid write ${at('README.md')} changed`, `sub kid write ${at('a.lock')} x`, 'sub kid ask make', 'rests kid'].join('\n'),
    })
    const child = await onlyChild(id)
    await expect.poll(async () => (await asked()).length).toBe(1)
    const [request] = await asked()
    expect(request).toMatchObject({ sessionId: child.id, permission: 'external_agent', patterns: ['execute: make'] })
    await server.call('POST', `/v2/interactions/permissions/${request?.id}/reply`, { reply: 'once' })
    await settled(id)
    expect(textOf(await last(child.id))).toMatch(/^\[written\]\[refused: .*denies edit.*"optionId":"yes"/)
    expect(scene.place.read('README.md')).toBe('changed')
    expect((await server.call('POST', `/v2/sessions/${id}/undo`, {})).status).toBe(200)
    expect(scene.place.read('README.md')).toBe('hello\n')
  })

  test('has subagents of its own, three deep, and works again under another session', async () => {
    const { id } = await create()
    await answer(id, 'sub a sub b sub c sub d say deepest', 'sub a sub b sub c say deep', 'rests a', 'again a', 'sub a say more', 'rests a')
    const [first, second] = (await children(id)).toSorted((a, b) => a.time.created - b.time.created)
    const b = await onlyChild(first?.id ?? '')
    const c = await onlyChild(b.id)
    expect(await children(c.id)).toEqual([])
    expect(textOf(await last(c.id))).toBe('deep')
    expect([first?.title, b.title, c.title]).toEqual(['Look at a', 'Look at b', 'Look at c'])
    expect(textOf(await last(second?.id ?? ''))).toBe('more')
  })

  test('is told by the call that gave it work, where it has no id', async () => {
    const { id } = await create()
    await server.prompt(id, {
      prompt: ['task needle', 'within needle ls', 'asks needle make', 'run pwd', 'answers needle in the hay'].join('\n'),
    })
    const child = await onlyChild(id)
    await expect.poll(async () => (await asked()).length).toBe(1)
    const [request] = await asked()
    expect(request).toMatchObject({ sessionId: child.id, patterns: ['execute: make'] })
    await server.call('POST', `/v2/interactions/permissions/${request?.id}/reply`, { reply: 'once' })
    await settled(id)
    expect(child).toMatchObject({ title: 'Look for needle', parentId: id, externalAgent: { nested: true } })
    expect(await said(child.id)).toEqual([
      ['user', 'Look for needle everywhere'],
      ['assistant', 'in the hay'],
    ])
    expect(callsOf(await last(child.id)).map(({ callId }) => callId)).toEqual(['ls', 'ask-make'])
    expect(callsOf(await last(id))).toMatchObject([
      {
        callId: 'needle',
        tool: 'think',
        state: { status: 'completed', output: 'in the hay', metadata: { sessionId: child.id, status: 'completed' } },
      },
      { callId: 'pwd' },
    ])
  })

  test('of which there are too many is left out, and what was never announced as well', async () => {
    const { id } = await create()
    const message = await answer(id, ...Array.from({ length: 70 }, (_, n) => `sub k${n} say x`), 'say done')
    expect(await children(id)).toHaveLength(64)
    expect(callsOf(message)).toHaveLength(64)
    expect(textOf(message)).toBe('done')
  })

  test('fails with its agent, and keeps what it said', async () => {
    const { id } = await create()
    await answer(id, 'sub kid say half', 'die')
    const child = await onlyChild(id)
    expect((await last(child.id)).info).toMatchObject({ error: { message: expect.stringContaining('had not ended') as string } })
    expect(textOf(await last(child.id))).toBe('half')
  })
})
