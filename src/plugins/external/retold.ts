/** What an agent that cannot open its session again is told of it, before the prompt (subsystems l.4). Pure. */
import { cut } from '../../kernel/cut.js'
import type { Said } from '../../ports/provider-adapter.js'
import { LIMITS } from '../../protocol/limits.js'
import { wellFormed } from '../../protocol/text/well-formed.js'

const { retold: MOST } = LIMITS.external
const INTRODUCTION =
  'You have answered in this conversation before, in a session that cannot be opened again. What was said last in it, a message a line, as JSON:'

/** The latest of it, in `LIMITS.external.retold`; of a message that is too long for the rest its beginning. */
export function withRetold(said: readonly Said[], prompt: string): string {
  const lines: string[] = []
  let room = MOST
  for (const each of said.toReversed()) {
    const line = lineOf(each, room)
    room -= Buffer.byteLength(line) + 1
    if (room < 0) break
    lines.unshift(line)
  }
  return lines.length === 0 ? prompt : [INTRODUCTION, ...lines, '', prompt].join('\n')
}

/** A character has at most six bytes in JSON. */
function lineOf({ role, text, calls }: Said, room: number): string {
  const by = role === 'user' ? 'user' : 'you'
  const write = (shown: string, called: readonly string[]) =>
    JSON.stringify({ by, text: wellFormed(shown), ...(called.length > 0 && { calls: called }) })
  const whole = write(text, calls)
  return Buffer.byteLength(whole) <= room ? whole : write(cut(text, Math.floor(room / 8)), [])
}
