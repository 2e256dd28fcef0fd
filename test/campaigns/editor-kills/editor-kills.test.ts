// Holds subsystems n.
/**
 * An editor holds conversations with `svc acp` while the server, the bridge, both, or the editor itself is killed at instants drawn from the seed:
 * every prompt that was answered is in its session once, none is run twice, nothing stays open or runs on, and the conversation goes on in the same
 * session. What is killed with a server of its own takes its commands along.
 */
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { SessionPage } from '../../../src/protocol/session/session.js'
import { choosing, type Editor, openEditor } from '../../e2e/acp/editor.js'
import { besideTitles, isOfTitle } from '../../e2e/acp/titles.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { descendants, isRunning, mentioning, untilNone } from '../../e2e/server/processes.js'
import { openScene, type Scene, type Server } from '../../e2e/server/server.js'
import { PATIENCE } from '../../fakes/patience.js'
import { finish, type ModelServer, type ModelServerRequest, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { SEED, times } from '../scale.js'

const KILLS = times(4, 35)
/** Of bridges that have a server of their own. */
const OWN_KILLS = times(2, 15)
/** In the arguments of the commands. */
const MARK = '00470816'
const WORKS = ['say', 'command', 'write', 'question'] as const
const VICTIMS = ['server', 'bridge', 'both', 'editor'] as const

let scene: Scene
let model: ModelServer
let editor: Editor | undefined
afterEach(async () => {
  await editor?.close()
  editor = undefined
  await scene.close()
  await model.close()
})

function answer({ body }: ModelServerRequest): ReturnType<typeof reply> {
  const last = body?.messages.at(-1)
  const asked = JSON.stringify(last?.['content'] ?? '')
  const [, work, round = ''] = last?.role === 'user' ? (/(\w+) of (r\d+)/.exec(asked) ?? []) : []
  switch (work) {
    case 'command': {
      const command = `echo ran >> ran-${round}.txt; sleep 0.1${MARK}; sleep 0.1${MARK}`
      return reply(text('I run it.'), toolCall({ id: 'call_c', name: 'bash', input: { command } }), finish('tool_calls'))
    }
    case 'write':
      return reply(toolCall({ id: 'call_w', name: 'write', input: { filePath: `made-${round}.txt`, content: 'x' } }), finish('tool_calls'))
    case 'question': {
      const options = ['red', 'blue'].map((label) => ({ label, description: '' }))
      const input = { questions: [{ question: 'Which?', header: 'Colour', options }] }
      return reply(toolCall({ id: 'call_q', name: 'question', input }), finish('tool_calls'))
    }
    default:
      return reply(...'Well then, so it is, and so it stays.'.split(/(?= )/).map((word) => text(word)), finish('stop'))
  }
}

/** The person in front of the editor: answers at once, or sits there. */
function person() {
  const self = { sits: false }
  const never = new Promise<never>(() => undefined)
  const behaviour: Parameters<typeof openEditor>[2] = {
    ask: (params) => (self.sits ? never : choosing('allow_once')(params)),
    other: (method) => (method !== 'session/request_question' ? undefined : self.sits ? never : { answers: [['blue']] }),
  }
  return { self, behaviour }
}

const permission = { '*': 'allow', edit: { '*': 'ask', 'ran-*': 'allow' } }

async function begin(): Promise<void> {
  model = await startModelServer(besideTitles(answer))
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission }))
}

interface Sent {
  readonly sessionId: string
  readonly text: string
  /** It was answered with a reason why it stopped. */
  isAnswered: boolean
  /** Why it was answered with an error. */
  failure?: string
}

/** Resolves once its request is settled, however. */
function prompt(at: Editor, sent: Sent): Promise<void> {
  const { sessionId } = sent
  return at.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: sent.text }] }).then(
    () => void (sent.isAnswered = true),
    (error: unknown) => void (sent.failure = String(error)),
  )
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(20)) if (await isSo()) return
  throw new Error(`in vain: ${what}`)
}

const pick = <Item>(items: readonly Item[], random: () => number): Item => items[Math.floor(random() * items.length)] as Item

/** Kills at an instant while prompts are under way, and answers once each of their requests is settled. */
async function killAmong(at: Editor, sent: readonly Sent[], wait: number, kill: () => Promise<void>): Promise<void> {
  const settled = sent.map((each) => prompt(at, each))
  await delay(wait)
  await kill()
  await Promise.all(settled)
}

async function end({ process: child }: Editor): Promise<void> {
  const theirs = descendants(child.pid ?? 0)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
  expect(await untilNone(() => [...theirs.filter(isRunning), ...mentioning(MARK)])).toEqual([])
}

