/**
 * The actor of an effect below a machine that is laid out: what its machine is told, and whoever watches, and nothing else.
 *
 * I1 It is an actor of XState to who looks at it: what reaches it, what it tells and when are those of `Actor`, whose methods it has but for
 *    the few below.
 */
import { Actor, type AnyActorLogic, type AnyActorRef, type AnyEventObject, type Snapshot } from 'xstate'
import { Stoppable } from '../stopping.js'
import { begin, type Ending, endingOf, REJECTED, RESOLVED, STOPPED, type Work, workOf } from './effect.js'
import { inherited, type Origin, STATUS, type System, UNHEARD, UNWATCHED, watching } from './origin.js'

/** It defers nothing. */
const NONE: (() => void)[] = []

type Seen = Snapshot<unknown> & { readonly input?: unknown }

abstract class EffectActor {
  readonly logic: AnyActorLogic
  readonly id: string
  readonly src: unknown
  readonly input: unknown
  readonly system: System
  readonly _parent: AnyActorRef
  _snapshot: Seen
  readonly _deferred: (() => void)[] = NONE
  _processingStatus = STATUS.notStarted
  observers: Set<unknown> = UNWATCHED
  eventListeners: Map<string, Set<(event: unknown) => void>> = UNHEARD
  /** What reached it before it had begun, or while it worked something off. */
  #waiting: AnyEventObject[] | undefined = undefined
  #isBusy = true
  #sessionId: string | undefined = undefined

  constructor(logic: AnyActorLogic, { id, src, parent, input }: Origin) {
    this.logic = logic
    this.id = id
    this.src = src
    this.input = input
    this.system = parent.system as System
    this._parent = parent
    this._snapshot = { status: 'active', output: undefined, error: undefined, input }
    this.system._sendInspectionEvent({ type: '@xstate.actor', actorRef: this })
  }

  /** Begins to work; what it throws is its end. */
  protected abstract work(): void

  /** What comes of an event. */
  protected abstract next(event: AnyEventObject): Seen

  /** Most are asked for by nobody. */
  get sessionId(): string {
    return (this.#sessionId ??= this.system._bookId())
  }

  get ref(): this {
    return this
  }

  get options(): { readonly input: unknown } {
    return { input: this.input }
  }

  start(): this {
    if (this._processingStatus === STATUS.running) return this
    this._processingStatus = STATUS.running
    const event = { type: 'xstate.init', input: this.input }
    this.system._sendInspectionEvent({ type: '@xstate.event', sourceRef: this._parent, actorRef: this, event })
    try {
      this.work()
    } catch (error) {
      this._snapshot = { ...this._snapshot, status: 'error', output: undefined, error }
      inherited._error.call(this, error)
      return this
    }
    this.update(this._snapshot, event)
    this.#workOff()
    return this
  }

  _send(event: AnyEventObject): void {
    if (this._processingStatus === STATUS.stopped) return
    ;(this.#waiting ??= []).push(event)
    if (!this.#isBusy) this.#workOff()
  }

  _stop(): this {
    this.#waiting = undefined
    if (this._processingStatus === STATUS.running) this._send({ type: STOPPED })
    else this._processingStatus = STATUS.stopped
    return this
  }

  #workOff(): void {
    this.#isBusy = true
    for (let event = this.#waiting?.shift(); event !== undefined; event = this.#waiting?.shift()) this.#process(event)
    this.#isBusy = false
  }

  #process(event: AnyEventObject): void {
    let next: Seen
    try {
      next = this.next(event)
    } catch (error) {
      this._snapshot = { ...this._snapshot, status: 'error', output: undefined, error }
      inherited._error.call(this, error)
      return
    }
    this.update(next, event)
    if (event.type !== STOPPED) return
    this._stopProcedure()
    inherited._complete.call(this)
  }

  update(snapshot: Seen, event: AnyEventObject): void {
    if (this.observers !== UNWATCHED) return inherited.update.call(this, snapshot, event)
    this._snapshot = snapshot
    const { system, id } = this
    if (snapshot.status === 'error') inherited._error.call(this, snapshot.error)
    else if (snapshot.status === 'done') {
      this._stopProcedure()
      system._relay(this, this._parent, { type: `xstate.done.actor.${id}`, output: snapshot.output, actorId: id })
    }
    system._sendInspectionEvent({ type: '@xstate.snapshot', actorRef: this, event, snapshot })
  }

  _stopProcedure(): this {
    this.#waiting = undefined
    if (this._processingStatus === STATUS.running) this._processingStatus = STATUS.stopped
    return this
  }
}

Object.setPrototypeOf(EffectActor.prototype, Actor.prototype)
Object.assign(EffectActor.prototype, watching)

/** One that ends with a value. */
class Promised extends EffectActor {
  readonly #ending: Ending
  readonly #stoppable = new Stoppable()

  constructor(logic: AnyActorLogic, ending: Ending, origin: Origin) {
    super(logic, origin)
    this.#ending = ending
  }

  get isStopped(): boolean {
    return this.#stoppable.isStopped
  }

  get signal(): AbortSignal {
    return this.#stoppable.signal
  }

  protected work(): void {
    begin(
      () => this.#ending(this),
      (type, data) => this.#settle(type, data),
    )
  }

  #settle(type: string, data: unknown): void {
    if (this._snapshot.status === 'active') this.system._relay(undefined, this, { type, data })
  }

  protected next(event: AnyEventObject): Seen {
    const { _snapshot: now } = this
    if (now.status !== 'active') return now
    const past = { output: undefined, error: undefined, input: undefined }
    switch (event.type) {
      case RESOLVED:
        return { ...past, status: 'done', output: event['data'] }
      case REJECTED:
        return { ...past, status: 'error', error: event['data'] }
      case STOPPED:
        this.#stoppable.stop()
        return { ...past, status: 'stopped' }
      default:
        return now
    }
  }
}

/** One that goes on until it is stopped. */
class Working extends EffectActor {
  readonly #work: Work<AnyEventObject, unknown>
  #receivers: Set<(event: AnyEventObject) => void> | undefined = undefined
  #stop: (() => void) | undefined = undefined

  constructor(logic: AnyActorLogic, work: Work<AnyEventObject, unknown>, origin: Origin) {
    super(logic, origin)
    this.#work = work
  }

  protected work(): void {
    this.#stop = this.#work({
      input: this.input,
      sendBack: (event) => {
        if (this._snapshot.status !== 'stopped') this.system._relay(this, this._parent, event)
      },
      receive: (listener) => void (this.#receivers ??= new Set()).add(listener),
    })
  }

  protected next(event: AnyEventObject): Seen {
    if (event.type !== STOPPED) {
      for (const receiver of this.#receivers ?? []) receiver(event)
      return this._snapshot
    }
    this.#receivers = undefined
    this.#stop?.()
    return { ...this._snapshot, status: 'stopped', output: undefined, error: undefined }
  }
}

/** Undefined = it is the logic of something else. */
export function effectActor(logic: AnyActorLogic, origin: Origin): AnyActorRef | undefined {
  const ending = endingOf(logic)
  if (ending !== undefined) return new Promised(logic, ending, origin) as unknown as AnyActorRef
  const work = workOf(logic)
  return work === undefined ? undefined : (new Working(logic, work, origin) as unknown as AnyActorRef)
}

export function isEffect(ref: unknown): boolean {
  return ref instanceof EffectActor
}
