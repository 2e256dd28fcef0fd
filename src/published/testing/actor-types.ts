/** Live actors and what happened to them. Part of the declarations of `svc/testing`: types only. */
import type { InspectedActor, InspectorRecord, InspectorTrace } from '../../protocol/system/inspector.js'
import type { WaitOptions } from './journal-types.js'

/** Kinds of actors that are state machines. */
export type ActorKind =
  | 'activation'
  | 'checkout'
  | 'clone'
  | 'compaction'
  | 'credential-lease'
  | 'embeddings'
  | 'external-child'
  | 'external-preview'
  | 'external-turn'
  | 'generation'
  | 'goal'
  | 'handles'
  | 'installation'
  | 'instance'
  | 'interaction'
  | 'job'
  | 'lease'
  | 'lsp-client'
  | 'mcp-connection'
  | 'package'
  | 'pty'
  | 'restore'
  | 'run'
  | 'runtime'
  | 'search-index'
  | 'session'
  | 'sign-in'
  | 'subscription'
  | 'task'
  | 'title'
  | 'tool-call'
  | 'workflow-engine'
  | 'workflow-run'
  | 'workspace'

/**
 * Which actor is meant. `id` is its path (`session:ses_1/run`), its name, or what it stands for or belongs to: the id of a session,
 * of a package, of a tool call. Without `id` there must be one of the kind.
 */
export interface ActorSelector {
  readonly kind: ActorKind
  readonly id?: string
}

export interface StateOptions extends WaitOptions {
  /** Only a state that is entered from now on. */
  readonly next?: boolean
}

export interface TestActors {
  /** Every live actor, parents first. */
  list(): readonly InspectedActor[]
  /** The one live actor that is meant; throws when there is none, or more than one. */
  get(selector: ActorSelector): InspectedActor
  /** States of an actor since the start, in order, that of an ended one too: `['looking', 'working.running', 'idle']`. */
  history(selector: ActorSelector): readonly string[]
  /** Everything that happened to actors: starts, events, transitions, ends. */
  readonly records: readonly InspectorRecord[]
}

/** Resolves once an actor is in the state, or passes through it; also where it has ended there by the event that was sent just before. */
export type AwaitState = (selector: ActorSelector, state: string, options?: StateOptions) => Promise<InspectedActor>

/** Sends an event to a live actor, as its parent or an effect would; throws when there is none, or its machine does not know the event. */
export type SendEvent = (selector: ActorSelector, event: { readonly type: string; readonly [key: string]: unknown }) => void

/** As the inspector saves it. */
export type TakeTrace = () => InspectorTrace
