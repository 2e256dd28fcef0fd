/**
 * Sessions that an external agent answers (subsystems l.4).
 *
 * I1 An agent is started for a turn, and is gone after it; a session has one turn at a time, however the one before ended.
 * I2 By which id the agent knows a session is kept before it is prompted in it. It is never shown.
 */
import { createLanes } from '../../kernel/lane.js'
import { isRecord } from '../../protocol/text/json.js'
import type { EventsContribution } from '../../ports/contributions.js'
import type { OperationCall } from '../../ports/doors.js'
import type { NativeHost, ProviderContribution, SessionWorker } from '../../ports/plugin.js'
import { type ModelMessage, ProviderError } from '../../ports/provider-adapter.js'
import { SvcError } from '../../protocol/errors.js'
import { EXTERNAL, ExternalProvider } from '../../protocol/external/external-provider.js'
import { CreateSessionRequest, type ExternalAgent, type Session } from '../../protocol/session/session.js'
import { adapterOf, ownVariables } from './adapters.js'
import type { KeptSessions } from './kept.js'
import type { Previews } from './previews.js'
import { takeTurn } from './turn.js'

type Env = Readonly<Record<string, string | undefined>>
const NAME = 'externalAgent'
/** Turns of one session, that under way included. */
const TURNS = 8

interface SessionsOptions {
  readonly host: NativeHost
  readonly env: Env
  readonly previews: Previews
  readonly kept: KeptSessions
}

export interface ExternalSessions {
  create(call: OperationCall): Promise<Session>
  readonly provider: ProviderContribution
  readonly events: EventsContribution
}

export function createExternalSessions({ host, env, previews, kept }: SessionsOptions): ExternalSessions {
  const { clock, childEnv } = host.effects
  const turns = createLanes<string>({ most: TURNS })

  /** How the agent fares, on the record. */
  function note(sessionId: string, status: ExternalAgent['status']): void {
    const known = host.sessions.get(sessionId)?.externalAgent
    if (known !== undefined) host.sessions.note(sessionId, NAME, { ...known, status, lastActivityAt: clock.now() })
  }

  const worker = (provider: ExternalProvider): SessionWorker => ({
    work: ({ sessionId, directory, messages }, push, desk, signal) =>
      turns.run(
        sessionId,
        async () => {
          const row = kept.get(sessionId)
          if (row === undefined) throw new ProviderError('What the agent knows the session by is not kept any more.', { retryable: false })
          const adapter = await adapterOf(provider, directory, env, host.programs.find)
          const turn = {
            sessionId,
            provider,
            directory,
            adapter,
            env: { ...childEnv, ...ownVariables(provider, env) },
            prompt: promptIn(messages),
            kept: row,
          }
          note(sessionId, 'running')
          try {
            await takeTurn(host, turn, { push, desk, signal, keep: (next) => host.rows.commit('process', (tx) => kept.put(tx, next)) })
            note(sessionId, 'completed')
          } catch (error) {
            note(sessionId, signal.aborted ? 'completed' : 'error')
            throw error
          }
        },
        signal,
      ),
  })

  return {
    async create({ directory, body }) {
      const { externalProvider, externalOptions = {}, ...request } = CreateSessionRequest.parse(body)
      if (externalProvider === undefined)
        throw new SvcError('request.invalid', '"externalOptions" are those of an external agent: name it in "externalProvider".')
      if (request.agent !== undefined || request.model !== undefined)
        throw new SvcError('request.invalid', `The agent "${externalProvider}" answers the session: it has no other agent, and no model of ours.`)
      await adapterOf(externalProvider, directory, env, host.programs.find)
      if (Object.keys(externalOptions).length > 0) await previews.preview(externalProvider, directory, externalOptions)
      const external: ExternalAgent = { runtime: 'acp', provider: externalProvider, agent: externalProvider, status: 'created' }
      return host.sessions.create(directory, request, { [NAME]: external }, (tx, { id }) =>
        kept.put(tx, { sessionId: id, since: clock.now(), selected: { ...externalOptions } }),
      )
    },
    provider: {
      npm: [],
      worker: { id: EXTERNAL, create: (modelId) => worker(ExternalProvider.parse(modelId)) },
      create: () => {
        throw new Error('it is no provider of models')
      },
    },
    events: {
      namespaces: ['session.deleted'],
      deliver({ properties }) {
        const sessionId = isRecord(properties) ? properties['sessionID'] : undefined
        if (typeof sessionId === 'string' && kept.get(sessionId) !== undefined) host.rows.commit('process', (tx) => kept.delete(tx, sessionId))
      },
    },
  }
}

/** What was said since the last answer. */
function promptIn(messages: readonly ModelMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool')
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n\n')
}
