/** `svc run`: one prompt, its answer as it comes, and the end. */
import type { Client, PromptEnd } from '../../client/client-types.js'
import type { PromptRequest } from '../../protocol/message/message.js'
import type { RunOptions } from '../arguments.js'
import { connect } from '../connection.js'
import { directoryOn } from '../directory.js'
import { failureText } from '../failure.js'
import { findSession, latestSession } from '../session/session-find.js'
import { pendingOf, pendingText } from '../session/session-pending.js'
import { shortTitle } from '../session/session-record.js'
import { createTerminal, type Terminal } from '../terminal.js'
import { createAnswers } from './answers.js'
import { INTERRUPTED, watchInterrupts } from '../interruption.js'
import { createPresentation } from './presentation.js'
import { readPrompt } from './prompt-input.js'

/** How often in a row the server may be away: some ten seconds. */
const ATTEMPTS = 6

/** Runs one prompt; answers the exit code: 0 done, 1 failed, 3 something was refused because nobody was there, 130 interrupted. */
export async function run(options: RunOptions): Promise<number> {
  const prompt = options.prompt ?? (await readPrompt(process.stdin))
  const terminal = createTerminal()
  const connection = await connect(options.server)
  try {
    return await converse(connection.client, prompt, options, terminal)
  } finally {
    await connection.close()
  }
}

async function converse(client: Client, prompt: string, options: RunOptions, terminal: Terminal): Promise<number> {
  const answers = createAnswers(options.unattended && options.allow === 'ask' ? 'wait' : options.allow, terminal)
  const presentation = createPresentation(terminal, !options.json)
  const { signal, forget } = watchInterrupts(() => terminal.note('interrupted'))
  try {
    const sessionId = await openSession(client, options, terminal)
    const running = client.prompt(sessionId, requestOf(prompt, options), {
      onPermission: answers.onPermission,
      onQuestion: answers.onQuestion,
      ...(options.json && { onEvent: (event) => terminal.record(JSON.stringify(event)) }),
      attempts: ATTEMPTS,
      signal,
    })
    for await (const event of running) {
      presentation.show(event)
      if (event.type !== 'end') continue
      if (!options.json) terminal.note(`go on with: svc run --session ${sessionId} "…"`)
      return exitCode(event, answers.refused, signal, terminal)
    }
    return 1
  } catch (error) {
    if (!signal.aborted) throw error
    if (error !== signal.reason) terminal.error(failureText(error))
    return INTERRUPTED
  } finally {
    forget()
  }
}

function exitCode({ error }: PromptEnd, refused: number, { aborted }: AbortSignal, terminal: Terminal): number {
  if (aborted) return INTERRUPTED
  if (error !== undefined) terminal.error(error.message)
  if (error !== undefined) return 1
  return refused > 0 ? 3 : 0
}

/** A new session, or one to go on in: then what it waits for is said. */
async function openSession(client: Client, { session, continues, directory, server }: RunOptions, terminal: Terminal): Promise<string> {
  const place = directoryOn(server, directory)
  if (session === undefined && !continues) return (await client.sessions.create({ directory: place, body: {} })).id
  const { id, title } = session === undefined ? await latestSession(client, place) : await findSession(client, session)
  if (continues) terminal.note(`going on in ${id} (${shortTitle(title)})`)
  for (const each of await pendingOf(client, id)) terminal.note(`pending: ${pendingText(each)}`)
  if ((await client.sessions.status())[id] !== undefined) terminal.note('a run is under way; this prompt has its turn after it')
  return id
}

/** A run of its own, behind those of others: what is interrupted is never theirs. */
function requestOf(prompt: string, { model, variant, agent, unattended }: RunOptions): PromptRequest {
  return {
    parts: [{ type: 'text', text: prompt }],
    delivery: 'queue',
    ...(model !== undefined && { model }),
    ...(variant !== undefined && { variant }),
    ...(agent !== undefined && { agent }),
    ...(unattended && { unattended: true }),
  }
}
