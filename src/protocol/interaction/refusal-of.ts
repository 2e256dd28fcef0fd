/** A request that nobody was there to answer, as what was refused. No schema is loaded for it. */
import type { PermissionRequest, QuestionRequest } from './interaction.js'
import type { Refusal } from './refusal.js'

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
