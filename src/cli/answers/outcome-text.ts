/** What became of a request, in the words of people; and whether an answer was the one that counted (choice 40). */
import type { PermissionOutcome, PermissionReply, QuestionOutcome } from '../../protocol/interaction/interaction.js'
import { escapedText, printable } from '../../protocol/text/visible-text.js'

export type Outcome = PermissionOutcome | QuestionOutcome

/** `allowed once, by local at 14:03:20`; undefined while nobody has answered. */
export function outcomeText(outcome: Outcome): string | undefined {
  if (outcome.state === 'pending') return undefined
  const { by, settled, reason } = outcome
  const when = settled === undefined ? '' : ` at ${new Date(settled).toTimeString().slice(0, 8)}`
  if (outcome.state === 'withdrawn') return `${WITHDRAWN[reason ?? ''] ?? 'nobody waits for it any more'}${when}`
  return `${answerText(outcome)}${by === undefined ? '' : `, by ${printable(by)}`}${when}`
}

const WITHDRAWN: Readonly<Record<string, string>> = {
  timeout: 'nobody answered in time, so it was refused',
  cancelled: 'its run has ended before anybody answered',
  restart: 'the server was started anew before anybody answered',
}

const REPLIES = { once: 'allowed once', always: 'allowed always', reject: 'refused', cancelled: 'withdrawn' } as const

function answerText(outcome: Outcome): string {
  if (isQuestion(outcome)) {
    const { answers } = outcome
    return answers === undefined ? 'declined' : `answered: ${answers.map((each) => each.map(escapedText).join(', ') || '-').join('; ')}`
  }
  const { reply = 'reject', message } = outcome
  return `${REPLIES[reply]}${message === undefined ? '' : ` (${escapedText(message)})`}`
}

function isQuestion(outcome: Outcome): outcome is QuestionOutcome {
  return 'questions' in outcome.request
}

/** Whether what was sent is what counted; of two that say the same it does not matter which was first. */
export function hasCounted(
  outcome: Outcome,
  sent: PermissionReply | { readonly answers: readonly (readonly string[])[] | undefined },
): boolean {
  if (outcome.state !== 'answered') return false
  if ('answers' in sent) return isQuestion(outcome) && JSON.stringify(outcome.answers) === JSON.stringify(sent.answers)
  return !isQuestion(outcome) && outcome.reply === sent.reply && outcome.message === sent.message
}
