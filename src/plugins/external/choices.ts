/** What may be chosen of the agent of a session, and which sessions agents have of their own (http-contract §2.5, §5.5). */
import type {
  ExternalImportRequest,
  ExternalOptionSetRequest,
  ExternalSessionCatalog,
  ExternalSessionOptions,
} from '../../protocol/external/external.js'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { cut } from '../../kernel/cut.js'
import type { ExternalProvider } from '../../protocol/session/external-provider.js'
import type { CreateSessionRequest, Session } from '../../protocol/session/session.js'
import type { NativeHost } from '../../ports/plugin.js'
import type { Kept, KeptSessions } from './kept.js'
import type { Previews } from './previews.js'

export interface Choices {
  options(sessionId: string): Promise<ExternalSessionOptions>
  /** Counts from the next turn on. */
  setOption(sessionId: string, request: ExternalOptionSetRequest): Promise<ExternalSessionOptions>
  catalog(provider: ExternalProvider, directory: string): Promise<ExternalSessionCatalog>
  import(directory: string, request: ExternalImportRequest): Promise<Session>
}

interface ChoicesOptions {
  readonly host: Pick<NativeHost, 'rows' | 'sessions'>
  readonly previews: Previews
  readonly kept: KeptSessions
  /** Makes a session on an agent. */
  begin(
    directory: string,
    provider: ExternalProvider,
    request: CreateSessionRequest,
    how: Pick<Kept, 'selected' | 'agentSessionId'>,
  ): Promise<Session>
}

export function createChoices({ host, previews, kept, begin }: ChoicesOptions): Choices {
  function known(sessionId: string) {
    const session = host.sessions.get(sessionId)
    const row = kept.get(sessionId)
    if (session === undefined) throw new SvcError('resource.not_found', `There is no session "${sessionId}".`, { sessionId })
    if (session.externalAgent === undefined || row === undefined)
      throw new SvcError('request.unprocessable', 'No external agent answers this session.', { sessionId })
    return { session, row, provider: session.externalAgent.provider }
  }

  const optionsOf = async (provider: ExternalProvider, { directory }: Session, selected: Kept['selected']) => {
    const { catalogStale: _stale, ...options } = await previews.preview(provider, directory, selected)
    return options
  }

  return {
    async options(sessionId) {
      const { session, provider, row } = known(sessionId)
      try {
        return await optionsOf(provider, session, row.selected)
      } catch (error) {
        // What was chosen is offered no more; else it fails the same way again.
        const options = await optionsOf(provider, session, {})
        return { ...options, replayError: messageOf(error) }
      }
    },
    async setOption(sessionId, { configId, value }) {
      const { session, provider, row } = known(sessionId)
      const options = await optionsOf(provider, session, { ...row.selected, [configId]: value })
      const now = kept.get(sessionId)
      if (now !== undefined) host.rows.commit('power', (tx) => kept.put(tx, { ...now, selected: { ...now.selected, [configId]: value } }))
      return options
    },
    catalog: (provider, directory) => previews.sessions(provider, directory),
    async import(directory, { provider, externalSessionId }) {
      if (
        kept
          .all()
          .some(
            ({ agentSessionId, sessionId }) =>
              agentSessionId === externalSessionId && host.sessions.get(sessionId)?.externalAgent?.provider === provider,
          )
      )
        throw new SvcError('resource.conflict', 'A session of this server is on it already.', { provider })
      const { sessions, importUnavailableReason } = await previews.sessions(provider, directory)
      if (importUnavailableReason !== undefined) throw new SvcError('request.unprocessable', importUnavailableReason, { provider })
      const found = sessions.find((each) => each.externalSessionId === externalSessionId)
      if (found === undefined)
        throw new SvcError('resource.not_found', `The agent "${provider}" has no such session in this directory.`, { provider })
      const title = found.title === undefined ? {} : { title: cut(found.title, 200) }
      return begin(directory, provider, title, { selected: {}, agentSessionId: externalSessionId })
    },
  }
}
