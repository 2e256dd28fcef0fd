/** Titles made by the model, in the background of a first prompt (sessions-events §2.8). */
import { LIMITS } from '../../protocol/limits.js'
import type { Session } from '../../protocol/session.js'
import type { ResolvedModel } from '../facades.js'
import { wellFormed } from '../well-formed.js'
import type { SessionCore } from './core.js'
import { DEFAULT_TITLES } from './records.js'

const INSTRUCTION =
  'Write a title for the conversation that begins with the following message: at most eight words, no quotes, no final period. Answer with the title only.'
const TIMEOUT = 30_000

export function hasDefaultTitle(title: string): boolean {
  return DEFAULT_TITLES.some((prefix) => title.startsWith(prefix))
}

/** Asks the model for a title and applies it if nobody changed the title meanwhile; any failure leaves the fallback. Never rejects. */
export async function generateTitle(core: SessionCore, session: Session, model: ResolvedModel, text: string): Promise<void> {
  if (model.model.capabilities['titles'] === false) return
  const controller = new AbortController()
  const timer = core.effects.clock.setTimeout(() => controller.abort(), TIMEOUT)
  let answer = ''
  try {
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
      controller.signal,
    )
  } catch (error) {
    core.effects.log.debug('no title was generated', { sessionId: session.id, cause: String(error) })
    return
  } finally {
    core.effects.clock.clearTimeout(timer)
  }
  const title = cleanTitle(wellFormed(answer))
  try {
    if (title !== '') applyTitle(core, session, title)
  } catch (error) {
    core.effects.log.warn('a title could not be stored', { sessionId: session.id, cause: String(error) })
  }
}

function applyTitle(core: SessionCore, session: Session, title: string): void {
  const current = core.store.sessions.get(session.id)
  if (current === undefined || current.title !== session.title) return
  const next: Session = { ...current, title }
  core.journal.commit('process', (tx) => {
    core.store.sessions.update(next)
    tx.emit('session.updated', { sessionID: session.id, info: next })
  })
}

/** Drops think blocks and quotes; the first line, at most `generatedTitleLength` characters. */
export function cleanTitle(answer: string): string {
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
