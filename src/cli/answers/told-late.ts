/** Exactly one answer counts: who came late, or waited in vain, is told which (choice 40). */
import type { Client } from '../../published/client/client-types.js'
import type { PermissionReply } from '../../protocol/interaction/interaction.js'
import type { Terminal } from '../terminal/terminal.js'
import { hasCounted, type Outcome, outcomeText } from './outcome-text.js'

/** Where answers go, and what became of them. */
export interface Replies {
  readonly permissions: Pick<Client['interactions']['permissions'], 'reply' | 'get'>
  readonly questions: Pick<Client['interactions']['questions'], 'reply' | 'get'>
}

type Notes = Pick<Terminal, 'note'>

/** Answers nothing: it is sent. */
export async function sendDecision(
  { permissions }: Replies,
  { note }: Notes,
  requestId: string,
  body: PermissionReply,
): Promise<undefined> {
  await permissions.reply({ requestId, body })
  const outcome = await permissions.get({ requestId })
  if (!hasCounted(outcome, body)) note(`too late: ${outcomeText(outcome) ?? ''}`)
}

export async function sendTexts({ questions }: Replies, { note }: Notes, requestId: string, answers: string[][]): Promise<undefined> {
  await questions.reply({ requestId, body: { answers } })
  const outcome = await questions.get({ requestId })
  if (!hasCounted(outcome, { answers })) note(`too late: ${outcomeText(outcome) ?? ''}`)
}

/** Of a request that is no longer asked here; nothing where nobody has answered, or the server is gone. */
export async function tellElsewhere({ permissions, questions }: Replies, { note }: Notes, requestId: string): Promise<void> {
  const of: Promise<Outcome> = (requestId.startsWith('que') ? questions : permissions).get({ requestId })
  const outcome = await of.catch(() => undefined)
  if (outcome?.state === 'answered') note(`answered elsewhere: ${outcomeText(outcome) ?? ''}`)
}
