/** Titles made by the model, after the answer to a first prompt (sessions-events §2.8). */
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { QueuedPrompt } from '../../../protocol/message/queued-prompt.js'
import type { Session } from '../../../protocol/session/session.js'
import type { ResolvedModel } from '../../../ports/facades.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import type { Rows, Sources } from '../state/core.js'
import { hasDefaultTitle } from '../../../protocol/session/default-title.js'

const INSTRUCTION =
  'Write a title for the conversation that begins with the following message: at most eight words, no quotes, no final period. Answer with the title only.'

/** Only the first prompt of a session that nobody named, and that is no child, asks for one. */
export function wantsTitle({ title, parentId }: Session, { model }: ResolvedModel, prompt: QueuedPrompt): boolean {
  if (prompt.noReply) return false
  if (parentId !== undefined || !hasDefaultTitle(title) || model.capabilities['titles'] === false) return false
  return titleText(prompt).trim() !== ''
}

export function titleText(prompt: QueuedPrompt): string {
  return prompt.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** What a title is made of. */
export interface TitleRequest {
  readonly session: Session
  readonly model: ResolvedModel
  /** The first prompt. */
  readonly text: string
}

/** Asks the model for a title and records it; false = it has none to give, or somebody has changed the title meanwhile. */
export async function makeTitle(core: Rows & Sources, request: TitleRequest, signal: AbortSignal): Promise<boolean> {
  if (await isSwitchedOff(core, request.session.directory)) return false
  const answer = await askModel({ ...request, model: await titleModel(core, request) }, signal)
  signal.throwIfAborted()
  const title = cleanTitle(wellFormed(answer))
  return title !== '' && recordTitle(core, request.session, title)
}

/** `agent.title.disable`, as peers spell it: no model is asked, and the conversation keeps the title it has. */
async function isSwitchedOff({ configs }: Sources, directory: string): Promise<boolean> {
  const { agent } = await configs.load(directory)
  const title = isRecord(agent) ? agent['title'] : undefined
  return isRecord(title) && title['disable'] === true
}

/** Config `smallModel` where it can be used, else the model of the conversation. */
async function titleModel({ providers }: Sources, { session, model }: TitleRequest): Promise<ResolvedModel> {
  const small = await providers.smallModel(session.directory, session.workspaceId, session.id)
  return small === undefined ? model : providers.resolve(session.directory, small, session.workspaceId, session.id)
}

async function askModel({ session, model, text }: TitleRequest, signal: AbortSignal): Promise<string> {
  let answer = ''
  await model.adapter.generate(
    {
      sessionId: session.id,
      directory: session.directory,
      model: model.ref,
      messages: [
        { role: 'system', text: INSTRUCTION },
        { role: 'user', content: [{ type: 'text', text }] },
      ],
      tools: [],
      maxOutputTokens: 64,
      options: model.options,
    },
    (part) => {
      if (part.type === 'text' && answer.length < 4096) answer += part.delta
    },
    signal,
  )
  return answer
}

function recordTitle(core: Rows, session: Session, title: string): boolean {
  const current = core.store.sessions.get(session.id)
  if (current === undefined || current.title !== session.title) return false
  const next: Session = { ...current, title }
  core.journal.commit('process', (tx) => {
    tx.emitSession('session.updated', core.store.sessions.update(next))
  })
  return true
}

/** Drops think blocks and quotes; the first line, at most `generatedTitleLength` characters. */
function cleanTitle(answer: string): string {
  const line = answer
    .replaceAll(/<think>[\s\S]*?(<\/think>|$)/g, '')
    .split('\n')
    .map((candidate) =>
      candidate
        .trim()
        .replaceAll(/^["'`]+|["'`]+$/g, '')
        .trim(),
    )
    .find((candidate) => candidate !== '')
  return [...(line ?? '')].slice(0, LIMITS.sessions.generatedTitleLength).join('')
}
