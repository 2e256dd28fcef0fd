/**
 * The actor of a machine below another one, or of an effect that is none of ours (`effect-actor.ts`). The constructor of XState makes twenty
 * objects for each: here it is one, which is its own scope, and has a list of whoever watches it from the first one on.
 *
 * I1 It is an actor of XState: what reaches it, what it tells and when are those of `Actor`, whose methods it has but for the few below.
 */
import { Actor, type AnyActorLogic, type AnyActorRef, type AnyActorScope, type AnyEventObject, type Snapshot } from 'xstate'
import { effectActor, isEffect } from './effect-actor.js'
import { inherited, type Inherited, type Origin, STATUS, type System, UNHEARD, UNWATCHED, watching } from './origin.js'

/** As machines hand it on. */
interface ActionOf {
  readonly type: string
  readonly params: unknown
  readonly info: unknown
  readonly exec?: (info: unknown, params: unknown) => void
}

/** Events of one actor, worked off one after the other. */
class Mailbox {
  readonly #owner: Inherited
  #waiting: AnyEventObject[] = []
  #state: 'closed' | 'idle' | 'busy' = 'closed'

  constructor(owner: Inherited) {
    this.#owner = owner
  }

  start(): void {
    this.#flush()
  }

  clear(): void {
    if (this.#waiting.length > 0) this.#waiting = []
  }

  enqueue(event: AnyEventObject): void {
    this.#waiting.push(event)
    if (this.#state === 'idle') this.#flush()
  }

  #flush(): void {
    this.#state = 'busy'
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) this.#owner._process(event)
    this.#state = 'idle'
  }
}

class Child {
  readonly logic: AnyActorLogic
  readonly id: string
  readonly sessionId: string
  readonly src: unknown
  readonly options: { readonly input: unknown }
  readonly system: System
  readonly _parent: AnyActorRef
  readonly mailbox: Mailbox
  _snapshot: Snapshot<unknown> | undefined = undefined
  _processingStatus = STATUS.notStarted
  _deferred: (() => void)[] = []
  _doneEvent: unknown = undefined
  observers: Set<unknown> = UNWATCHED
  eventListeners: Map<string, Set<(event: unknown) => void>> = UNHEARD

  /** The interpreter, which puts its own in its place for a while, calls it without its owner. */
  actionExecutor = (action: ActionOf): void => {
    if (this._processingStatus === STATUS.running) this._carryOut(action)
    else this._deferred.push(() => this._carryOut(action))
  }

  constructor(logic: AnyActorLogic, { id, src, parent, input }: Origin) {
    this.logic = logic
    this.id = id
    this.src = src
    this.system = parent.system as System
    this.sessionId = this.system._bookId()
    this.options = { input }
    this._parent = parent
    this.mailbox = new Mailbox(this as unknown as Inherited)
    this.system._sendInspectionEvent({ type: '@xstate.actor', actorRef: this })
    inherited._initState.call(this)
  }

  get ref(): this {
    return this
  }

  get self(): this {
    return this
  }

  get _actorScope(): this {
    return this
  }

  get clock(): unknown {
    return this.system._clock
  }

  get logger(): unknown {
    return this.system._logger
  }

  /** Effects take it from their scope. */
  get emit(): (event: { readonly type: string }) => void {
    return (event) => {
      for (const type of [event.type, '*']) for (const listener of this.eventListeners.get(type) ?? []) listener(event)
    }
  }

  defer(work: () => void): void {
    this._deferred.push(work)
  }

  stopChild(child: Inherited & { readonly _parent?: unknown; readonly id: string }): void {
    if (child._parent !== this) throw new Error(`Cannot stop child actor ${child.id} of ${this.id} because it is not a child`)
    child._stop()
  }

  _carryOut({ type, params, info, exec }: ActionOf): void {
    this.system._sendInspectionEvent({ type: '@xstate.action', actorRef: this, action: { type, params } })
    exec?.(info, params)
  }

  _stopProcedure(): this {
    if (this._processingStatus !== STATUS.running) return this
    this.system.scheduler.cancelAll(this)
    this.mailbox.clear()
    this._processingStatus = STATUS.stopped
    this.system._unregister(this)
    return this
  }
}

Object.setPrototypeOf(Child.prototype, Actor.prototype)
Object.assign(Child.prototype, watching)

/** Below its parent, which begins it. */
export function createChild(logic: AnyActorLogic, origin: Origin): AnyActorRef {
  return effectActor(logic, origin) ?? (new Child(logic, origin) as unknown as AnyActorRef)
}

/** What XState keeps to itself of an actor. */
type Begun = AnyActorRef & { readonly _processingStatus: number }

/** Once its parent has its snapshot, unless it has been left by then. */
export function begin(scope: AnyActorScope, { actorRef: ref }: { readonly actorRef: Begun | undefined }): void {
  if (ref === undefined) return
  scope.defer(() => {
    if (ref._processingStatus !== STATUS.stopped) ref.start()
  })
}

/** Events that have reached it come first. */
export function leave(scope: AnyActorScope, ref: Begun | undefined): void {
  if (ref === undefined) return
  unregister(ref)
  if (ref._processingStatus === STATUS.running) scope.defer(() => scope.stopChild(ref))
  else scope.stopChild(ref)
}

/** Names of the system that it and what is below it have are free at once. */
function unregister(ref: AnyActorRef): void {
  if (isEffect(ref)) return // It has none.
  const snapshot: unknown = ref.getSnapshot()
  if (typeof snapshot === 'object' && snapshot !== null && 'children' in snapshot)
    for (const child of Object.values(snapshot.children as Readonly<Record<string, AnyActorRef | undefined>>))
      if (child !== undefined) unregister(child)
  ;(ref.system as System)._unregister(ref)
}
