/** What a session waits for: answers, and prompts that have their turn later. */
import type { Client } from '../../client/client-types.js'

export interface Pending {
  readonly type: 'permission' | 'question' | 'prompt'
  /** Of a request. */
  readonly id?: string
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
    ...queue.items.map(({ text }) => ({ type: 'prompt' as const, text: text ?? 'a prompt without text' })),
  ]
}

function questionText(asked: unknown): string {
  const text = typeof asked === 'object' && asked !== null && 'question' in asked ? asked.question : undefined
  return typeof text === 'string' ? text : JSON.stringify(asked)
}

/** One line, after the word "pending". */
export function pendingText({ type, text }: Pending): string {
  if (type === 'permission') return `an answer to a permission request: ${text}`
  return type === 'question' ? `an answer to a question: ${text}` : `a prompt that waits for its turn: ${text}`
}
