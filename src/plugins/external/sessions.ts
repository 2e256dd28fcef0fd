/**
 * Sessions that an external agent answers (subsystems l.4).
 *
 * I1 An agent is started for a turn, and is gone before the next begins; a session has one turn at a time, however the one before ended.
 * I2 By which id the agent knows a session is kept before it is prompted in it. It is never shown.
 */
import { createLanes } from '../../kernel/lane.js'
import type { OperationCall } from '../../ports/doors.js'
import type { NativeHost, ProviderContribution, ToolContribution } from '../../ports/plugin.js'
import { ProviderError, type SessionWorker } from '../../ports/provider-adapter.js'
import { SvcError } from '../../protocol/errors.js'
import { EXTERNAL, ExternalProvider } from '../../protocol/session/external-provider.js'
import { CreateSessionRequest, type ExternalAgent, type Session } from '../../protocol/session/session.js'
import { adapterOf, ownVariables } from './adapters.js'
import { type Choices, createChoices } from './choices.js'
import type { Kept, KeptSessions } from './kept.js'
import { type Nested, playNested } from './subagents/nested.js'
import type { Previews } from './previews.js'
import { takeTurn } from './turn.js'

type Env = Readonly<Record<string, string | undefined>>
type Worker = SessionWorker<ToolContribution>
const NAME = 'externalAgent'
/** Turns of one session, that under way included. */
const TURNS = 8

interface SessionsOptions {
  readonly host: NativeHost
  readonly env: Env
  readonly previews: Previews
  readonly kept: KeptSessions
}

export interface ExternalSessions extends Choices {
  create(call: OperationCall): Promise<Session>
  readonly provider: ProviderContribution
}

/** A task that was delegated to an agent begins with its first turn. */
function begun({ host: { sessions, effects, rows }, kept }: Pick<SessionsOptions, 'host' | 'kept'>, sessionId: string): Kept | undefined {
  if (sessions.get(sessionId)?.externalAgent?.status !== 'created') return undefined
  const row: Kept = { sessionId, since: effects.clock.now(), selected: {} }
  rows.commit('process', (tx) => kept.put(tx, row))
  return row
}

export function createExternalSessions({ host, env, previews, kept }: SessionsOptions): ExternalSessions {
  const { clock, childEnv } = host.effects
  const turns = createLanes<string>({ most: TURNS })
  const nested: Nested = new Map()

  /** How the agent fares, on the record. */
  function note(sessionId: string, status: ExternalAgent['status']): void {
    const known = host.sessions.get(sessionId)?.externalAgent
    if (known !== undefined) host.sessions.note(sessionId, NAME, { ...known, status, lastActivityAt: clock.now() })
  }

  /** What was chosen meanwhile counts more than what the agent has come to. */
  function keep(before: Kept, { selected, ...change }: Partial<Kept>): void {
    const now = kept.get(before.sessionId)
    if (now === undefined) return
    const isChosenNow = JSON.stringify(now.selected) !== JSON.stringify(before.selected)
    const next = { ...now, ...change, ...(selected !== undefined && !isChosenNow && { selected }) }
    host.rows.commit('process', (tx) => kept.put(tx, next))
  }

  /** Notes how it fares meanwhile. */
  async function noted<T>(sessionId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    note(sessionId, 'running')
    try {
      const worked = await work()
      note(sessionId, 'completed')
      return worked
    } catch (error) {
      note(sessionId, signal.aborted ? 'completed' : 'error')
      throw error
    }
  }

  async function turn(provider: ExternalProvider, ...[work, push, desk, signal]: Parameters<Worker['work']>) {
    const { sessionId, directory } = work
    const row = kept.get(sessionId) ?? begun({ host, kept }, sessionId)
    if (row === undefined) throw new ProviderError('What the agent knows the session by is not kept any more.', { retryable: false })
    const adapter = await adapterOf(provider, directory, env, host.programs.find)
    const about = { provider, adapter, env: { ...childEnv, ...ownVariables(provider, env) }, nested, kept: row }
    return noted(sessionId, signal, () =>
      takeTurn(host, { ...work, ...about }, { push, desk, signal, keep: (change) => keep(row, change) }),
    )
  }

  const worker = (provider: ExternalProvider): Worker => ({
    work(...given) {
      const [{ sessionId }, , , signal] = given
      if (host.sessions.get(sessionId)?.externalAgent?.nested === true) return noted(sessionId, signal, () => playNested(nested, ...given))
      return new Promise<void>((resolve, reject) => {
        const whole = async () => {
          const { gone } = await turn(provider, ...given)
          resolve()
          await gone() // I1
        }
        turns.run(sessionId, whole, signal).catch(reject)
      })
    },
  })

  /** It survives a loss of power once it is answered. */
  async function begin(
    directory: string,
    provider: ExternalProvider,
    request: CreateSessionRequest,
    how: Pick<Kept, 'selected' | 'agentSessionId'>,
  ): Promise<Session> {
    const external: ExternalAgent = { runtime: 'acp', provider, agent: provider, status: 'created' }
    const rowOf = ({ id }: Session): Kept => ({ sessionId: id, since: clock.now(), ...how })
    const session = await host.sessions.create(directory, request, { [NAME]: external }, (tx, made) => kept.put(tx, rowOf(made)))
    host.rows.commit('power', (tx) => kept.put(tx, rowOf(session)))
    return session
  }

  const choices = createChoices({ host, previews, kept, begin })

  return {
    ...choices,
    async create({ directory, body }) {
      const { externalProvider, externalOptions = {}, ...request } = CreateSessionRequest.parse(body)
      if (externalProvider === undefined)
        throw new SvcError('request.invalid', '"externalOptions" are those of an external agent: name it in "externalProvider".')
      if (request.agent !== undefined || request.model !== undefined)
        throw new SvcError(
          'request.invalid',
          `The agent "${externalProvider}" answers the session: it has no other agent, and no model of ours.`,
        )
      await adapterOf(externalProvider, directory, env, host.programs.find)
      if (Object.keys(externalOptions).length > 0) await previews.preview(externalProvider, directory, externalOptions)
      return begin(directory, externalProvider, request, { selected: { ...externalOptions } })
    },
    provider: {
      npm: [],
      worker: { id: EXTERNAL, create: (modelId) => worker(ExternalProvider.parse(modelId)) },
      create: () => {
        throw new Error('it is no provider of models')
      },
    },
  }
}
