/** One turn of an external agent, with its effects (subsystems l.4). */
import { chartOf } from '../../kernel/machine/chart.js'
import { type Actor, createActor, fromPromise } from 'xstate'
import * as z from 'zod'
import { cut } from '../../kernel/cut.js'
import { nextTurn } from '../../kernel/pause.js'
import { isActive, reached } from '../../kernel/reached.js'
import { externalTurnMachine, type TurnOutput } from '../../machines/external/external-turn.machine.js'
import type { NativeHost, ToolContribution } from '../../ports/plugin.js'
import { ProviderError, type Said, type StepDesk, type StreamPart } from '../../ports/provider-adapter.js'
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import { LIMITS } from '../../protocol/limits.js'
import type { TraceContext } from '../../protocol/trace-context.js'
import { type TokenUsage, ZERO_USAGE } from '../../protocol/message/token-usage.js'
import { isRecord } from '../../protocol/text/json.js'
import { wellFormed } from '../../protocol/text/well-formed.js'
import { canLoad, initialize } from './capabilities.js'
import { choose } from './choosing.js'
import type { Adapter } from './adapters.js'
import { openAgent } from './agent-program.js'
import { createFamily } from './subagents/family.js'
import type { Kept } from './kept.js'
import { type AgentLink, openAgentLink } from './link.js'
import type { Nested } from './subagents/nested.js'
import { isChosen, type Offered, offeredBy, offeredIn, shownOptions } from './options.js'
import { withRetold } from './retold.js'
import type { AgentUsage } from './updates.js'

/** Characters of what an agent wrote last to its error stream, in the message of its failure. */
const ERRORS = 500

const tokens = z.number().int().min(0).nullish()
const Answered = z.looseObject({
  stopReason: z.string(),
  usage: z
    .looseObject({ inputTokens: tokens, outputTokens: tokens, thoughtTokens: tokens, cachedReadTokens: tokens, cachedWriteTokens: tokens })
    .nullish()
    .catch(null),
})
/** How a step ends for a reason that the agent gives. None is one after which a model would be asked to go on: that is the agent's affair. */
const FINISHES: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  max_tokens: 'max-tokens',
  max_turn_requests: 'max-turn-requests',
  refusal: 'content-filter',
}

/** What becomes of subagents that have not ended. */
const HOW = { finished: 'completed', failed: 'failed', aborted: 'stopped' } as const

export interface Turn {
  readonly sessionId: string
  readonly provider: ExternalProvider
  readonly directory: string
  readonly adapter: Adapter
  readonly env: Readonly<Record<string, string>>
  readonly prompt: string
  readonly trace?: TraceContext
  readonly unattended: boolean
  /** Sessions of its subagents. */
  readonly nested: Nested
  /** What was said before it. */
  before(): readonly Said[]
  /** What is kept of the session. */
  readonly kept: Kept
}

export interface TurnDoors {
  readonly push: (part: StreamPart) => void
  readonly desk: StepDesk<ToolContribution>
  readonly signal: AbortSignal
  /** Keeps what has changed, durably. */
  keep(change: Partial<Kept>): void
}

export type TurnHost = Pick<NativeHost, 'effects' | 'actors' | 'programs' | 'sandbox' | 'todos' | 'sessions' | 'stopping' | 'agents'>

/**
 * Resolves after `finish` was pushed, with what resolves once the agent is gone; until then it does nothing more. Rejects with `ProviderError` when
 * it is gone, also when it was aborted.
 */
