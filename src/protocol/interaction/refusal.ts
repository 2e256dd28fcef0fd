/** What a run went on without, because nobody was there to allow or answer it. */
import * as z from 'zod'
import type { PermissionRequest, QuestionRequest } from './interaction.js'

export const Refusal = z
  .looseObject({
    permission: z.string().describe('The permission group; `question` for a question of the agent.'),
    title: z.string(),
    patterns: z.array(z.string()),
  })
  .meta({ id: 'Refusal' })
export type Refusal = Readonly<z.infer<typeof Refusal>>

export function refusalOf(request: PermissionRequest | QuestionRequest): Refusal {
  if (isPermission(request)) {
    const { permission, title, patterns } = request
    return { permission, title, patterns }
  }
  return { permission: 'question', title: request.questions.map(textOf).join(' '), patterns: [] }
}

function isPermission(request: PermissionRequest | QuestionRequest): request is PermissionRequest {
  return 'permission' in request
}

function textOf(question: unknown): string {
  const text = typeof question === 'object' && question !== null && 'question' in question ? question.question : undefined
  return typeof text === 'string' ? text : JSON.stringify(question)
}
