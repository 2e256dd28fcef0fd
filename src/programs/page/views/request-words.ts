/** Requests, answers and decisions in the words of the command line, for which a test stands. Pure. */
import type { ExplainedNeed, Explanation } from '../../../protocol/interaction/explanation.js'
import type { PermissionOutcome, PermissionReply, QuestionOutcome, RememberedAnswer } from '../../../protocol/interaction/interaction.js'
import { local } from '../elements.js'
import { shownLine } from '../shown-text.js'

export type Outcome = PermissionOutcome | QuestionOutcome
export type Sent = PermissionReply | { readonly answers: readonly (readonly string[])[] | undefined }

const WITHDRAWN: Readonly<Record<string, string>> = {
  timeout: 'nobody answered in time, so it was refused',
  cancelled: 'its run has ended before anybody answered',
  restart: 'the server was started anew before anybody answered',
}

const REPLIES = { once: 'allowed once', always: 'allowed always', reject: 'refused', cancelled: 'withdrawn' } as const

/** `allowed once, by local at 14:03:20`; undefined while nobody has answered. */
export function outcomeWords(outcome: Outcome): string | undefined {
  if (outcome.state === 'pending') return undefined
  const { by, settled, reason } = outcome
  const when = settled === undefined ? '' : ` at ${local(settled).slice(11)}`
  if (outcome.state === 'withdrawn') return `${WITHDRAWN[reason ?? ''] ?? 'nobody waits for it any more'}${when}`
  return `${answerWords(outcome)}${by === undefined ? '' : `, by ${shownLine(by)}`}${when}`
}

function answerWords(outcome: Outcome): string {
  if (isQuestion(outcome)) {
    const { answers } = outcome
    return answers === undefined ? 'declined' : `answered: ${answers.map((each) => each.map(shownLine).join(', ') || '-').join('; ')}`
  }
  const { reply = 'reject', message } = outcome
  return `${REPLIES[reply]}${message === undefined ? '' : ` (${shownLine(message)})`}`
}

function isQuestion(outcome: Outcome): outcome is QuestionOutcome {
  return 'questions' in outcome.request
}

/** Whether what was sent is what counted; of two that say the same it does not matter which was first. */
export function hasCounted(outcome: Outcome, sent: Sent): boolean {
  if (outcome.state !== 'answered') return false
  if ('answers' in sent) return isQuestion(outcome) && JSON.stringify(outcome.answers) === JSON.stringify(sent.answers)
  return !isQuestion(outcome) && outcome.reply === sent.reply && outcome.message === sent.message
}

export interface AskedQuestion {
  readonly text: string
  readonly options: readonly { readonly label: string; readonly description: string }[]
  readonly isMultiple: boolean
}

/** A question of an agent; one of unknown shape is its JSON. */
export function questionOf(value: unknown): AskedQuestion {
  const text = textIn(value, 'question')
  if (text === undefined) return { text: JSON.stringify(value), options: [], isMultiple: false }
  const listed = member(value, 'options')
  const options = Array.isArray(listed) ? listed : []
  return {
    text,
    options: options.flatMap((option: unknown) => {
      const label = textIn(option, 'label')
      return label === undefined ? [] : [{ label, description: textIn(option, 'description') ?? '' }]
    }),
    isMultiple: member(value, 'multiple') === true,
  }
}

/** Wider patterns that an answer of `always` may name. */
export function widerOf(metadata: unknown): string[] {
  const listed = member(metadata, 'alwaysPatterns')
  return Array.isArray(listed) ? listed.filter((each): each is string => typeof each === 'string') : []
}

const DECIDED = { allow: 'allowed', ask: 'asked', deny: 'denied' } as const

/** The decision, and a line for each need with what decides it. */
export function explanationLines(asked: string, { decision, agent, needs }: Explanation): readonly [string, ...string[]] {
  const head = `${DECIDED[decision]}: ${shownLine(asked)} (agent ${shownLine(agent)})`
  if (needs.length === 0) return [head, 'it needs no permission']
  return [head, ...needs.flatMap(needLines)]
}

function needLines({ permission, patterns, explicit }: ExplainedNeed): string[] {
  return patterns.map((each) => `${DECIDED[each.decision]}  ${shownLine(`${permission}: ${each.pattern}`)}, by ${reasonOf(each, explicit)}`)
}

function reasonOf({ by, rule, answer }: ExplainedNeed['patterns'][number], explicit = ''): string {
  const said = rule === null ? '' : ` ${shownLine(`${rule.permission}: ${rule.pattern} -> ${rule.action}`)}`
  switch (by) {
    case 'rule':
      return `the rule${said}`
    case 'project-rule':
      return `the rule${said} of the workspace`
    case 'workflow-rule':
      return `the rule${said} of the workflow`
    case 'delegator':
      return `a rule of the session that delegated to it:${said}`
    case 'answer':
      return `the answer ${answer?.id.slice(0, 12) ?? ''} that ${originWords(answer)}`
    case 'explicit':
      return `what it does, each time anew: ${shownLine(explicit)}`
    case 'harmless':
      return 'the sandbox, in which it does no harm'
    case 'bypass':
      return 'dangerouslySkipPermissions'
    case 'floor':
      return 'the floor of hosted sessions'
    case 'default':
      return 'no rule, so it is asked'
  }
}

/** `ada gave on 2026-11-22 09:30`. */
export function originWords(answer: Pick<RememberedAnswer, 'by' | 'remembered'> = {}): string {
  const { by = 'somebody', remembered } = answer
  return `${shownLine(by)} gave${remembered === undefined ? '' : ` on ${local(remembered).slice(0, 16)}`}`
}

function textIn(value: unknown, name: string): string | undefined {
  const text = member(value, name)
  return typeof text === 'string' ? text : undefined
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}