export async function takeTurn(host: TurnHost, turn: Turn, doors: TurnDoors): Promise<{ gone(): Promise<void> }> {
  const { sessionId, provider, directory, adapter, env, nested, unattended } = turn
  const { push, signal } = doors
  const { clock, log } = host.effects
  let opening: Promise<AgentLink> | undefined
  let link: AgentLink | undefined
  let loading: ReturnType<typeof canLoad>
  let agentSession = ''
  let offered: Offered = { options: [], modeFallback: false }
  let answered: z.infer<typeof Answered> | undefined
  let usage: AgentUsage | undefined
  let errors = ''
  let text = turn.prompt
  let costBefore = adapter.countsAnew ? 0 : (turn.kept.cost ?? 0)

  const opened = (): AgentLink => {
    if (link === undefined) throw new Error('it has not begun')
    return link
  }
  const isPrompted = () => !ref.getSnapshot().hasTag('opening')
  const family = createFamily({
    host,
    nested,
    provider,
    sessionId,
    directory,
    unattended,
    push,
    signal,
    desk: doors.desk,
    own: () => agentSession,
    onUsage: (told) => (usage = told),
    cancel: (id) => link?.notify('session/cancel', { sessionId: id }),
  })

  function take(params: unknown): void {
    if (!isRecord(params)) return
    const { sessionId: id, update } = params
    const isOwn = agentSession === '' || id === agentSession
    if (isOwn && agentSession !== '' && isRecord(update) && update['sessionUpdate'] === 'config_option_update')
      offered = offeredIn(update['configOptions'])
    else if (isPrompted() && !signal.aborted) family.take(id, update)
    if (isOwn && !isPrompted()) ref.send({ type: 'agent.told' })
  }

  function answer(method: string, params: unknown): Promise<object> | undefined {
    return family.answer(method, isPrompted() ? params : undefined)
  }

  const logic = chartOf(externalTurnMachine).provide({
    actors: {
      begin: fromPromise(async () => {
        opening = openAgentLink({
          open: (streams) => openAgent(host, { adapter, provider, directory, env }, streams),
          most: LIMITS.external.turnMessages,
          earlier: family.earlier,
          onRequest: answer,
          onUpdate: take,
          onEnd(how, said) {
            errors = said
            log.debug('an external agent has ended', { provider, sessionId, how, said })
            if (isActive(ref)) ref.send({ type: 'agent.ended', how })
          },
        })
        link = await opening
        loading = canLoad(await initialize(link, true))
      }),
      load: fromPromise(async () => {
        const { known, prompt: told } = openingOf(turn, loading)
        text = told
        if (known !== undefined) agentSession = known // what it repeats is told of it
        const { sessionId: id, ...first } = await openSession(opened(), { directory, known, loading })
        agentSession = id
        offered = first
        if (known !== undefined) return loading === 'session/load'
        costBefore = 0
        doors.keep({ agentSessionId: id, cost: 0 })
        return false
      }),
      choose: fromPromise(async () => {
        const differing = Object.entries(turn.kept.selected).filter(([id, value]) => !isChosen(offered, id, value))
        offered = await choose(opened(), agentSession, offered, Object.fromEntries(differing))
      }),
      prompt: fromPromise(async () => {
        answered = await prompt(opened(), agentSession, text, turn.trace)
      }),
      told: fromPromise(nextTurns),
      // What was still being started when it had to end is ended once it is there.
      end: fromPromise(async () => (await opening?.catch(() => undefined))?.end()),
    },
    actions: { cancel: () => link?.notify('session/cancel', { sessionId: agentSession }), hold: () => link?.hold() },
  })
  const ref = createActor(logic, { id: `external-turn:${sessionId}`, input: { sessionId }, clock })
  host.actors.add(ref, 'external-turn')
  const { end, failure } = await untilOver(ref, signal, () => void family.end('stopped').catch(() => undefined))
  await family.end(HOW[end])
  if (end === 'aborted') throw new ProviderError(`The agent "${provider}" was stopped.`, { retryable: false })
  if (end === 'failed' || answered === undefined) throw failed(provider, failure ?? 'it gave no answer', errors)
  close(doors, { answered, usage, offered, costBefore })
  return { gone: () => reached(ref) }
}

