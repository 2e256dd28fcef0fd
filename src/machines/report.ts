/**
 * The report of background work: how what it has come to is told to the session it was done for, once.
 *
 *     owed ──(held until the session can hear it)── told
 *      ↑↓ what could not be recorded is tried again after a pause
 *
 * I1 What is told and that it was told are one commit of the effect, so that it may be tried as often as need be.
 * I2 It is dropped where its session is gone, and left as its row is when the service stops; the next start tells it.
 *
 * Tasks and commands in the background are told so. Goals and runs of workflows are not, each says why (`goal.machine.ts`,
 * `workflow-run.machine.ts`).
 */

/** For the top of a machine: what drops a report, or puts it off. */
export const LEAVING = { 'session.gone': { target: '.stopped' }, 'service.stopping': { target: '.parked' } } as const

/** How the work has ended, or was left. */
export const ENDS = {
  delivered: { type: 'final' },
  failed: { type: 'final' },
  stopped: { type: 'final' },
  parked: { type: 'final' },
} as const

interface Effect<Src extends string, Input, Done> {
  readonly src: Src
  readonly input: Input
  readonly onDone: Done
}

interface Invoked<Src extends string, Input, Done, Pausing extends string> extends Effect<Src, Input, Done> {
  readonly id: Src
  readonly onError: { readonly target: Pausing }
}

type Tried<Doing extends string, Pausing extends string, Invoke, More> = {
  readonly [K in Doing | Pausing]: More &
    (K extends Doing ? { readonly invoke: Invoke } : { readonly after: { readonly retry: { readonly target: Doing } } })
}

/**
 * Two states: an effect, and the pause (`retry`, a delay of the machine) after which it is tried again, until it is done. `more` holds
 * of both, so that whoever asks sees one thing going on.
 */
export function untilDone<const Doing extends string, const Pausing extends string, const Src extends string, Input, const Done>(
  names: readonly [Doing, Pausing],
  effect: Effect<Src, Input, Done>,
): Tried<Doing, Pausing, Invoked<Src, Input, Done, Pausing>, unknown>
// A type of its own for what has more: without it, TypeScript would take what a machine allows there for what is there.
export function untilDone<
  const Doing extends string,
  const Pausing extends string,
  const Src extends string,
  Input,
  const Done,
  const More,
>(
  names: readonly [Doing, Pausing],
  effect: Effect<Src, Input, Done>,
  more: More,
): Tried<Doing, Pausing, Invoked<Src, Input, Done, Pausing>, More>
export function untilDone(
  [doing, pausing]: readonly [string, string],
  { src, input, onDone }: Effect<string, unknown, unknown>,
  more = {},
) {
  const invoke = { id: src, src, input, onDone, onError: { target: pausing } }
  return { [doing]: { ...more, invoke }, [pausing]: { ...more, after: { retry: { target: doing } } } }
}
