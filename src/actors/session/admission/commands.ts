/** Commands as prompts: the template is filled in and submitted as a run of its own, with what it includes (subsystems b.9). */
import { resolve } from 'node:path'
import { expandCommand } from '../../../machines/session/command.js'
import { type Inclusion, inclusionsOf } from '../../../machines/session/command-inclusions.js'
import type { Caller } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { GivenCall } from '../../../protocol/message/queued-prompt.js'
import type { Message, PromptRequest, UserModel } from '../../../protocol/message/message.js'
import type { SessionCommandRequest, SessionShellRequest } from '../../../protocol/resource/command.js'
import type { FoundCommand } from '../../../ports/facades.js'
import { parseModel } from '../../resource/catalog/agents.js'
import { sessionOrThrow, type Rows, type Work, type Sources } from '../state/core.js'
import { untilQuiet } from '../state/quiet.js'
import { type PromptContent, submitPrompt, TEXT_BYTES } from './prompts.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'

/** A prompt that names a command: `/name arguments`. */
const NAMED = /^\s*\/(\S+)(?:\s+([\s\S]*))?$/

/** A command that waits for its answer. */
interface Submitted {
  readonly messageId: string
  /** Another agent carries it out: its answer is told to the session later. */
  readonly isDelegated: boolean
}

/** Admits the command durably; answers what to wait for. What the command says of agent and model counts before the request. */
export async function submitCommand(
  core: Rows & Work & Sources,
  caller: Caller,
  sessionId: string,
  { command: name, arguments: written = '', ...given }: SessionCommandRequest,
  wake: () => void,
): Promise<Submitted> {
  const { directory } = sessionOrThrow(core, sessionId)
  const command = await core.resources.command(directory, name, sessionId)
  const request = withoutBlankAgent(given)
  const messageId = request.messageId ?? core.effects.ids.next('msg')
  const content = await contentOf(core, { directory, sessionId }, command, written)
  await submitPrompt(core, caller, sessionId, { ...request, ...content, messageId }, 'queue', { wake })
  return { messageId, isDelegated: content.parts.some(({ type }) => type === 'subtask') }
}

/** Admits a call of the shell tool durably, in the name of the user; answers the id of its prompt. */
export async function submitShell(
  core: Rows & Work & Sources,
  caller: Caller,
  sessionId: string,
  { command, ...given }: SessionShellRequest,
  wake: () => void,
): Promise<Submitted> {
  const request = withoutBlankAgent(given)
  const messageId = request.messageId ?? core.effects.ids.next('msg')
  const calls: GivenCall[] = [{ tool: 'bash', input: { command } }]
  await submitPrompt(core, caller, sessionId, { ...request, messageId, prompt: `!${command}`, calls, noReply: true }, 'queue', { wake })
  return { messageId, isDelegated: false }
}

/** Clients that name no agent here send an empty name. */
function withoutBlankAgent<T extends { readonly agent?: string | undefined }>({
  agent,
  ...rest
}: T): Omit<T, 'agent'> & { agent?: string } {
  return { ...rest, ...(agent !== undefined && agent !== '' && { agent }) }
}

/** The prompt that a prompt of the form `/name arguments` stands for; undefined when it names no command. */
export async function namedCommand(core: Rows & Sources, sessionId: string, request: PromptRequest): Promise<PromptContent | undefined> {
  if (request.noReply === true) return undefined
  const [first, ...others] = request.parts ?? [{ type: 'text' as const, text: request.prompt ?? '' }]
  const [, name, written = ''] = (first?.type === 'text' && NAMED.exec(first.text)) || []
  if (name === undefined) return undefined
  const { directory } = sessionOrThrow(core, sessionId)
  const isKnown = (await core.resources.commands(directory, sessionId)).some((command) => command.name === name)
  if (!isKnown) return undefined
  const { parts, ...content } = await contentOf(
    core,
    { directory, sessionId },
    await core.resources.command(directory, name, sessionId),
    written,
  )
  const { prompt: _written, ...rest } = request
  return { ...rest, ...content, parts: [...parts, ...others] }
}

interface Whereabouts {
  readonly directory: string
  readonly sessionId: string
}