/** Everything that was sent, as it stands in the end. */
async function expectOnce(server: Server, all: readonly Sent[]): Promise<void> {
  const told = new Map<string, readonly Message[]>()
  for (const { sessionId } of all) if (!told.has(sessionId)) told.set(sessionId, await server.messages(sessionId))
  for (const { sessionId, text: said, isAnswered } of all) {
    const messages = told.get(sessionId) ?? []
    const times = messages.filter(({ info, parts }) => info.role === 'user' && JSON.stringify(parts).includes(said)).length
    expect([said, isAnswered, times]).toEqual([said, isAnswered, isAnswered ? 1 : Math.min(times, 1)])
  }
  const open = [...told.values()]
    .flat()
    .flatMap(({ parts }) => parts.filter((part) => part.type === 'tool' && !['completed', 'error'].includes(part.state.status)))
  expect(open).toEqual([])
  const asked = new Map<string, number>()
  for (const request of model.requests) {
    const last = isOfTitle(request) ? undefined : request.body?.messages.at(-1)
    const work = last?.role === 'user' ? /\w+ of r\d+ \(\d\)/.exec(JSON.stringify(last['content']))?.[0] : undefined
    if (work !== undefined) asked.set(work, (asked.get(work) ?? 0) + 1)
  }
  expect([...asked].filter(([, often]) => often > 1)).toEqual([])
  const ran = readdirSync(scene.place.repo).filter((name) => name.startsWith('ran-'))
  expect(ran.filter((name) => scene.place.read(name) !== 'ran\n')).toEqual([])
}

async function expectNothingOpen(server: Server): Promise<void> {
  await until('no session is busy', async () => Object.keys(await server.statuses()).length === 0)
  for (const kind of ['permissions', 'questions']) expect([kind, await server.get(`/v2/interactions/${kind}`)]).toEqual([kind, []])
  expect(await untilNone(() => mentioning(MARK))).toEqual([])
}

test(
  `an editor goes on in its session over ${KILLS} kills of the server, the bridge and itself (seed ${SEED})`,
  async () => {
    const random = generator(SEED)
    await begin()
    let server = await scene.start()
    const port = Number(new URL(server.url).port)
    const { self, behaviour } = person()
    const open = () => openEditor(scene.place, ['--server', server.url], behaviour)
    let at = await open()
    editor = at
    const all: Sent[] = []
    const seen = new Map<string, number>()
    const { sessionId: first } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
    const from = performance.now()
    await prompt(at, { sessionId: first, text: 'command of r0 (0)', isAnswered: false })
    const whole = performance.now() - from

    for (let round = 1; round <= KILLS; round++) {
      const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
      const victim = pick(VICTIMS, random)
      const works = [pick(WORKS, random), ...(random() < 0.5 ? ['say'] : [])]
      self.sits = random() < 0.5
      const sent = works.map((work, index): Sent => ({ sessionId, text: `${work} of r${round} (${index})`, isAnswered: false }))
      const bridge = at
      await killAmong(at, sent, random() * whole, async () => {
        if (victim === 'bridge' || victim === 'both') await end(bridge)
        if (victim === 'editor') await bridge.die()
        if (victim === 'server' || victim === 'both') {
          await server.kill()
          server = await scene.start({}, port)
        }
      })
      self.sits = false
      if (victim !== 'server') {
        at = await open()
        editor = at
        await at.agent.request('session/load', { sessionId, cwd: scene.place.repo, mcpServers: [] })
      }
      const after: Sent = { sessionId, text: `say of r${round} (9)`, isAnswered: false }
      await prompt(at, after)
      expect([round, victim, works, after.isAnswered]).toEqual([round, victim, works, true])
      await expectNothingOpen(server)
      all.push(...sent, after)
      // A server that comes back is a pause: no request of the editor fails by it.
      expect(victim === 'server' ? sent.flatMap(({ failure }) => failure ?? []) : []).toEqual([])
      const what = `${victim} ${sent.filter(({ isAnswered }) => isAnswered).length}/${sent.length} answered`
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }
    await expectOnce(server, all)
    process.stdout.write(`${JSON.stringify({ seed: SEED, kills: KILLS, whole: Math.round(whole), seen: Object.fromEntries(seen) })}\n`)
  },
  PATIENCE * (3 + KILLS),
)

test(
  `a bridge with a server of its own takes everything along over ${OWN_KILLS} kills (seed ${SEED})`,
  async () => {
    const random = generator(SEED + 1)
    await begin()
    const { self, behaviour } = person()
    const all: Sent[] = []
    for (let round = 1; round <= OWN_KILLS; round++) {
      const at = await openEditor(scene.place, [], behaviour)
      editor = at
      const { sessionId } = await at.agent.request('session/new', { cwd: scene.place.repo, mcpServers: [] })
      self.sits = random() < 0.3
      const sent: Sent = { sessionId, text: `${pick(['command', 'command', 'write'], random)} of r${round} (0)`, isAnswered: false }
      await killAmong(at, [sent], random() * 1500, () => (random() < 0.7 ? end(at) : at.die()))
      self.sits = false
      expect(await untilNone(() => mentioning(scene.place.root))).toEqual([])
      const again = await openEditor(scene.place, [], behaviour)
      editor = again
      await again.agent.request('session/load', { sessionId, cwd: scene.place.repo, mcpServers: [] })
      const after: Sent = { sessionId, text: `say of r${round} (9)`, isAnswered: false }
      await prompt(again, after)
      expect([round, after.isAnswered]).toEqual([round, true])
      all.push(sent, after)
      expect(await again.close()).toBe(0)
    }
    const server = await scene.start()
    await expectNothingOpen(server)
    await expectOnce(server, all)
    expect((await server.get<SessionPage>('/v2/sessions?limit=200')).items).toHaveLength(OWN_KILLS)
  },
  PATIENCE * (3 + OWN_KILLS),
)

/** Numbers from 0 to 1 that a seed makes again. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
