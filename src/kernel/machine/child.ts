/**
 * The actor of an effect or of a machine below another one. There are six of them in a step with a tool, and the constructor of XState makes
 * twenty objects for each: here it is one, which is its own scope, and has a list of whoever watches it from the first one on.
 *
 * I1 It is an actor of XState: what reaches it, what it tells and when are those of `Actor`, whose methods it has but for the few below.
 */
import { Actor, type AnyActorLogic, type AnyActorRef, type AnyEventObject, type Snapshot } from 'xstate'

interface Origin {
  readonly id: string
  readonly src: unknown
  readonly parent: AnyActorRef
  readonly input: unknown
}

/** As machines hand it on. */
interface ActionOf {
  readonly type: string
  readonly params: unknown
  readonly info: unknown
  readonly exec?: (info: unknown, params: unknown) => void
}

/** What XState keeps to itself of a system. */
type System = AnyActorRef['system'] & {
  _bookId(): string
  _unregister(ref: unknown): void
  _sendInspectionEvent(event: object): void
  readonly scheduler: { cancelAll(ref: unknown): void }
  readonly _clock: unknown
  readonly _logger: unknown
}

/** What it keeps to itself of an actor. */
const STATUS = { notStarted: 0, running: 1, stopped: 2 }

interface Inherited {
  _initState(): void
  _process(event: AnyEventObject): void
  _stop(): void
  getSnapshot(): Snapshot<unknown>
}

const inherited = Actor.prototype as unknown as Inherited & {
  subscribe(...given: unknown[]): unknown
  on(...given: unknown[]): unknown
}

/** Of the many that nobody watches. */
const UNWATCHED = new Set<never>()
const UNHEARD = new Map<never, never>()

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

  subscribe(...given: unknown[]): unknown {
    if (this.observers === UNWATCHED) this.observers = new Set()
    return inherited.subscribe.apply(this, given)
  }

  on(...given: unknown[]): unknown {
    if (this.eventListeners.size === 0) this.eventListeners = new Map()
    return inherited.on.apply(this, given)
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

/** Below its parent, which begins it. */
export function createChild(logic: AnyActorLogic, origin: Origin): AnyActorRef {
  return new Child(logic, origin) as unknown as AnyActorRef
}