/** In which what has ended the turn is written. */
async function nextTurns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** `onAbort`: what need not wait for the agent to end its prompt. */
async function untilOver(ref: Actor<typeof externalTurnMachine>, signal: AbortSignal, onAbort: () => void): Promise<TurnOutput> {
  const abort = () => {
    ref.send({ type: 'abort.requested' })
    onAbort()
  }
  signal.addEventListener('abort', abort)
  ref.start()
  if (signal.aborted) abort()
  await reached(ref, (snapshot) => snapshot.hasTag('over')).finally(() => signal.removeEventListener('abort', abort))
  const { end, failure } = ref.getSnapshot().context
  return { end, failure }
}

/** The session to open again, and what to prompt; one that cannot be opened again is told anew. */
function openingOf({ kept: { agentSessionId: known }, before, prompt: text }: Turn, loading: ReturnType<typeof canLoad>) {
  const said = known === undefined || loading !== undefined ? [] : before()
  return said.length === 0 ? { known, prompt: text } : { known: undefined, prompt: withRetold(said, text) }
}

interface Opening {
  readonly directory: string
  readonly known: string | undefined
  readonly loading: ReturnType<typeof canLoad>
}

/** The session the agent had, else a new one. Throws a sentence. */
async function openSession(link: AgentLink, { directory, known, loading }: Opening): Promise<ReturnType<typeof offeredBy>> {
  const place = { cwd: directory, mcpServers: [] }
  if (known === undefined) return offeredBy(await link.request('session/new', place))
  if (loading === undefined) throw new Error('it cannot open an earlier session again: it has neither session/resume nor session/load')
  const told = await link.request(loading, { sessionId: known, ...place })
  return offeredBy({ ...(isRecord(told) && told), sessionId: known })
}

/** Throws a sentence. */
async function prompt(
  link: AgentLink,
  sessionId: string,
  text: string,
  trace: TraceContext | undefined,
): Promise<z.infer<typeof Answered>> {
  const request = { sessionId, prompt: [{ type: 'text', text }], ...(trace !== undefined && { _meta: { ...trace } }) }
  const parsed = Answered.safeParse(await link.request('session/prompt', request))
  if (!parsed.success) throw new Error('its answer to the prompt cannot be read')
  return parsed.data
}

interface TurnEnd {
  readonly answered: z.infer<typeof Answered>
  readonly usage: AgentUsage | undefined
  readonly offered: Offered
  /** What the session of the agent had cost before. */
  readonly costBefore: number
}

/** Keeps what the agent has come to, and pushes the last part. */
function close({ push, keep }: TurnDoors, { answered, usage, offered, costBefore }: TurnEnd): void {
  const { amount } = usage?.cost ?? {}
  keep({ selected: shownOptions(offered).selectedOptions, ...(amount !== undefined && { cost: amount }) })
  const cost = amount === undefined ? {} : { cost: Math.max(0, amount - costBefore) }
  push({ type: 'finish', reason: FINISHES[answered.stopReason] ?? 'other', usage: tokensOf(answered, usage), ...cost })
}

function failed(provider: string, failure: string, errors: string): ProviderError {
  const said = errors === '' ? '' : ` It wrote: ${wellFormed(cut(errors.slice(-ERRORS), ERRORS))}`
  return new ProviderError(`The agent "${provider}" has failed: ${failure}.${said}`, { retryable: false })
}

function tokensOf({ usage }: z.infer<typeof Answered>, told: AgentUsage | undefined): TokenUsage {
  const window = told === undefined ? {} : { total: told.used, contextLimit: told.size }
  if (usage == null) return { ...ZERO_USAGE, ...window }
  return {
    input: usage.inputTokens ?? 0,
    output: usage.outputTokens ?? 0,
    reasoning: usage.thoughtTokens ?? 0,
    cache: { read: usage.cachedReadTokens ?? 0, write: usage.cachedWriteTokens ?? 0 },
    ...window,
  }
}
