/** The text of a prompt: what was typed, and what comes on standard input after it. */
import { setTimeout as delay } from 'node:timers/promises'
import { LIMITS } from '../../../protocol/limits.js'
import { wrongUse } from '../../line/wrong-use.js'

/** For the first byte of an input that was not asked for: who starts programs often leaves a pipe open that nobody writes to. Milliseconds. */
const PATIENCE = 3000

/**
 * The prompt as it was typed with what is piped in after it. Throws when there is neither, or more than a request may hold.
 * `onSilence` is told when nothing came in time.
 */
export async function readPrompt(
  typed: string | undefined,
  input: NodeJS.ReadStream,
  onSilence: () => void,
  patience = PATIENCE,
): Promise<string> {
  if (typed?.trim() === '') throw wrongUse('the prompt is empty')
  if (input.isTTY) {
    if (typed === undefined) throw wrongUse('a prompt is needed: svc run "<prompt>", or pipe one in')
    return typed
  }
  const piped = await readInput(input, typed === undefined ? undefined : patience)
  if (piped === undefined) onSilence()
  const text = (piped ?? '').trim()
  if (typed === undefined && text === '') throw wrongUse('the prompt on standard input is empty')
  return [typed, text].filter((part) => part !== undefined && part !== '').join('\n\n')
}

/** Everything to its end; undefined when nothing has come after `patience`. */
async function readInput(input: NodeJS.ReadStream, patience: number | undefined): Promise<string | undefined> {
  const given = new AbortController()
  const reading = readAll(input, () => given.abort())
  if (patience === undefined) return reading
  const silent = delay(patience, 'silent' as const, { signal: given.signal, ref: true }).catch(() => 'given' as const)
  if ((await Promise.race([silent, reading.then(() => 'given' as const)])) === 'given') {
    given.abort()
    return reading
  }
  reading.catch(() => undefined)
  input.destroy()
  return undefined
}

async function readAll(input: NodeJS.ReadStream, onFirst: () => void): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    onFirst()
    size += chunk.length
    if (size > LIMITS.http.promptBody / 2) throw wrongUse('the prompt on standard input is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
