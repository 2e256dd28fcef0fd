/** A subagent of an external agent, shown in a session of its own below that of whoever gave it work (subsystems l.4). */
import { chartOf } from '../../../kernel/machine/chart.js'
import { createActor, type EventFrom, fromPromise, toPromise } from 'xstate'
import { cut } from '../../../kernel/cut.js'
import type { Lane } from '../../../kernel/lane.js'
import { nextTurn } from '../../../kernel/pause.js'
import { isActive, reached } from '../../../kernel/reached.js'
import { type ChildInput, externalChildMachine } from '../../../machines/external/external-child.machine.js'
import type { NativeHost, ToolContribution } from '../../../ports/plugin.js'
import { ProviderError, type StepDesk, type StreamPart } from '../../../ports/provider-adapter.js'
import { LIMITS } from '../../../protocol/limits.js'
import { ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import type { ExternalProvider } from '../../../protocol/session/external-provider.js'
import type { ExternalAgent, Session, Todo } from '../../../protocol/session/session.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import { createFeed } from './feed.js'
import type { Nested } from './nested.js'
import type { AgentUsage } from '../updates.js'

/** Characters of the title of a session. */
const TITLE = 200
const CLOSED: StepDesk<ToolContribution> = { call: async () => ({ ok: false, error: 'The subagent has ended.' }) }

export type ChildHost = Pick<NativeHost, 'effects' | 'actors' | 'sessions' | 'todos' | 'stopping' | 'agents'>

export interface ChildOptions {
  readonly host: ChildHost
  readonly nested: Nested
  readonly provider: ExternalProvider
  readonly title: string
  readonly prompt: string
  readonly unattended: boolean
  /** In which the subagents of one turn are begun and ended, one after the other. */
  readonly lane: Lane
  /** The session it is shown below; rejects where there is none. */
  above(): Promise<Session>
  /** It is there. */
  onOpened(link: Link): void
  /** What of it still runs is ended, as nobody hears of it. */
  onEnded(): void
}

/** How the call that gave it work shows its session. */
interface Link {
  readonly sessionId: string
  readonly agent: string
  readonly status: string
  readonly background: false
}

export interface Child {
  push(part: StreamPart): void
  readonly desk: StepDesk<ToolContribution>
  plan(todos: readonly Todo[]): void
  /** What it says that it has used. */
  used(usage: AgentUsage): void
  /** Its session; rejects where it was not made. */
  opened(): Promise<Session>
  end(how: 'completed' | 'failed' | 'stopped', failure?: string): void
  /** Resolves once nothing of it runs, with how the call shows it then. */
  over(): Promise<{
    readonly end: 'completed' | 'failed' | 'stopped'
    readonly metadata: Readonly<Record<string, unknown>>
    readonly text: string
  }>
}

export function createChild(options: ChildOptions): Child {
  const { host, nested, provider, title, prompt, unattended, lane, above, onOpened, onEnded } = options
  const { sessions, effects, todos, stopping } = host
  const feed = createFeed(LIMITS.external.children.ahead)
  const since = effects.clock.now()
  const named = wellFormed(cut(title, TITLE))
  let session: Session | undefined
  let usage: AgentUsage | undefined
  let planned: readonly Todo[] | undefined
  let desk = CLOSED
  let shown: ReturnType<Child['over']> | undefined

  const link = (id: string, status: string): Link => ({ sessionId: id, agent: provider, status, background: false })

  const ref = createActor(
    chartOf(externalChildMachine).provide({
      actors: {
        open: fromPromise<void, ChildInput>(async () => {
          const parent = await above()
          const { id } = await lane.run(async () => {
            await nextTurn()
            const made = await makeSession(host, provider, named, parent)
            session = made
            nested.set(made.id, play)
            await sessions.prompt(made.id, { prompt, unattended })
            return made
          })
          if (planned !== undefined) todos.replace(id, planned)
          onOpened(link(id, 'running'))
        }),
        settled: fromPromise<void, ChildInput>(() => untilSettled()),
        stop: fromPromise<void, ChildInput>(async () => void (session && (await sessions.abort(session.id)))),
      },
    }),
    { id: `external-child:${effects.ids.next('evt')}`, input: { title: named }, clock: effects.clock },
  )
  const ended = toPromise(ref).finally(() => {
    if (session !== undefined) nested.delete(session.id)
    desk = CLOSED
    onEnded()
  })
  ended.catch(() => undefined)
  host.actors.add(ref, 'external-child')
  ref.start()

  function send(event: EventFrom<typeof externalChildMachine>): void {
    if (isActive(ref)) ref.send(event)
  }

  async function untilSettled(): Promise<void> {
    if (session === undefined || sessions.get(session.id) === undefined) return
    await sessions.settled(session.id, AbortSignal.any([stopping])) // Many wait at once: a signal warns of many who listen.
  }

  async function show(): ReturnType<Child['over']> {
    const { end, failure } = await ended
    await untilSettled().catch(() => undefined)
    feed.close()
    if (session === undefined || sessions.get(session.id) === undefined) return { end, metadata: {}, text: failure ?? '' }
    const { id, parentId: keeper = id } = session
    const notes = sessions.changes(id, { since, keeper })
    return { end, metadata: { ...link(id, SHOWN_ENDS[end]), ...notes }, text: sessions.outcome(id).text }
  }

  const play: Parameters<Nested['set']>[1] = async (_work, push, given, signal) => {
    const abort = () => send({ type: 'run.aborted' })
    signal.addEventListener('abort', abort, { once: true })
    feed.open(push)
    desk = given
    send({ type: 'run.began' })
    if (signal.aborted) abort()
    const { end, failure } = await ended.finally(() => signal.removeEventListener('abort', abort))
    if (end === 'completed') feed.push(finish(usage))
    feed.close()
    if (end !== 'completed') throw new ProviderError(failure ?? 'The subagent was stopped.', { retryable: false })
  }

  return {
    push: (part) => feed.push(part),
    desk: {
      async call(asked) {
        await reached(ref, (snapshot) => snapshot.hasTag('playing'))
        return desk.call(asked)
      },
    },
    plan(told) {
      planned = told
      if (session !== undefined) todos.replace(session.id, told)
    },
    used: (told) => void (usage = told),
    async opened() {
      await reached(ref, (snapshot) => !snapshot.hasTag('opening'))
      if (session === undefined) throw new Error('its session was not made')
      return session
    },
    end: (how, failure) => send({ type: 'child.over', end: how, failure }),
    over: () => (shown ??= show()),
  }
}

async function makeSession(
  { agents, sessions }: ChildHost,
  provider: ExternalProvider,
  title: string,
  { id: parentId, directory, permission, workspaceId }: Session,
): Promise<Session> {
  const externalAgent: ExternalAgent = { runtime: 'acp', provider, agent: provider, status: 'created', nested: true }
  // It may do no more than its parent, which works under the rules of the default agent.
  const [ruling] = await agents(directory, parentId)
  const request = { parentId, title, ...(permission !== undefined && { permission }), ...(workspaceId !== undefined && { workspaceId }) }
  return sessions.create(directory, request, { externalAgent, ...(ruling && { delegation: { agent: ruling.name, refused: [] } }) })
}

const SHOWN_ENDS = { completed: 'completed', failed: 'error', stopped: 'stopped' } as const

function finish(usage: AgentUsage | undefined): StreamPart {
  const cost = usage?.cost?.amount
  const window = usage === undefined ? {} : { total: usage.used, contextLimit: usage.size }
  return { type: 'finish', reason: 'stop', usage: { ...ZERO_USAGE, ...window }, ...(cost !== undefined && { cost }) }
}
