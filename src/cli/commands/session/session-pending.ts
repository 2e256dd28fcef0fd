/** What a session waits for: answers, and prompts that have their turn later. */
import type { Client } from '../../../published/client/client-types.js'

export interface Pending {
  readonly type: 'permission' | 'question' | 'prompt'
  /** Of a request, or of a prompt that is held. */
  readonly id?: string
  /** It waits to be released. */
  readonly held?: true
  readonly text: string
}

export async function pendingOf({ interactions, sessions }: Client, sessionId: string): Promise<readonly Pending[]> {
  const [permissions, questions, queue] = await Promise.all([
    interactions.permissions.list({ sessionId }),
    interactions.questions.list({ sessionId }),
    sessions.queue.list({ sessionId }),
  ])
  return [
    ...permissions.map(({ id, title, permission, patterns }) => ({
      type: 'permission' as const,
      id,
      text: `${title} (${permission}: ${patterns.join(', ')})`,
    })),
    ...questions.map(({ id, questions: asked }) => ({ type: 'question' as const, id, text: asked.map(questionText).join(' ') })),
    ...queue.items.map(({ text, messageId, held }) => ({
      type: 'prompt' as const,
      ...(held === true && { held, ...(messageId !== undefined && { id: messageId }) }),
      text: text ?? 'a prompt without text',
    })),
  ]
}

function questionText(asked: unknown): string {
  const text = typeof asked === 'object' && asked !== null && 'question' in asked ? asked.question : undefined
  return typeof text === 'string' ? text : JSON.stringify(asked)
}

/** One line, after the word "pending". */
export function pendingText({ type, text, held }: Pending): string {
  if (type === 'permission') return `an answer to a permission request: ${text}`
  if (held === true) return `a prompt that is held until svc session release: ${text}`
  return type === 'question' ? `an answer to a question: ${text}` : `a prompt that waits for its turn: ${text}`
}
