/** Requests as commands print them. The fields of the JSON stay. */
import type { Client } from '../../../published/client/client-types.js'
import type { PermissionRequest, QuestionRequest } from '../../../protocol/interaction/interaction.js'
import { refusalOf } from '../../../protocol/interaction/refusal-of.js'
import { widerPatterns } from '../../../protocol/interaction/wider-patterns.js'
import { escapedText, printable } from '../../../protocol/text/visible-text.js'
import { readQuestions } from '../../answers/question-text.js'
import { shortTitle } from '../session/session-record.js'
import { numbersOf } from './given-numbers.js'

export interface Waiting {
  readonly id: string
  readonly number: number
  readonly type: 'permission' | 'question'
  readonly sessionId: string
  readonly session: string
  readonly title: string
  /** What is asked for, of a permission. */
  readonly permission?: string
  readonly patterns?: readonly string[]
  /** What "always" would remember, and what wider may be remembered beside it. */
  readonly always?: readonly string[]
  readonly wider?: readonly string[]
  readonly questions?: readonly unknown[]
}

/** What waits, of a session and those it delegated to or of all; oldest first. */
export async function waitingRequests(client: Client, session: string | undefined): Promise<readonly Waiting[]> {
  const [permissions, questions] = await Promise.all([client.interactions.permissions.list(), client.interactions.questions.list()])
  const all = [...permissions, ...questions].toSorted(byId)
  const families = await Promise.all(all.map(({ sessionId }) => familyOf(client, sessionId)))
  const shown = all.flatMap((request, index) => {
    const family = families[index] ?? []
    return session === undefined || family.some(({ id }) => id === session) ? [{ request, title: family[0]?.title ?? '' }] : []
  })
  const numbers = numbersOf(shown.map(({ request }) => request.id))
  return shown.map(({ request, title }, index) => waitingOf(request, title, numbers[index] ?? 0))
}

export function waitingOf(request: PermissionRequest | QuestionRequest, session: string, number: number): Waiting {
  const { id, sessionId } = request
  const common = { id, number, sessionId, session, title: refusalOf(request).title }
  if (!isPermission(request)) return { ...common, type: 'question', questions: request.questions }
  const { permission, patterns, always } = request
  return { ...common, type: 'permission', permission, patterns, always, wider: widerPatterns(request) }
}

/** In lines: what is asked, where, and how to answer. */
export function waitingText(waiting: Waiting): string {
  const { number, id, session, sessionId, type, title, permission = '', patterns = [], always = [], wider = [], questions = [] } = waiting
  const list = (all: readonly string[]) => all.map(escapedText).join(', ')
  const head = `${number}  ${escapedText(type === 'permission' ? title : 'a question')}`
  const asked = type === 'permission' ? [`${permission}: ${list(patterns)}`] : readQuestions(questions).flatMap(linesOf)
  const answers =
    type === 'question'
      ? [`svc requests answer ${number} ${questions.length > 1 ? '<answer> …' : '<answer>'}`]
      : [
          [
            `svc requests answer ${number} y`,
            ...(always.length > 0 ? [`a (always: ${list(always)})`] : []),
            ...(wider.length > 0 ? [`w (always, and also ${list(wider)})`] : []),
            'n',
          ].join(' | '),
        ]
  const where = `${id} of ${sessionId} (${printable(shortTitle(session))})`
  return [head, ...[...asked, where, ...answers].map((line) => `   ${line}`)].map((line) => `${line}\n`).join('')
}

/** Without the place to type in. */
function linesOf({ text }: { readonly text: string }): string[] {
  return text.split('\n').filter((line) => line !== '> ')
}

function isPermission(request: PermissionRequest | QuestionRequest): request is PermissionRequest {
  return 'permission' in request
}

function byId({ id: a }: { readonly id: string }, { id: b }: { readonly id: string }): number {
  const [one, other] = [a.slice(a.indexOf('_')), b.slice(b.indexOf('_'))]
  return one < other ? -1 : one > other ? 1 : 0
}

const DEPTH = 16

/** A session and those above it; empty once it is deleted. */
async function familyOf({ sessions }: Client, sessionId: string): Promise<{ readonly id: string; readonly title: string }[]> {
  const family: { readonly id: string; readonly title: string }[] = []
  for (let next: string | undefined = sessionId; next !== undefined && family.length < DEPTH; ) {
    const session: Awaited<ReturnType<typeof sessions.get>> | undefined = await sessions.get({ sessionId: next }).catch(() => undefined)
    if (session === undefined) break
    family.push({ id: session.id, title: session.title })
    next = session.parentId
  }
  return family
}
