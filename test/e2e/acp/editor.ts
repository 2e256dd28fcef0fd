/** An editor: the client of the official library, with `svc acp` as its agent. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { PATIENCE } from '../../fakes/patience.js'
import type { Place } from '../server/place.js'
import { PROGRAM } from '../server/server.js'

type Update = acp.SessionUpdate
type Ask = (params: acp.RequestPermissionRequest) => acp.RequestPermissionResponse | Promise<acp.RequestPermissionResponse>

export interface Editor {
  readonly agent: acp.ClientContext
  readonly updates: Update[]
  /** Of one kind, in their order. */
  of<Kind extends Update['sessionUpdate']>(kind: Kind): Extract<Update, { sessionUpdate: Kind }>[]
  /** What the agent has said, or was told, in one text. */
  said(kind?: 'agent_message_chunk' | 'user_message_chunk' | 'agent_thought_chunk'): string
  until(isRight: () => boolean): Promise<void>
  readonly process: ChildProcess
  stderr(): string
  /** Everything the agent has written on its standard output. */
  stdout(): string
  close(): Promise<number | null>
  /** As when the editor itself dies: nobody holds the other end of its pipes. Resolves when the agent is gone. */
  die(): Promise<void>
}

interface Behaviour {
  readonly ask?: Ask
  readonly capabilities?: acp.ClientCapabilities
  readonly other?: (method: string, params: unknown) => unknown
}

export async function openEditor(place: Place, flags: readonly string[], behaviour: Behaviour = {}): Promise<Editor> {
  const child = spawn(process.execPath, [PROGRAM, 'acp', ...flags], { cwd: place.repo, env: place.env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  let stdout = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece))
  const read = new Readable({ read: () => undefined })
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString('utf8')
    read.push(piece)
  })
  child.stdout.on('end', () => read.push(null))
  const updates: Update[] = []
  const waiting = new Set<() => void>()
  const cancelled = () => ({ outcome: { outcome: 'cancelled' as const } })
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(read) as ReadableStream<Uint8Array>)
  const connection = acp
    .client({ name: 'editor' })
    .onRequest('session/request_permission', ({ params }) => behaviour.ask?.(params) ?? cancelled())
    .onNotification('session/update', ({ params }) => {
      updates.push(params.update)
      for (const look of waiting) look()
    })
    .onRequest('*', ({ method, params }) => {
      const answer = behaviour.other?.(method, params)
      if (answer === undefined) throw acp.RequestError.methodNotFound(method)
      return answer
    })
    .connect(stream)
  await connection.agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: behaviour.capabilities ?? {} })
  const of: Editor['of'] = (kind) => updates.filter((update) => update.sessionUpdate === kind) as never
  return {
    agent: connection.agent,
    updates,
    of,
    said: (kind = 'agent_message_chunk') =>
      of(kind)
        .map(({ content }) => (content.type === 'text' ? content.text : ''))
        .join(''),
    until: (isRight) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`it did not happen: ${JSON.stringify(updates.slice(-5))} ${stderr}`)), PATIENCE)
        const look = () => {
          if (!isRight()) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    process: child,
    stderr: () => stderr,
    stdout: () => stdout,
    async die() {
      const gone = once(child, 'exit')
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      read.push(null)
      await gone
    },
    async close() {
      const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      child.stdin.end()
      await exited
      return child.exitCode
    },
  }
}

/** Chooses an option by its kind. */
export const choosing =
  (kind: acp.PermissionOptionKind): Ask =>
  ({ options }) => ({ outcome: { outcome: 'selected', optionId: options.find((option) => option.kind === kind)?.optionId ?? '' } })
