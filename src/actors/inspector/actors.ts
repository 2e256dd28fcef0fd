/** Live actors as data: names, kinds and states, and the walk from a root to everything below it (laws §8). */
import type { AnyActorRef, AnyEventObject } from 'xstate'
import type { InspectedActor } from '../../protocol/system/inspector.js'
import { isRecord } from '../../protocol/text/json.js'
import type { RootActor } from '../../kernel/roots.js'
import { isMachine } from './charts.js'

/** Deeper than any tree of ours; a cycle would end here. */
const DEPTH = 16
const TOOL_CALL = 'tool-call'
const NONE: readonly string[] = []

/** What is known of an actor because it was watched. */
export interface Seen {
  readonly id: string
  readonly startedAt: number | undefined
  since: number | undefined
  state: readonly string[]
  /** The state value that `state` was made from. */
  value: unknown
  /** Events that wait in its mailbox, in order, with the records that told them. */
  readonly waiting: { readonly event: AnyEventObject; readonly sequence: number }[]
}

/** What is known of an actor when it comes into sight. */
export function sighted(id: string, snapshot: unknown, times: Pick<Seen, 'startedAt' | 'since'>): Seen {
  return { id, ...times, state: statesOf(snapshot), value: valueOf(snapshot), waiting: [] }
}

/** Path of an actor: the id of its root and the ids below it. */
export function pathOf(ref: AnyActorRef): string {
  let path = ref.id
  let parent = ref._parent
  for (let depth = 0; parent !== undefined && depth < DEPTH; depth++) {
    path = `${parent.id}/${path}`
    parent = parent._parent
  }
  return path
}

/** A root and everything that lives below it, parents first. */
export function* family(ref: AnyActorRef, depth = DEPTH): Generator<AnyActorRef> {
  yield ref
  if (depth === 0) return
  for (const child of childrenOf(ref)) yield* family(child, depth - 1)
}

/** Names of tool calls, by the ids their actors know. */
export type CallOf = (
  runId: string,
  callId: string,
) => { readonly sessionId: string; readonly tool: string; readonly pluginId: string } | undefined

/** The ids a tool call's actor knows; undefined of every other actor. */
export function callIdsOf(ref: AnyActorRef): { readonly runId: string; readonly callId: string } | undefined {
  const logic = logicOf(ref)
  if (!isMachine(logic) || logic.id !== TOOL_CALL) return undefined
  const snapshot: unknown = snapshotOf(ref)
  const context = isRecord(snapshot) && isRecord(snapshot['context']) ? snapshot['context'] : {}
  const { runId, callId } = context
  return typeof runId === 'string' && typeof callId === 'string' ? { runId, callId } : undefined
}

export function describeActor(ref: AnyActorRef, root: RootActor | undefined, seen: Seen | undefined, callOf?: CallOf): InspectedActor {
  const ids = callIdsOf(ref)
  const call = ids && callOf?.(ids.runId, ids.callId)
  const logic = logicOf(ref)
  const machine = isMachine(logic) ? logic.id : undefined
  const startedAt = root?.startedAt ?? seen?.startedAt
  const parentId = ref._parent === undefined ? undefined : pathOf(ref._parent)
  return {
    id: seen?.id ?? pathOf(ref),
    ...(parentId !== undefined && { parentId }),
    kind: root?.kind ?? machine ?? 'effect',
    name: ref.id,
    ...(call !== undefined && { title: call.tool, pluginId: call.pluginId }),
    ...(machine !== undefined && { machine }),
    state: [...statesOf(snapshotOf(ref))],
    ...(startedAt !== undefined && { startedAt }),
    ...(seen?.since !== undefined && { since: seen.since }),
    restarts: root?.restarts ?? 0,
  }
}

/** Paths of the innermost active states of a snapshot; empty for what has no states. */
export function statesOf(snapshot: unknown): readonly string[] {
  const value = valueOf(snapshot)
  if (typeof value === 'string') return [value]
  return value === undefined ? NONE : [...leaves(value, '')]
}

/** The state value of a snapshot; undefined for what has no states. */
export function valueOf(snapshot: unknown): unknown {
  return typeof snapshot === 'object' && snapshot !== null && 'value' in snapshot ? snapshot.value : undefined
}

function* leaves(value: unknown, prefix: string): Generator<string> {
  if (typeof value === 'string') yield prefix + value
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries<unknown>({ ...value })) {
      const isLeaf = typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0
      if (isLeaf) yield prefix + key
      else yield* leaves(inner, `${prefix}${key}.`)
    }
  }
}

/** The logic an actor runs. */
export function logicOf(ref: AnyActorRef): unknown {
  return 'logic' in ref ? ref.logic : undefined
}

/** Undefined while the actor is being made. */
function snapshotOf(ref: AnyActorRef): unknown {
  return ref.getSnapshot()
}

function childrenOf(ref: AnyActorRef): AnyActorRef[] {
  const snapshot = snapshotOf(ref)
  if (typeof snapshot !== 'object' || snapshot === null || !('children' in snapshot)) return []
  const { children } = snapshot
  return typeof children === 'object' && children !== null ? Object.values(children).filter(isActor).filter(isAlive) : []
}

function isActor(value: unknown): value is AnyActorRef {
  return typeof value === 'object' && value !== null && 'getSnapshot' in value && 'sessionId' in value
}

function isAlive(ref: AnyActorRef): boolean {
  const snapshot = snapshotOf(ref)
  return typeof snapshot === 'object' && snapshot !== null && 'status' in snapshot && snapshot.status === 'active'
}