/** What a command says: its text, what it includes, its agent and its model. */
async function contentOf(core: Rows & Sources, at: Whereabouts, command: FoundCommand, written: string) {
  const prompt = expandCommand(command.template, written, TEXT_BYTES)
  const inclusions = inclusionsOf(command.template, written, TEXT_BYTES)
  const refuse = (problem: string) => {
    return new SvcError('request.unprocessable', `The command "${command.name}" with these arguments ${problem}.`, {
      command: command.name,
    })
  }
  if (prompt === undefined || inclusions === undefined) throw refuse('is longer than a prompt may be')
  const calls: GivenCall[] = []
  for (const inclusion of inclusions) calls.push(...(await callsOf(core, at.directory, command, inclusion)))
  if (calls.length > LIMITS.run.callsPerStep) throw refuse(`includes more than ${LIMITS.run.callsPerStep} files and outputs`)
  const model = modelOf(command.model)
  const rendered = await renderedBy(core, at, command, written)
  if (rendered !== undefined) {
    const { parts, system } = rendered
    return { parts: [...parts], calls: [], ...(model !== undefined && { model }), ...(system !== undefined && { system }) }
  }
  if (command.subtask === true) return { parts: [subtaskOf(command, prompt, model)], calls }
  return {
    parts: [{ type: 'text' as const, text: prompt }],
    calls,
    ...(command.agent !== undefined && { agent: command.agent }),
    ...(model !== undefined && { model }),
  }
}

/** What the plugin that offers the command makes of it; undefined = the template says it all. */
async function renderedBy(core: Rows & Sources, { directory, sessionId }: Whereabouts, { name, template }: FoundCommand, written: string) {
  const { plugins } = core
  if (sessionOrThrow(core, sessionId).executionPolicy !== undefined) return undefined // No plugin is asked for strangers.
  for (const { contribution, use } of plugins.current(directory, sessionId).commands) {
    const rendered = await use(async () => contribution.render?.({ directory, name, template, written }))
    if (rendered !== undefined) return rendered
  }
  return undefined
}

/** Carried out by an agent of its own; the agent of the session goes on with what that answers. */
function subtaskOf({ name, description, agent }: FoundCommand, prompt: string, model: UserModel | undefined) {
  const about = { description: description ?? `/${name}`, agent: agent ?? 'general', command: `/${name}`, ...(model && { model }) }
  return { type: 'subtask' as const, prompt, ...about }
}

/** An "@" that leads to nothing is text like any other. What a repository or a plugin wants run, nobody has agreed to. */
async function callsOf(
  { effects: { files } }: Rows,
  directory: string,
  { name, isOwn }: FoundCommand,
  inclusion: Inclusion,
): Promise<GivenCall[]> {
  if (inclusion.type === 'shell') {
    const call = { tool: 'bash', input: { command: inclusion.command } }
    return [isOwn ? call : { ...call, explicit: `the command "${name}" is not of the installation` }]
  }
  const { path } = inclusion
  const found = await files.stat(resolve(directory, path)).catch(() => undefined)
  return found === undefined ? [] : [{ tool: 'read', input: { filePath: path } }]
}

/** The last answer to a prompt once it is settled, or the prompt itself when nothing answered it. */
export async function answerTo(
  core: Rows & Work,
  sessionId: string,
  { messageId, isDelegated }: Submitted,
  signal: AbortSignal,
): Promise<Message> {
  if (isDelegated) await untilQuiet(core, sessionId, signal, 'task')
  else await core.statuses.idle(sessionId, signal)
  const answered = new Set([messageId])
  const messages = core.transcripts.of(sessionId)
  const asked = messages.findIndex(({ info }) => info.id === messageId)
  if (isDelegated)
    for (const { info } of messages.slice(asked + 1)) if (info.role === 'user' && isNotice(info.system)) answered.add(info.id)
  const isAnswer = ({ info }: Message) => info.role === 'assistant' && answered.has(info.parentId)
  const answer = messages.findLast(isAnswer) ?? messages[asked]
  if (answer !== undefined) return answer
  sessionOrThrow(core, sessionId)
  const message = `The prompt "${messageId}" was taken out of the queue before anything answered it. When it could not be answered, "session.error" says why.`
  throw new SvcError('resource.conflict', message, { messageId })
}

function modelOf(text: string | undefined): UserModel | undefined {
  const ref = parseModel(text)
  return ref === undefined ? undefined : { providerId: ref.providerId, modelId: ref.id }
}
