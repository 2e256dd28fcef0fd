/** An agent, or one of its subagents, in a turn: what it tells becomes parts of an answer, and what it asks for is asked for in that session. */
import type { NativeHost, ToolContribution } from '../../../ports/plugin.js'
import type { StepDesk, StreamPart } from '../../../ports/provider-adapter.js'
import type { ExternalProvider } from '../../../protocol/session/external-provider.js'
import type { Session } from '../../../protocol/session/session.js'
import { createRequests, type Requests } from '../requests.js'
import { createTerminals } from '../terminals.js'
import { createUpdates, type Updates, type UpdatesOptions } from '../updates.js'

/** Where a member is shown. */
export interface Seat extends Pick<UpdatesOptions, 'onPlan' | 'onUsage' | 'work'> {
  readonly host: Pick<NativeHost, 'effects'>
  readonly provider: ExternalProvider
  readonly directory: string
  /** Of the turn. */
  readonly signal: AbortSignal
  /** Files that were written here for the agent. */
  readonly written: Set<string>
  readonly push: (part: StreamPart) => void
  readonly desk: StepDesk<ToolContribution>
  /** Its session; rejects where there is none. */
  session(): Promise<Session>
}

export interface Member extends Pick<Seat, 'push' | 'session'> {
  readonly updates: Updates
  /** By method. */
  readonly requests: Requests
  /** What still runs for it is stopped. */
  end(): void
}

export function openMember({ host, provider, directory, signal, written, push, desk: given, session, ...heard }: Seat): Member {
  const updates = createUpdates({ push, agent: provider, isOurs: (path) => written.has(path), ...heard })
  const desk = pausing(updates, given)
  const terminals = createTerminals(desk)
  const files = createRequests({ host, desk, updates, directory, agent: provider, signal, onWritten: (path) => written.add(path) })
  return { push, session, updates, requests: { ...files, ...terminals.requests }, end: () => terminals.end() }
}

/** What is said afterwards stands after what is called. */
function pausing({ pause }: Pick<Updates, 'pause'>, { call }: Seat['desk']): Seat['desk'] {
  return {
    call(asked) {
      pause()
      return call(asked)
    },
  }
}
