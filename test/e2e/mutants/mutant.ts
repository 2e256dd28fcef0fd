/**
 * Part of a build for tests alone: the handler of one operation at a time is broken. Which one, and how, a test writes into
 * the file that SVC_TEST_MUTANT names, and every handler that was broken for a call leaves a line in `<file>.struck`.
 */
import { appendFileSync, readFileSync } from 'node:fs'

/** `throws` fails; `silent` does nothing and says that all is well. */
export type Kind = 'throws' | 'silent'
export interface Mutant {
  readonly id: string
  readonly kind: Kind
}

const FILE = process.env['SVC_TEST_MUTANT'] ?? ''

export function handleMutated<T>(id: string, handle: () => T, silent: () => T): T {
  const mutant = JSON.parse(readFileSync(FILE, 'utf8')) as Mutant | null
  if (mutant?.id !== id) return handle()
  appendFileSync(`${FILE}.struck`, `${id}\n`)
  if (mutant.kind === 'throws') throw new Error('this handler is broken')
  return silent()
}
