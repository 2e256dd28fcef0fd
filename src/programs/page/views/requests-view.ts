/**
 * What waits for an answer: each with everything that is decided about, and the buttons that decide it. Exactly one answer counts; whoever
 * comes late is told which.
 */
import type { PermissionReply, PermissionRequest, QuestionRequest } from '../../../protocol/interaction/interaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Connection } from '../connection.js'
import { button, h } from '../elements.js'
import { shownLine } from '../shown-text.js'
import { hasCounted, type Outcome, outcomeWords, questionOf, type Sent, widerOf } from './request-words.js'
import type { OnAct } from './workflows-view.js'

const [PERMISSIONS, QUESTIONS] = ['/v2/interactions/permissions', '/v2/interactions/questions']

export interface SessionWays {
  /** Shows the turns of a session. */
  showSession(id: string): void
}

/** Rows of what waits anywhere, the oldest first; throws an `Error` with the reason when there are none to be had. */
export async function requestRows(connection: Connection, ways: SessionWays, on: OnAct): Promise<HTMLElement[]> {
  const read = async <T>(path: string): Promise<T> => JSON.parse(await connection.text(path)) as T
  const [permissions, questions] = await Promise.all([read<PermissionRequest[]>(PERMISSIONS), read<QuestionRequest[]>(QUESTIONS)])
  const all = [...permissions, ...questions].toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
  const sessions = [...new Set(all.map(({ sessionId }) => sessionId))]
  const known = await Promise.all(sessions.map((id) => read<Session>(`/v2/sessions/${encodeURIComponent(id)}`).catch(() => undefined)))
  const titles = new Map(known.flatMap((session) => (session === undefined ? [] : [[session.id, session.title] as const])))

  /** Requests whose answer is under way: a second click is no second answer. */
  const underWay = new Set<string>()
  function answer(path: string, { id }: { readonly id: string }, sent: Sent): void {
    if (underWay.has(id)) return
    underWay.add(id)
    const one = `${path}/${encodeURIComponent(id)}`
    const isDeclined = 'answers' in sent && sent.answers === undefined
    const work = async () => {
      const before = await read<Outcome>(one)
      if (before.state !== 'pending') throw tooLate(before)
      await connection.post(`${one}/${isDeclined ? 'reject' : 'reply'}`, isDeclined ? undefined : sent)
      const after = await read<Outcome>(one)
      if (!hasCounted(after, sent)) throw tooLate(after)
    }
    work()
      .finally(() => underWay.delete(id))
      .then(on.changed, on.failed)
  }

  return all.map((request) => {
    const { id, sessionId } = request
    const [asked, answers] = isPermission(request)
      ? permissionCells(request, (reply) => answer(PERMISSIONS, request, reply))
      : questionCells(request, (given) => answer(QUESTIONS, request, { answers: given }))
    return h(
      'tr',
      { 'data-request': id },
      h('td', {}, ...asked),
      h('td', {}, sessionLink(sessionId, titles.get(sessionId), ways)),
      h('td', {}, ...answers),
    )
  })
}

/** A button with the name of a session; the id is beside it. */
export function sessionLink(id: string, title: string | undefined, { showSession }: SessionWays): HTMLElement {
  const link = button(title === undefined || title === '' ? id : shownLine(title), 'The turns of this session', () => showSession(id))
  link.className = 'link'
  return h('span', { class: 'session-name' }, link, title !== undefined && title !== '' && h('small', {}, id))
}

function tooLate(outcome: Outcome): Error {
  return new Error(`Your answer came too late: it is ${outcomeWords(outcome) ?? 'still open'}.`)
}

type Cells = readonly [HTMLElement[], HTMLElement[]]

function permissionCells(
  { title, permission, patterns, always, metadata, sessionId, sourceSessionID = sessionId, sourceAgent, sourceTitle }: PermissionRequest,
  reply: (sent: PermissionReply) => void,
): Cells {
  const wider = widerOf(metadata)
  const list = (all: readonly string[]) => all.map(shownLine).join(', ')
  const source = (sourceSessionID === sessionId ? [] : [sourceAgent, sourceTitle])
    .flatMap((each) => (each === undefined ? [] : [shownLine(each)]))
    .join(', ')
  return [
    [
      h('b', {}, shownLine(title)),
      h('p', {}, `${shownLine(permission)}: `, ...patterns.flatMap((pattern) => [h('code', {}, shownLine(pattern)), ' '])),
      ...(source === '' ? [] : [h('small', {}, `for ${source}`)]),
    ],
    [
      h(
        'div',
        { class: 'answers' },
        button('Allow once', 'This time alone', () => reply({ reply: 'once' })),
        always.length > 0 && button('Allow always', `Remembers ${list(always)}`, () => reply({ reply: 'always' })),
        wider.length > 0 &&
          button(`Always, also ${list(wider)}`, `Remembers ${list([...always, ...wider])}`, () =>
            reply({ reply: 'always', alwaysPatterns: wider }),
          ),
        button('Refuse', 'It is told that this is not wanted', () => reply({ reply: 'reject' })),
      ),
      ...(always.length === 0 ? [] : [h('small', {}, `always remembers ${list(always)}`)]),
    ],
  ]
}

function questionCells({ id, questions }: QuestionRequest, reply: (answers: string[][] | undefined) => void): Cells {
  const asked = questions.map(questionOf)
  const fields = asked.map(({ text, options, isMultiple }, index) => {
    const own = h('input', {
      type: 'text',
      'aria-label': 'Your own words',
      placeholder: options.length === 0 ? 'an answer' : 'or your own words',
    })
    const choices = options.map(({ label, description }) => {
      const choice = h('input', { type: isMultiple ? 'checkbox' : 'radio', name: `${id}-${index}`, value: label })
      return { choice, line: h('label', {}, choice, ` ${shownLine(label)}`, description !== '' && h('small', {}, shownLine(description))) }
    })
    return {
      element: h('fieldset', { class: 'asked-question' }, h('legend', {}, shownLine(text)), ...choices.map(({ line }) => line), own),
      answer: (): string[] => {
        const words = own.value.trim()
        const chosen = choices.flatMap(({ choice }) => (choice.checked ? [choice.value] : []))
        return words === '' ? chosen : isMultiple ? [...chosen, words] : [words]
      },
    }
  })
  return [
    fields.map(({ element }) => element),
    [
      h(
        'div',
        { class: 'answers' },
        button('Answer', 'Sends what is chosen or typed', () => reply(fields.map(({ answer }) => answer()))),
        button('Decline', 'It goes on without an answer', () => reply(undefined)),
      ),
    ],
  ]
}

function isPermission(request: PermissionRequest | QuestionRequest): request is PermissionRequest {
  return 'permission' in request
}

/** Ids are ordered by time behind their prefix. */
function timeOf({ id }: { readonly id: string }): string {
  return id.slice(id.indexOf('_'))
}
