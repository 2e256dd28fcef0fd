/** `svc run`: one prompt, its answer as it comes, and the end. */
import { writeFileSync } from 'node:fs'
import type { Client, PromptEnd } from '../../../published/client/client-types.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PromptRequest } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { RunOptions } from './run-page.js'
import { connect, type Connection } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { failureText } from '../../failure.js'
import { FIRST_STEPS, keyInEnvironment, needsFirstSteps, NEXT_STEP, unseenKey } from '../../first-steps.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { existingSession } from '../session/existing-session.js'
import { pendingOf, pendingText } from '../session/session-pending.js'
import { shortTitle } from '../session/session-record.js'
import { seconds } from '../../terminal/tool-card.js'
import { createTerminal, type Terminal } from '../../terminal/terminal.js'
import { type AnswerSchema, readAnswerSchema } from './answer-schema.js'
import { createAnswers, refusalText } from '../../answers/answers.js'
import { attachmentsOf, missingFiles } from './attachments.js'
import { expectAgent } from './agent-choice.js'
import { tellFirst, tellLast } from './first-notes.js'
import { chooseModel } from './model-choice.js'
import { doubtfulCommand } from './named-command.js'
import { createPresentation, createSilentPresentation } from './presentation.js'
import { readPrompt } from './prompt-input.js'
import { createTakenBack } from './taken-back.js'
import { tellUnsent } from './unsent-files.js'
import { RECORDS } from './records-version.js'
import { createMeter, type Known, reportOf, type RunReport } from './report.js'

/** How often in a row the server may be away: some ten seconds. */
const ATTEMPTS = 6
const OFFLINE = 'svc/offline'
/** Who writes scripts for the built-in model wants no other. */
const SCRIPT = '```svc-script'
/** The connection was lost for good after the prompt was sent. */
const STOPPED = 'the server was stopped, or cannot be reached any more, before the answer was complete; it keeps what it has of it'
/** How often an answer that does not match its schema is asked for again. */
const CORRECTIONS = 2

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
/** Filled in as it becomes known. */
type Progress = Mutable<Omit<Known, 'durationMs' | 'refused' | 'isInterrupted'>>

/** Runs one prompt; answers the exit code: 0 done, 1 failed, 3 something was refused because nobody was there, 130 interrupted. */
export async function run(options: RunOptions): Promise<number> {
  const configuration = await configurationOf(options)
  const terminal = createTerminal(options)
  const schema = options.schema === undefined ? undefined : readAnswerSchema(options.schema)
  const onSilence = () => terminal.note('nothing came on standard input, which is open: going on without it')
  const text = await readPrompt(options.prompt, process.stdin, onSilence)
  const directory = directoryOn(options.server, options.directory)
  const attached = attachmentsOf(options, text, directory)
  for (const path of missingFiles(text, directory)) terminal.note(`@${path} leads to no file; it is sent as text`)
  const request: PromptRequest = {
    parts: [{ type: 'text', text }, ...attached],
    // A run of its own, behind those of others: what is interrupted is never theirs.
    delivery: 'queue',
    ...(options.variant !== undefined && { variant: options.variant }),
    ...(options.agent !== undefined && { agent: options.agent }),
    ...(options.unattended && { unattended: true }),
    ...(schema !== undefined && { system: schema.demand }),
  }
  return follow(request, schema, { ...options, configuration }, terminal)
}

/** With the text of what `--config` says. */
type Configured = RunOptions & { readonly configuration: string | undefined }

