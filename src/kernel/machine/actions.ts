/** What a machine does on its way from one snapshot to the next, upon one draft of the next. */
import { type AnyActorLogic, type AnyActorRef, type AnyActorScope, type AnyEventObject, type AnyMachineSnapshot, createActor } from 'xstate'
import { begin, createChild, leave } from './child.js'
import { enqueued } from './enqueued.js'
import type { Action } from './layout.js'
import { type Draft, type Given, isTold, type Making, seen } from './snapshot.js'

/** What XState makes of `assign`, `spawnChild` and the like; it says what it is to do, and then does it. */
interface Builtin {
  readonly type: string
  resolve(
    scope: AnyActorScope,
    snapshot: AnyMachineSnapshot,
    given: Given,
    params: unknown,
    action: Builtin,
    extra: { readonly internalQueue: AnyEventObject[]; readonly deferredActorIds: string[] | undefined },
  ): readonly [AnyMachineSnapshot, unknown, readonly Action[] | undefined]
  retryResolve?(scope: AnyActorScope, snapshot: AnyMachineSnapshot, params: unknown): void
  execute?(scope: AnyActorScope, params: unknown): void
  readonly assignment?: Assignment | Readonly<Record<string, unknown>>
  readonly id?: string | ((given: Given) => string)
  readonly src?: string | AnyActorLogic
  readonly input?: unknown
  readonly systemId?: string
  readonly syncSnapshot?: boolean
  readonly actorRef?: unknown
  readonly collect?: (given: object, params: unknown) => void
}

type Assignment = (given: Given, params: unknown) => object

/** `coming`: ids of actors that begin meanwhile, who may be sent to before they are there. */
export function perform(making: Making, actions: readonly Action[], coming?: string[]): void {
  if (actions.length === 0) return
  const { draft, event, scope } = making
  const given = { context: draft.context, event, self: scope.self, system: scope.system, spawn: noSpawn }
  const performance: Performance = { making, given, coming, retries: undefined }
  performAll(performance, actions)
  for (const retry of performance.retries ?? []) retry()
}

/** What the actions of one list have in common. */
interface Performance {
  readonly making: Making
  /** As it is at the action that is under way. */
  readonly given: Given
  readonly coming: string[] | undefined
  retries: (() => void)[] | undefined
}

function performAll(performance: Performance, actions: readonly Action[]): void {
  const { making, given, coming } = performance
  const { draft, scope } = making
  for (const action of actions) {
    given.context = draft.context
    const meant = meaningOf(draft, action)
    const params = paramsOf(action, given)
    if (meant === undefined || !isBuiltin(meant)) {
      scope.actionExecutor({ type: nameOf(action), info: { ...given }, params, exec: meant } as never)
      continue
    }
    switch (meant.type) {
      case 'xstate.assign':
        draft.context = { ...draft.context, ...assigned(meant, given, params) }
        break
      case 'xstate.spawnChild':
        carriedOut(scope, meant.type, spawned(making, meant, given), begin)
        break
      case 'xstate.stopChild':
        carriedOut(scope, meant.type, stopped(making, meant, given, params), leave)
        break
      case 'xstate.enqueueActions':
        performAll(performance, enqueued(making, meant, given, params))
        break
      default: {
        const { execute } = meant
        const extra = { internalQueue: making.queue, deferredActorIds: coming }
        const [, told, more] = meant.resolve(scope, seen(draft), given, params, meant, extra)
        if (coming !== undefined && meant.retryResolve !== undefined)
          (performance.retries ??= []).push(() => meant.retryResolve?.(scope, seen(draft), told))
        if (execute !== undefined) carriedOut(scope, meant.type, told, execute)
        if (more !== undefined) performAll(performance, more)
      }
    }
  }
}

/** What it is told of besides is the scope: nobody who watches sees that. */
function carriedOut(scope: AnyActorScope, type: string, told: unknown, work: (scope: AnyActorScope, told: never) => void): void {
  scope.actionExecutor({ type, info: scope as never, params: told, exec: work as never })
}

function assigned({ assignment }: Builtin, given: Given, params: unknown): object {
  if (typeof assignment === 'function') return assignment(given, params)
  const update: Record<string, unknown> = {}
  for (const key in assignment) {
    const value = assignment[key]
    update[key] = isTold(value) ? value(given, params) : value
  }
  return update
}

export function noSpawn(): never {
  throw new Error('an assignment begins no actor: say "spawnChild"')
}

function spawned(making: Making, { id, src, systemId, input, syncSnapshot }: Builtin, given: Given) {
  const { draft, scope } = making
  const logic = typeof src === 'string' ? (draft.machine.implementations.actors[src] as AnyActorLogic | undefined) : src
  const own = typeof id === 'function' ? id(given) : (id ?? '')
  const told = isTold(input) ? input(given) : input
  const ref = logic && made(logic, { id: own, src, parent: scope.self, input: told }, { syncSnapshot, systemId })
  const children = others(draft.children, own)
  children[own] = ref
  draft.children = children
  return { id, systemId, actorRef: ref, src, input: told }
}

/** What others are told of as it changes, or find by a name, is made by XState. */
function made(
  logic: AnyActorLogic,
  origin: Parameters<typeof createChild>[1],
  { syncSnapshot, systemId }: { readonly syncSnapshot: boolean | undefined; readonly systemId: string | undefined },
): AnyActorRef {
  if (syncSnapshot !== true && systemId === undefined) return createChild(logic, origin)
  return createActor(logic, { ...origin, syncSnapshot, systemId } as never)
}

/** Ids of calls are many: a record of them without a shape of its own costs V8 least. */
function others(children: Draft['children'], id: string | undefined): Record<string, AnyActorRef | undefined> {
  const kept = Object.create(null) as Record<string, AnyActorRef | undefined>
  for (const key in children) if (key !== id) kept[key] = children[key]
  return kept
}

function stopped(making: Making, { actorRef }: Builtin, given: Given, params: unknown): unknown {
  const { draft } = making
  const named = isTold(actorRef) ? actorRef(given, params) : actorRef
  const ref = typeof named === 'string' ? draft.children[named] : (named as AnyActorRef | undefined)
  draft.children = others(draft.children, ref?.id)
  return ref
}

function meaningOf({ machine }: Draft, action: Action): ((...given: never[]) => unknown) | Builtin | undefined {
  if (typeof action === 'function') return action
  if (typeof action === 'object' && isBuiltin(action)) return action
  return machine.implementations.actions[typeof action === 'string' ? action : action.type] as Builtin | undefined
}

function isBuiltin(action: object): action is Builtin {
  return 'resolve' in action
}

function paramsOf(action: Action, { context, event }: Given): unknown {
  if (typeof action === 'function' || typeof action === 'string' || !('params' in action)) return undefined
  const { params } = action
  return isTold(params) ? params({ context, event }) : params
}

function nameOf(action: Action): string {
  if (typeof action === 'string') return action
  return typeof action === 'function' ? action.name || '(anonymous)' : action.type
}
