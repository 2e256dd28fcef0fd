/** The prompt from standard input. */
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

/** Reads a piped prompt to its end. Throws `request.invalid` when there is none, or more than a request may hold. */
export async function readPrompt(input: NodeJS.ReadStream): Promise<string> {
  if (input.isTTY) throw new SvcError('request.invalid', 'a prompt is needed: svc run "<prompt>", or pipe one in')
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > LIMITS.http.promptBody / 2) throw new SvcError('request.invalid', 'the prompt on standard input is too long')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8').trim()
  if (text === '') throw new SvcError('request.invalid', 'the prompt on standard input is empty')
  return text
}
