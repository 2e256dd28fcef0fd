/** The built program as a server: started on a free port, spoken to over HTTP, ended in every way a process can end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session, SessionStatus } from '../../../src/protocol/session/session.js'
import { refuseWarnings } from '../../fixtures/node-warnings.js'
import type { Place } from './place.js'
import { filesWithSecrets, secretsIn } from '../../fixtures/planted.js'
import { descendants, isRunning, mentioning, untilNone } from './processes.js'
import { openStream, type Stream, type StreamQuery } from './stream.js'
import { PATIENCE } from '../../fakes/patience.js'

export const PROGRAM = process.env['SVC_TEST_PROGRAM'] ?? fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined when there is none. */
  readonly body: unknown
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Server {
  readonly url: string
  readonly pid: number
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  stderr(): string
  /** Planted secrets that it answered, streamed or printed, and where. */
  toldSecrets(): string[]
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** `GET` that must answer 200. */
  get<T>(path: string): Promise<T>
  /** With a title, so that the model is not asked for one. */
  createSession(body?: object): Promise<Session>
  /** Submits a prompt that must be admitted. */
  prompt(sessionId: string, body: object, mode?: 'prompt' | 'prompt-async'): Promise<void>
  messages(sessionId: string): Promise<Message[]>
  statuses(): Promise<Record<string, SessionStatus>>
  stream(query?: StreamQuery): Promise<Stream>
  /** The same server, asked about another directory. */
  in(directory: string): Server
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves when the process is gone. */
  stop(): Promise<Ended>
}

/** Another build of the server, or another Node that runs it. */
export interface Build {
  readonly node?: string
  readonly program?: string
}

/** Starts `svc serve` in a place; rejects with what it printed when it does not begin to listen. */
async function startServer(
  place: Place,
  env: Readonly<Record<string, string>> = {},
  port = 0,
  flags: readonly string[] = [],
  { node = process.execPath, program = PROGRAM }: Build = {},
): Promise<Server> {
  const child = spawn(node, [program, 'serve', '--port', String(port), ...flags], {
    cwd: place.root,
    env: { ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
  const url = await new Promise<string>((resolve, reject) => {
    let stdout = ''
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the server did not start in time: ${stderr}`))
    }, PATIENCE)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const match = /^svc agent listening on (http:\/\/\S+)$/m.exec(stdout)
      if (match?.[1] === undefined) return
      clearTimeout(timer)
      resolve(match[1])
    })
    void ended.then(({ code }) => {
      clearTimeout(timer)
      reject(new Error(`the server ended with code ${code}: ${stderr}`))
    })
  })
  const told: string[] = []
  const tell = (by: string, text: string) => {
    if (secretsIn(text).length > 0) told.push(`${by} had ${secretsIn(text).join(', ')}`)
  }
  const token = env['SVC_AGENT_TOKEN']
  const identity: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function callIn(
    directory: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const sent = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body)
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-svc-directory': directory,
        ...identity,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: sent }),
      signal: AbortSignal.timeout(2 * PATIENCE),
    })
    const text = await response.text()
    tell(`${method} ${path}`, text)
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined }
  }

  const about = (directory: string): Server => ({
    ...callsOf((...call) => callIn(directory, ...call)),
    url,
    pid: child.pid ?? 0,
    child,
    ended,
    stderr: () => stderr,
    toldSecrets: () => [...told, ...secretsIn(stderr).map((secret) => `standard error had ${secret}`)],
    stream: (query) => openStream(url, query, identity, '/v2/events', (text) => tell('the stream', text)),
    in: about,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  })
  return about(place.repo)
}

function callsOf(call: Server['call']): Pick<Server, 'call' | 'get' | 'createSession' | 'prompt' | 'messages' | 'statuses'> {
  async function get<T>(path: string): Promise<T> {
    const answer = await call('GET', path)
    mustBe(200, answer, `GET ${path}`)
    return answer.body as T
  }
  return {
    call,
    get,
    async createSession(body = {}) {
      const answer = await call('POST', '/v2/sessions', { title: 'a test', ...body })
      mustBe(200, answer, 'creating a session')
      return answer.body as Session
    },
    async prompt(sessionId, body, mode = 'prompt') {
      const answer = await call('POST', `/v2/sessions/${sessionId}/${mode}`, body)
      mustBe(204, answer, 'a prompt')
    },
    messages: (sessionId) => get<Message[]>(`/v2/sessions/${sessionId}/context`),
    statuses: () => get<Record<string, SessionStatus>>('/v2/sessions/status'),
  }
}

function mustBe(status: number, answer: Answer, what: string): void {
  if (answer.status !== status) throw new Error(`${what} was answered ${answer.status}: ${answer.text}`)
}

/** A place with its servers. `close` ends what is left, and fails when anything of it survives its server, Node has warned, or a planted secret was told. */
export interface Scene {
  readonly place: Place
  start(env?: Readonly<Record<string, string>>, port?: number, flags?: readonly string[]): Promise<Server>
  close(): Promise<void>
}

export function openScene(place: Place, build?: Build): Scene {
  const servers: Server[] = []
  return {
    place,
    async start(env, port, flags) {
      const server = await startServer(place, env, port, flags, build)
      servers.push(server)
      return server
    },
    async close() {
      const theirs = servers.flatMap(({ pid }) => descendants(pid))
      await Promise.all(servers.map((server) => server.kill()))
      const left = await untilNone(() => [...theirs.filter(isRunning), ...mentioning(place.root)])
      const kept = filesWithSecrets(place.state)
      place.remove()
      if (left.length > 0) throw new Error(`processes outlived their server: ${JSON.stringify(left)}`)
      for (const server of servers) refuseWarnings(server.stderr())
      const told = [...servers.flatMap((server) => server.toldSecrets()), ...kept.map((file) => `the state directory has one in ${file}`)]
      if (told.length > 0) throw new Error(`planted secrets were told: ${told.join('; ')}`)
    },
  }
}
