/** What the calls of the contract test need: a server whose model does what a prompt says, and the states a call is valid in. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '../../../src/protocol/session/session.js'
import {
  createGate,
  finish,
  type Gate,
  hold,
  refusal,
  type Reply,
  reply,
  startModelServer,
  text,
  toolCall,
} from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { toolProgram, writePackage } from '../server/plugins.js'
import { type Answer, openScene, type Scene, type Server } from '../server/server.js'
import { type AnyEvent, openStream, type Stream } from '../server/stream.js'
import { FORMATTER, SCRIPTED_LSP } from './lsp-calls.js'
import { EVERYTHING, THEIRS } from './mcp-calls.js'
import type { Contract } from './document.js'
import { bundledAgent } from '../../fixtures/agents/bundled.js'

export const TOKEN = 'a-token-for-the-contract'

/** Answers what the operation answered; throws when it did not do what it is for. */
export type ValidCall = (world: World, contract: Contract) => Promise<Answer>

export interface World {
  readonly scene: Scene
  readonly server: Server
  readonly stream: Stream
  /** Root sessions of the repository and their activity. */
  readonly catalog: Stream
  /** A prompt that says `hold` is answered once this is opened; each call makes the next one. */
  held(): Gate
  close(): Promise<void>
}

/** Nobody is asked before somebody has signed in there. */
const SIGN_IN = { clientId: 'contract', authorizationUrl: 'http://127.0.0.1:9/authorize', tokenUrl: 'http://127.0.0.1:9/token' }

/** A package that nobody has approved yet. */
export const PLUGIN = 'dev.example.greeter'
const DECLARED = {
  settings: { type: 'object', properties: { tone: { type: 'string' } } },
  secrets: [{ alias: 'token', purpose: 'to ask the greeter', hosts: ['api.example.com'] }],
}
const FILES = {
  ...THEIRS,
  'README.md': 'hello\n',
  'sub/README.md': 'below\n',
  '.svc/skills/sum/SKILL.md': '---\nname: sum\ndescription: Adds.\n---\nAdd the numbers.\n',
}

/** `program` is another build of the server; `env` is for that. */
export async function openWorld(env: Readonly<Record<string, string>> = {}, program?: string): Promise<World> {
  let gate: Gate | undefined
  let busy = true
  const model = await startModelServer((request) => {
    if (request.path === '/v1/scrape') return { body: { success: true, data: { markdown: 'What the page says.' } } }
    const last = request.body?.messages.at(-1)
    const asked = JSON.stringify(request.body?.messages.findLast(({ role }) => role === 'user')?.['content'] ?? '')
    if (last?.role === 'tool') return reply(text('done'), finish('stop'))
    if (asked.includes('please overload') && busy) {
      busy = false
      return refusal(503, 'overloaded', { 'retry-after-ms': '5' })
    }
    if (asked.includes('please fail')) return refusal(400, 'this never works')
    if (asked.includes('please hold') && gate !== undefined) return reply(text('so '), hold(gate), text('far'), finish('stop'))
    return TOOLS.find(([word]) => asked.includes(word))?.[1] ?? reply(text('hel', 'lo'), finish('stop'))
  })
  const scene = openScene(makePlace(FILES), program === undefined ? {} : { program })
  const keyed = withModel(model.url, {
    permission: { '*': 'allow', edit: 'ask' },
    mcp: { everything: EVERYTHING },
    lsp: { it: SCRIPTED_LSP },
    formatter: FORMATTER,
  }) as {
    provider: { test: object }
  }
  scene.place.configure({ ...keyed, provider: { test: { ...keyed.provider.test, signIn: SIGN_IN } } })
  writePackage(scene.place, PLUGIN, { agent: DECLARED, files: { 'plugin.mjs': toolProgram('greet', 'hello') } })
  const close = async () => {
    await scene.close()
    await model.close()
  }
  try {
    const server = await scene.start({
      SVC_AGENT_TOKEN: TOKEN,
      SVC_EXTERNAL_OPENCODE_COMMAND: JSON.stringify([process.execPath, bundledAgent('scripted')]),
      FIRECRAWL_API_KEY: 'a-key',
      FIRECRAWL_API_URL: new URL(model.url).origin,
      ...env,
    })
    const stream = await server.stream({ tail: true })
    const identity = { authorization: `Bearer ${TOKEN}`, 'x-svc-directory': scene.place.repo }
    const catalog = await openStream(server.url, {}, identity, '/v2/session-catalog/events')
    const held = () => (gate = createGate())
    return { scene, server, stream, catalog, held, close }
  } catch (error) {
    await close()
    throw error
  }
}

const call = (name: string, input: object): Reply => reply(toolCall({ id: 'call_1', name, input }), finish('tool_calls'))

const TOOLS: readonly (readonly [string, Reply])[] = [
  ['please write', call('write', { filePath: 'a.txt', content: 'a\n' })],
  ['please ask', call('question', { questions: [{ question: 'Which?', options: [] }] })],
  ['please plan', call('todowrite', { todos: [{ content: 'x', status: 'pending', priority: 'high' }] })],
  ['please delegate', call('task', { description: 'look', prompt: 'look around', subagent_type: 'general' })],
  ['please serve', call('background_task', { description: 'serve', command: 'sleep 60' })],
  ['please err', call('read', { filePath: 'not-there.txt' })],
]

export async function sessionOf({ server }: World): Promise<Session & { readonly at: string }> {
  const session = await server.createSession({ title: 'Contract' })
  return { ...session, at: `/v2/sessions/${session.id}` }
}

/** A session in a directory of its own, where nothing was allowed before. */
export async function sessionElsewhere({ server, scene }: World): Promise<Session & { readonly at: string }> {
  const directory = mkdtempSync(join(scene.place.root, 'elsewhere-'))
  const session = (await server.call('POST', '/v2/sessions', { title: 'Contract' }, { 'x-svc-directory': directory })).body as Session
  return { ...session, at: `/v2/sessions/${session.id}` }
}

/** A session that has answered a prompt and is idle again. */
export async function talked(world: World, prompt = 'hello'): Promise<Session & { readonly at: string }> {
  const session = await sessionOf(world)
  await world.server.prompt(session.id, { prompt })
  await world.server.call('POST', `${session.at}/wait`)
  return session
}

/** A session whose run asks its user, and the id of the request. */
export async function asking(world: World, prompt: 'please write' | 'please ask', of = sessionOf) {
  const session = await of(world)
  await world.server.prompt(session.id, { prompt }, 'prompt-async')
  const type = prompt === 'please write' ? 'permission.asked' : 'question.asked'
  const event = await world.stream.waitFor((each) => each.type === type && requestOf(each).sessionId === session.id)
  return { ...session, requestId: requestOf(event).id }
}

function requestOf(event: AnyEvent): { readonly id: string; readonly sessionId: string } {
  if (event.type !== 'permission.asked' && event.type !== 'question.asked') throw new Error(`${event.type} is no request`)
  return event.data
}