async function follow(request: PromptRequest, schema: AnswerSchema | undefined, options: Configured, terminal: Terminal): Promise<number> {
  const began = performance.now()
  const progress: Progress = {}
  const prompts = new Set<string>()
  const told = new Set<string>()
  const meter = createMeter(prompts)
  let opened: Connection | undefined
  const policy = options.unattended && options.allow === 'ask' ? 'wait' : options.allow
  const answers = createAnswers(policy, terminal, () => opened?.client.interactions)
  const takenBack = createTakenBack(() => progress.sessionId ?? '')
  const { signal, forget } = watchInterrupts(() => terminal.interrupted())
  /** Whoever sits here answers what the session asks, also of a run that is under way before. */
  const isAttended = options.allow === 'ask' && !options.unattended && terminal.ask !== undefined

  /** One prompt to its end, as it is shown. */
  async function ask(client: Client, sessionId: string, body: PromptRequest): Promise<PromptEnd> {
    const isShown = options.output === 'text' && schema === undefined
    const presentation = isShown ? createPresentation(terminal, options) : createSilentPresentation(terminal)
    const running = client.prompt(sessionId, body, {
      onPermission: answers.onPermission,
      onQuestion: answers.onQuestion,
      attends: isAttended,
      abortQueue: 'clear',
      onEvent(event) {
        meter.see(event)
        answers.see(event)
        takenBack.see(event)
        if (options.output === 'events') terminal.record(JSON.stringify({ version: RECORDS, ...event }))
      },
      attempts: ATTEMPTS,
      signal,
    })
    progress.messageId = running.messageId
    prompts.add(running.messageId)
    try {
      for await (const event of running) {
        presentation.show(event)
        if (event.type !== 'end') continue
        if (event.isTakenBack === true) terminal.note(`taken back: ${textOf(body)}`)
        return event
      }
    } finally {
      presentation.end()
      const unheard = signal.aborted ? await takenBack.unheard(client, prompts).catch(() => []) : []
      for (const { text } of [...takenBack.texts(), ...unheard]) terminal.note(`taken back: ${text}`)
    }
    throw new Error('The run was left before its end.')
  }

  /** Asks again for an answer that does not match the schema. */
  async function converse(client: Client, isOwn: boolean): Promise<void> {
    const existing = await existingSession(client, options)
    const place = existing?.directory ?? directoryOn(options.server, options.directory)
    // The models of the session's directory count; nothing is begun with one that is not there.
    const model = options.model === undefined ? {} : { model: await chooseModel(client, place, options.model) }
    if (existing === undefined && options.agent !== undefined) await expectAgent(client, place, options.agent)
    const sessionId = await openSession(client, existing, options, terminal, isOwn ? titleOf(textOf(request)) : undefined, told)
    progress.sessionId = sessionId
    const doubt = await doubtfulCommand(client, directoryOn(options.server, options.directory), textOf(request))
    if (doubt !== undefined) terminal.note(doubt)
    let body = { ...request, ...model }
    for (let corrections = 0; ; corrections++) {
      progress.end = await ask(client, sessionId, body)
      if (corrections === 0) await tellUnsent(client, place, request, meter.spent().model, terminal)
      if (schema === undefined || progress.end.error !== undefined) return
      const read = schema.read(progress.end.text)
      if (read.ok) return void (progress.structured = read.value)
      if (corrections === CORRECTIONS) return void (progress.error = { message: `the answer does not match the schema: ${read.problem}` })
      terminal.note(`the answer does not match the schema, asking again: ${read.problem}`)
      body = { ...request, ...model, parts: [{ type: 'text', text: schema.correction(read.problem) }] }
    }
  }

  try {
    const { ephemeral: isEphemeral, configuration } = options
    const connection = await connect(options.server, { isApart: true, isEphemeral, configuration })
    opened = connection
    try {
      await converse(connection.client, connection.isOwn)
      await tellLast(connection.client, directoryOn(options.server, options.directory), terminal, told)
      if (meter.spent().model === OFFLINE && !textOf(request).includes(SCRIPT)) await tellFirstSteps(connection, options, terminal)
    } finally {
      await connection.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? { code: String(error.code) } : {}
    const isStopped = prompts.size > 0 && code.code === 'client.unreachable'
    if (error !== signal.reason) progress.error = { message: isStopped ? STOPPED : failureText(error), ...code }
  } finally {
    forget()
  }
  return finish(
    { ...progress, refused: answers.refused, isInterrupted: signal.aborted, durationMs: performance.now() - began },
    meter,
    options,
    terminal,
  )
}

async function configurationOf({ config }: RunOptions): Promise<string | undefined> {
  if (config.length === 0) return undefined
  return (await import('../config/given-config.js')).givenConfig(config, process.env['SVC_AGENT_CONFIG_CONTENT'])
}

/** Says how it went, in the form that was asked for; answers the exit code. */
function finish(
  known: Known,
  meter: ReturnType<typeof createMeter>,
  { output, lastMessage, isVerbose, ephemeral }: RunOptions,
  terminal: Terminal,
): number {
  const report = reportOf(known, meter.spent())
  if (lastMessage !== undefined) writeFileSync(lastMessage, report.answer)
  if (output === 'text' && report.structured !== undefined) terminal.record(JSON.stringify(report.structured))
  if (output !== 'text') terminal.record(JSON.stringify(report))
  const problem = known.isInterrupted ? known.error : report.error
  if (output === 'text' && report.refused.length > 0) terminal.error(refusedText(report.refused))
  if (problem !== undefined) terminal.error(problem.message)
  if (output === 'text' && known.end !== undefined && (terminal.isRich || isVerbose)) terminal.note(totals(report))
  if (output === 'text' && report.sessionId !== undefined && report.messageId !== undefined && !ephemeral) {
    terminal.note(`go on with: svc run --session ${report.sessionId} "…"`)
  }
  return report.exitCode
}

/** The built-in model has answered, and nobody has asked for it. All of it is said once. */
async function tellFirstSteps({ client, isOwn }: Connection, options: RunOptions, terminal: Terminal): Promise<void> {
  if (options.model !== undefined || options.output !== 'text') return
  if (!(await needsFirstSteps(client, directoryOn(options.server, options.directory)))) return
  const unseen = isOwn ? undefined : keyInEnvironment(process.env)
  if (unseen !== undefined) return terminal.note(unseenKey(unseen))
  const { items } = await client.sessions.list({ archived: 'true', limit: 2 })
  for (const line of items.length < 2 ? FIRST_STEPS : [NEXT_STEP]) terminal.note(line)
}

/** All of it together: what was said as it happened may be far above. */
function refusedText(refused: RunReport['refused']): string {
  const [one, ...others] = refused.map(refusalText)
  const head =
    others.length === 0
      ? 'It went on without what nobody was there to allow:'
      : `It went on without ${refused.length} things that nobody was there to allow:`
  return [head, one, ...others].join('\n     ')
}

/** `svc/offline · 565 tokens in, 166 out · 0.0012 · 0.6 s`. */
function totals({ model, usage, cost, durationMs }: RunReport): string {
  const cached = usage.cacheRead === 0 ? '' : ` (${usage.cacheRead} more from its cache)`
  const price = cost === 0 ? [] : [`cost ${cost.toFixed(4)}`]
  return [
    ...(model === undefined ? [] : [model]),
    `${usage.input} tokens in${cached}, ${usage.output} out`,
    ...price,
    seconds(durationMs),
  ].join(' · ')
}

/** A server that ends with its command has no time to have a title made: the first line of the prompt is one. */
function titleOf(prompt: string): string | undefined {
  return [...(/\S[^\n]*/.exec(prompt)?.[0].trimEnd() ?? '')].slice(0, LIMITS.sessions.titleLength).join('') || undefined
}

/** Goes on in a session, and says what it waits for; or makes a new one, with a title where one is given. Answers its id. */
export async function openSession(
  client: Client,
  existing: Session | undefined,
  { continues, directory, server }: Pick<RunOptions, 'continues' | 'directory' | 'server'>,
  terminal: Terminal,
  title?: string,
  told = new Set<string>(),
): Promise<string> {
  if (existing === undefined) {
    const place = directoryOn(server, directory)
    await tellFirst(client, place, terminal, told)
    return (await client.sessions.create({ directory: place, body: title === undefined ? {} : { title } })).id
  }
  const { id, title: named } = existing
  if (continues) terminal.note(`going on in ${id} (${shortTitle(named)})`)
  for (const each of await pendingOf(client, id)) terminal.note(`pending: ${pendingText(each)}`)
  if ((await client.sessions.status())[id] !== undefined) terminal.note('a run is under way; this prompt has its turn after it')
  return id
}

function textOf({ parts: [first] = [] }: PromptRequest): string {
  return first?.type === 'text' ? first.text : ''
}
