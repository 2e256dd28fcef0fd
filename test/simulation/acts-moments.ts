/** What happens in moments in which a machine gets somewhere. */
import { SvcError } from '../../src/protocol/errors.js'
import type { Step } from './history.js'
import type { Trace } from './known.js'
import { createMoments } from './moments.js'

interface Met {
  readonly trace: Trace
  suffer(how: Extract<Step, { readonly do: 'fill' }>['how'] | undefined): void
  /** Both begin at once, and go on when what they answer is called. The dead die no more. */
  die(how: 'kill' | 'power', torn: number): (() => Promise<void>) | undefined
  restart(): () => Promise<void>
  /** A server that starts, and one that is dead, can be reached by nobody. */
  isUp(): boolean
  /** A step of the history is done: only then does a server die. */
  isActing(): boolean
  take(step: Step): void | Promise<void>
  /** An actor of the machine goes round. */
  endless(machine: string): void
}

export interface Meeting {
  await(step: Extract<Step, { readonly do: 'when' }>): void
  /** Goes on with a life after one that has ended in a moment. */
  over(): Promise<void>
  forget(): void
  /** A step of the history has ended. */
  passed(): void
  end(): void
}

export function createMeeting({ trace, suffer, die, restart, isUp, isActing, take, endless }: Met): Meeting {
  const moments = createMoments(endless)
  let next: (() => Promise<void>) | undefined

  /** What others do reaches the server behind what it is at work on. */
  function meet(step: Step): void {
    if (!isUp() && step.do !== 'fill' && step.do !== 'slow' && step.do !== 'when') return
    if (!isActing() && (step.do === 'die' || step.do === 'restart')) return
    switch (step.do) {
      case 'fill':
        return suffer(step.how)
      case 'die':
        return void (next = die(step.how, step.torn) ?? next)
      case 'when':
        return awaited(step)
      case 'restart':
        return queueMicrotask(() => {
          if (isActing()) next ??= restart()
        })
      case 'slow':
      case 'folder':
        return void take(step)
      case 'wait':
        return
      default:
        return queueMicrotask(() => void late(step))
    }
  }

  /** The server may be over by now: of one that is dead nothing is asked. */
  async function late(step: Step): Promise<void> {
    if (!isUp()) return
    try {
      await take(step)
    } catch (error) {
      if (!(error instanceof SvcError && error.code === 'lifecycle.closed')) throw error
      trace.add(error.code)
    }
  }

  function awaited({ steps, ...moment }: Extract<Step, { readonly do: 'when' }>): void {
    moments.on(moment, () => {
      trace.add([moment.machine, moment.state])
      for (const step of steps) meet(step)
      return steps.some((step) => step.do === 'fill') ? () => suffer(undefined) : undefined
    })
  }

  return {
    await: awaited,
    async over() {
      for (let rise = next; rise !== undefined; rise = next) {
        next = undefined
        await rise()
      }
    },
    forget: moments.forget,
    passed: moments.passed,
    end: moments.end,
  }
}
