/** Speaks with the server this page came from: answers, and the stream of records with its resumption. */
import { after } from './platform.js'
import type { InspectedLines, InspectedMachine, InspectorFrame, InspectorTree } from '../../protocol/system/inspector.js'

export type Status = 'connecting' | 'live' | 'lost' | 'token' | 'off'

export interface Connection {
  tree(): Promise<InspectorTree>
  machines(): Promise<InspectedMachine[]>
  lines(plugin: string): Promise<InspectedLines>
  /** Text of an answer; throws an `Error` with the message of the server. */
  text(path: string): Promise<string>
  /** Asks for a change; throws an `Error` with the message of the server. */
  post(path: string, body?: object): Promise<void>
  /** As `post`: takes something back. */
  remove(path: string): Promise<void>
  /** Sends a merge patch; text of the answer. Throws an `Error` with the message of the server. */
  patch(path: string, body: object): Promise<string>
  /** Tries again with this credential, which is kept in this page alone. */
  authenticate(token: string): void
  close(): void
}

export interface Listener {
  /** `reason`: what the server said of a credential that was given. */
  onStatus(status: Status, reason?: string): void
  onFrame(frame: InspectorFrame): void
  /** The stream has begun, for the first time or anew. */
  onOpen(): void
}

class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Where the operation is, seen from the page at `/v2/inspector`: also behind a proxy that puts a path before both. */
function fromThisPage(path: string): string {
  return path.replace('/v2/', '')
}

const RETRY = 500
const RETRY_MAX = 5000

/** Reads the stream from the cursor on, without one from now. */
export function connect(listener: Listener, since?: number): Connection {
  let token: string | undefined
  let cursor = since
  let delay = RETRY
  let attempt: AbortController | undefined
  let isClosed = false

  async function request(
    path: string,
    { method = 'GET', signal, body }: { method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'; signal?: AbortSignal; body?: object } = {},
  ): Promise<Response> {
    const headers: Record<string, string> = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const response = await fetch(fromThisPage(path), {
      method,
      headers,
      cache: 'no-store',
      ...(signal && { signal }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Refused(response.status, messageOf(await response.text()) ?? `The server answered ${response.status}.`)
    return response
  }

  async function text(path: string): Promise<string> {
    return (await request(path)).text()
  }

  async function json<T>(path: string): Promise<T> {
    // The server answers what its contract says.
    return JSON.parse(await text(path)) as T
  }

  async function read(response: Response): Promise<void> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
      const records = (rest + step.value).split('\n\n')
      rest = records.pop() ?? ''
      for (const record of records) deliver(record)
    }
  }

  function deliver(record: string): void {
    const data = /(?<=^|\n)data: ([^\n]*)/.exec(record)?.[1]
    if (data === undefined) return
    const frame = JSON.parse(data) as InspectorFrame
    cursor = Number(/(?<=^|\n)id: (\d+)(?=\n|$)/.exec(record)?.[1] ?? cursor)
    listener.onFrame(frame)
  }

  async function follow(): Promise<void> {
    if (isClosed) return
    attempt?.abort()
    const own = new AbortController()
    attempt = own
    listener.onStatus('connecting')
    try {
      const response = await request(`/v2/inspector/events${cursor === undefined ? '' : `?since=${cursor}`}`, { signal: own.signal })
      delay = RETRY
      listener.onStatus('live')
      listener.onOpen()
      await read(response)
    } catch (error) {
      if (own.signal.aborted) return
      if (error instanceof Refused && error.status !== 429) return listener.onStatus(...refusal(error, token !== undefined))
    }
    if (own.signal.aborted) return
    listener.onStatus('lost')
    after(delay, () => void follow())
    delay = Math.min(2 * delay, RETRY_MAX)
  }

  void follow()
  return {
    tree: () => json('/v2/inspector/tree'),
    machines: () => json('/v2/inspector/machines'),
    lines: (plugin) => json(`/v2/inspector/lines?plugin=${encodeURIComponent(plugin)}`),
    text,
    async post(path, body) {
      await request(path, { method: 'POST', ...(body && { body }) })
    },
    async remove(path) {
      await request(path, { method: 'DELETE' })
    },
    async patch(path, body) {
      return (await request(path, { method: 'PATCH', body })).text()
    },
    authenticate(given) {
      token = given
      void follow()
    },
    close() {
      isClosed = true
      attempt?.abort()
    },
  }
}

/** What the server says of a token is told only where one was given. */
function refusal({ status, message }: Refused, isGiven: boolean): [Status, string | undefined] {
  if (status !== 401) return ['off', isGiven ? message : undefined]
  return ['token', isGiven ? 'The server does not take this token, or takes it no longer.' : undefined]
}

function messageOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'
      ? value.message
      : undefined
  } catch {
    return undefined
  }
}
