/** What is stored of the end of a request, and what it says to whoever asked. */
import type { InteractionRow } from '../../store/store.js'
import { wellFormed } from '../../protocol/text/well-formed.js'

export type PermissionAnswer = { readonly granted: true } | { readonly granted: false; readonly message: string }
export type QuestionAnswer = { readonly answers: readonly (readonly string[])[] } | { readonly rejected: string }

/** Nothing of it = a question that was declined. */
export interface StoredResponse {
  readonly reply?: 'once' | 'always' | 'reject' | 'cancelled'
  readonly message?: string
  readonly answers?: string[][]
  /** Subject of whoever answered. */
  readonly by?: string
  readonly reason?: 'timeout' | 'cancelled' | 'restart'
}

const REJECTED = 'The user rejected this action.'
const UNANSWERED = 'Nobody answered the request in time, so it was denied.'
const DECLINED = 'The user declined to answer.'

export function responseOf(row: InteractionRow | undefined): StoredResponse {
  // Written by us, as it is read.
  return JSON.parse(row?.response ?? '{}') as StoredResponse
}

export function permissionAnswer(end: 'answered' | 'expired', { reply, message = '' }: StoredResponse): PermissionAnswer {
  if (end === 'expired') return { granted: false, message: UNANSWERED }
  if (reply === 'once' || reply === 'always') return { granted: true }
  return { granted: false, message: message.trim() === '' ? REJECTED : wellFormed(message) }
}

export function questionAnswer(end: 'answered' | 'expired', { answers }: StoredResponse): QuestionAnswer {
  if (end === 'expired') return { rejected: UNANSWERED }
  return answers === undefined ? { rejected: DECLINED } : { answers }
}
