/** Sessions on the way between servers, in one process. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Message } from '../../src/protocol/message/message.js'
import type { Session } from '../../src/protocol/session/session.js'
import type { TestService } from './service.js'

export interface TestBundle {
  readonly version: number
  readonly workspaceRoot?: string
  readonly session: Session
  readonly messages: readonly Message[]
  readonly queuedPrompts: readonly unknown[]
}

/** The bundle of a session, as it is exported. */
export async function exported({ runtime, directory }: TestService, sessionId: string): Promise<TestBundle> {
  let text = ''
  for await (const piece of runtime.sessions.export(TRUSTED_CALLER, { workspaceRoot: directory, sessionId })) text += piece
  const [bundle] = (JSON.parse(text) as { readonly bundles: TestBundle[] }).bundles
  if (bundle === undefined) throw new Error('nothing was exported')
  return bundle
}

/** Imports a body, or what it is made of, piece by piece; answers the id of the session. */
export function importText({ runtime }: TestService, body: string | Iterable<string>): Promise<string> {
  const chunks = (async function* () {
    for (const piece of typeof body === 'string' ? [body] : body) yield Buffer.from(piece)
  })()
  return runtime.sessions.import(TRUSTED_CALLER, chunks, (path) => Promise.resolve(path))
}

export function imported(service: TestService, bundle: unknown): Promise<string> {
  return importText(service, JSON.stringify({ bundle, targetWorkspaceRoot: service.directory }))
}

/** A prompt that waits, as a bundle has it. */
export const waiting = (text: string, more: object = {}) => ({
  delivery: 'queue',
  request: { messageId: `msg_of_${text.replaceAll(' ', '_')}`, noReply: false, parts: [{ type: 'text', text }], ...more },
})
