/**
 * One plugin package in one scope: trust, revision, and which generation serves (plugin-protocol §3.1–3.5).
 *
 * I1 A candidate replaces what serves only when it is published; until then, and when it is refused, the last good one serves.
 * I2 Authority that is withdrawn (trust, the package itself, its scope) retires what runs at once, also what is switched off: that
 *    takes no more calls and finishes those it has.
 * I3 An instance that ends by itself is brought back `restart.tries` times in `restartWindow`, later each time, then given up.
 * I4 Every generation is a child; nothing of the package runs any more once this machine has ended.
 */
import { assign, enqueueActions, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import type { Assessment } from './assessment.js'
import { type GenerationReport, generationMachine } from './generation.machine.js'
import { requiredPromise } from '../required.js'

export interface PackageInput {
  /** Package id and scope, unique in the service. */
  readonly key: string
  /** Packages fail when they cannot start; entries of the configuration are degraded and tried again (plugin-protocol §4.5). */
  readonly strict: boolean
  /** The highest number that an earlier actor of the key gave to a generation: numbers never go back. */
  readonly before: number
}

interface Incarnation {
  readonly number: number
  readonly revision: string
  readonly signature: string
}

interface PackageContext extends PackageInput {
  readonly assessment: Assessment | undefined
  readonly wanted: boolean
  readonly serving: Incarnation | undefined
  readonly candidate: Incarnation | undefined
  /** Numbers of generations that still run something. */
  readonly alive: readonly number[]
  readonly lastNumber: number
  readonly strikes: number
  /** Content that served last; it is brought back when the content that was found does not start. */
  readonly lastGood: string | undefined
  /** Signature of the candidate that was refused last: it is not tried again for the same. */
  readonly refused: string | undefined
  /** Its revision: what was approved in the place of what serves, and did not start. */
  readonly refusedRevision: string | undefined
  /** Why it is degraded, failed or retained; undefined when all is well. */
  readonly reason: string | undefined
}

export type PackageEvent =
  | { readonly type: 'assessed'; readonly assessment: Assessment }
  /** The scope is in use, or not any more. */
  | { readonly type: 'wanted' }
  | { readonly type: 'unwanted' }
  | { readonly type: 'hook.failed'; readonly number: number; readonly reason: string }
  | { readonly type: 'hook.succeeded'; readonly number: number }
  /** An operator asks for another attempt. */
  | { readonly type: 'restore.requested' }
  /** Whoever contributed what this one was refused for has changed. */
  | { readonly type: 'conflict.changed' }
  | { readonly type: 'removed' }
  | { readonly type: 'stop.requested' }
  | GenerationReport

const CHILD = 'generation:'

const judged = { params: ({ event }: { event: { assessment: Assessment } }) => event.assessment } as const
const note = { type: 'note', ...judged } as const
const number = { params: ({ event }: { event: { number: number } }) => event.number } as const
const reason = { type: 'noteReason', params: ({ event }: { event: { reason: string } }) => event.reason } as const
const ended = { params: ({ event }: { event: { actorId: string } }) => Number(event.actorId.slice(CHILD.length)) } as const
/** The sentence a refused candidate left, or the error of one that crashed. */
const refusal = {
  type: 'noteReason',
  params: ({ event }: { event: { output?: unknown; error?: unknown } }) => reasonOf(event),
} as const

const AT_REST = '#package.resting'
const RUNNING = '#package.running'

const known = { guard: { type: 'wasJudged', ...judged }, actions: note } as const
/** Other content, another approval, other options or the switch: what failed before says nothing of it. */
const anew = [note, 'clearReason', 'forgiveStrikes'] as const
const withdraw = { type: 'revokeWithdrawn', ...judged } as const
/** While nothing serves, everything follows from the assessment. */
const evaluated = [
  { guard: { type: 'isInvalid', ...judged }, target: '.failed', actions: [withdraw, ...anew] },
  { guard: { type: 'isDisabled', ...judged }, target: '.disabled', actions: [withdraw, ...anew] },
  { guard: { type: 'isUntrusted', ...judged }, target: '.permission-required', actions: [withdraw, ...anew] },
  { target: '.trusted', actions: anew },
] as const

const withdrawn = [
  { guard: { type: 'isInvalid', ...judged }, target: `${AT_REST}.failed`, actions: [note, 'revokeAll'] },
  { guard: { type: 'isDisabled', ...judged }, target: `${AT_REST}.disabled`, actions: [note, 'switchOff'] },
  { guard: { type: 'isUntrusted', ...judged }, target: `${AT_REST}.permission-required`, actions: [note, 'revokeAll'] },
] as const
/** Leaves what was under way: also a copy that is being made is made anew. */
const renewed = { target: '.starting.enabled', actions: ['revokeCandidate', ...anew] } as const
/** I1: what serves goes on, with content that was found again or while new content is not approved. */
const kept = [
  { guard: { type: 'isServingCurrent', ...judged }, target: '.serving.active', actions: [note, 'revokeCandidate', 'clearReason'] },
  { guard: { type: 'keepsServing', ...judged }, target: '.serving.update-available', actions: [note, 'revokeCandidate', 'clearReason'] },
] as const

const unwanted = [
  { guard: 'isTrusted', target: `${AT_REST}.trusted`, actions: ['noteUnwanted', 'revokeAll'] },
  { target: `${AT_REST}.permission-required`, actions: ['noteUnwanted', 'revokeAll'] },
] as const
const lost = {
  guard: { type: 'isServingNumber', ...number },
  target: '.degraded',
  actions: [reason, 'countStrike', 'forgetServing'],
} as const

/** It ended while its successor was on its way: that decides what comes next. */
const missed = { guard: { type: 'isServingNumber', ...number }, actions: 'forgetServing' } as const

const noteEnd = { type: 'noteEnd', ...ended } as const
const restoringEnded = [
  {
    guard: { type: 'isCandidate', ...ended },
    target: `${RUNNING}.degraded`,
    actions: [noteEnd, 'noteRefused', 'countStrike', refusal],
  },
  { actions: noteEnd },
] as const
const loadingEnded = [
  { guard: { type: 'isRefusedWhileFound', ...ended }, target: `${RUNNING}.serving.active`, actions: [noteEnd, 'noteRefused', refusal] },
  {
    guard: { type: 'isRefusedWhileServing', ...ended },
    target: `${RUNNING}.serving.update-available`,
    actions: [noteEnd, 'noteRefused', refusal],
  },
  { guard: { type: 'isRefusedStrictly', ...ended }, target: `${AT_REST}.failed`, actions: [noteEnd, 'noteRefused', refusal] },
  ...restoringEnded,
] as const

export const packageMachine = setup({
  types: { input: {} as PackageInput, context: {} as PackageContext, events: {} as PackageEvent },
  actors: {
    generation: generationMachine,
    /** Makes sure that our own copy of the assessed content exists, so that what runs is what was hashed. */
    keepCopy: requiredPromise<void, { key: string; revision: string }>('keepCopy'),
  },
  guards: {
    isInvalid: (_, { verdict }: Assessment) => verdict === 'invalid' || verdict === 'ungranted',
    isDisabled: (_, { verdict }: Assessment) => verdict === 'disabled',
    isUntrusted: (_, { verdict }: Assessment) => verdict === 'untrusted',
    /** What was found is what serves. */
    isServingCurrent: ({ context }, { verdict, signature }: Assessment) =>
      verdict === 'trusted' && context.serving?.signature === signature,
    wasJudged: ({ context }, { verdict, signature }: Assessment) =>
      context.assessment?.verdict === verdict && context.assessment.signature === signature,
    /** What serves was approved and stays so, or what was approved in its place has not started, although the new content is not approved, or not yet. */
    keepsServing: ({ context: { serving, refusedRevision } }, { verdict, revision, approved }: Assessment) =>
      serving !== undefined &&
      (verdict === 'untrusted' || verdict === 'invalid') &&
      revision !== serving.revision &&
      approved.some((each) => each === serving.revision || each === refusedRevision),
    isTrusted: ({ context }) => context.assessment?.verdict === 'trusted',
    mayEnable: ({ context }) => context.wanted && context.assessment?.verdict === 'trusted',
    isServing: ({ context }) => context.serving !== undefined,
    isCandidate: ({ context }, number: number) => context.candidate?.number === number,
    isCandidateFound: ({ context: { candidate, assessment } }, number: number) =>
      candidate?.number === number && assessment?.verdict === 'trusted' && candidate.revision === assessment.revision,
    isRefusedWhileFound: ({ context: { candidate, serving, assessment } }, number: number) =>
      candidate?.number === number && serving !== undefined && serving.revision === assessment?.revision,
    isRefusedWhileServing: ({ context: { candidate, serving } }, number: number) => candidate?.number === number && serving !== undefined,
    isRefusedStrictly: ({ context }, number: number) => context.candidate?.number === number && context.strict && !mayFallBack(context),
    isServingNumber: ({ context }, number: number) => context.serving?.number === number,
    isGivenUp: ({ context }) => context.serving === undefined && context.strikes > LIMITS.plugins.restart.tries,
    canRestore: ({ context }) => context.wanted && context.serving === undefined && revisionToRestore(context) !== undefined,
    isAlone: ({ context }) => context.alive.length === 0,
  },
  actions: {
    note: assign({ assessment: (_, assessment: Assessment) => assessment }),
    noteWanted: assign({ wanted: true }),
    noteUnwanted: assign({ wanted: false }),
    noteReason: assign({ reason: (_, reason: string) => reason }),
    clearReason: assign({ reason: undefined }),
    countStrike: assign({ strikes: ({ context }) => context.strikes + 1 }),
    forgiveStrikes: assign({ strikes: 0 }),
    /** The number is given before anything of it runs (plugin-protocol §3.4). */
    nameCandidate: assign(({ context }) => named(context, context.assessment?.revision ?? '')),
    nameRestored: assign(({ context }) => named(context, revisionToRestore(context) ?? '')),
    spawnCandidate: enqueueActions(({ context: { key, candidate, alive }, enqueue }) => {
      if (candidate === undefined) return
      const { number, revision } = candidate
      enqueue.spawnChild('generation', { id: `${CHILD}${number}`, input: { key, number, revision } })
      enqueue.assign({ alive: [...alive, number] })
    }),
    supersedeServing: enqueueActions(({ context: { serving, alive }, enqueue }) => {
      if (serving !== undefined && alive.includes(serving.number)) enqueue.sendTo(`${CHILD}${serving.number}`, { type: 'superseded' })
    }),
    promote: assign(({ context: { candidate } }) => ({
      serving: candidate,
      candidate: undefined,
      reason: undefined,
      lastGood: candidate?.revision,
      refused: undefined,
      refusedRevision: undefined,
    })),
    noteRefused: assign({
      candidate: undefined,
      refused: ({ context }) => context.candidate?.signature,
      refusedRevision: ({ context }) => context.candidate?.revision,
    }),
    forgetServing: assign({ serving: undefined }),
    noteEnd: enqueueActions(({ context, enqueue }, number: number) => {
      if (!context.alive.includes(number)) return
      enqueue.stopChild(`${CHILD}${number}`)
      enqueue.assign({ alive: context.alive.filter((other) => other !== number) })
    }),
    /** I2. */
    revokeAll: enqueueActions(({ context: { alive }, enqueue }) => {
      for (const number of alive) enqueue.sendTo(`${CHILD}${number}`, { type: 'revoked' })
      enqueue.assign({ serving: undefined, candidate: undefined, reason: undefined })
    }),
    /** I2, of what was switched off and still finishes its calls. */
    revokeWithdrawn: enqueueActions(({ context: { alive, lastGood, assessment }, enqueue }, { approved }: Assessment) => {
      if (lastGood === undefined || assessment?.approved.includes(lastGood) !== true || approved.includes(lastGood)) return
      for (const number of alive) enqueue.sendTo(`${CHILD}${number}`, { type: 'revoked' })
    }),
    switchOff: enqueueActions(({ context: { alive }, enqueue }) => {
      for (const number of alive) enqueue.sendTo(`${CHILD}${number}`, { type: 'switched.off' })
      enqueue.assign({ serving: undefined, candidate: undefined, reason: undefined })
    }),
    revokeCandidate: enqueueActions(({ context: { candidate, alive }, enqueue }) => {
      if (candidate !== undefined && alive.includes(candidate.number)) enqueue.sendTo(`${CHILD}${candidate.number}`, { type: 'revoked' })
      enqueue.assign({ candidate: undefined })
    }),
  },
  delays: {
    restartDelay: ({ context }) => delayOf(LIMITS.plugins.restart, context.strikes),
    restartWindow: LIMITS.plugins.restartWindow,
  },
}).createMachine({
  id: 'package',
  context: ({ input }) => ({
    ...input,
    assessment: undefined,
    wanted: false,
    serving: undefined,
    candidate: undefined,
    alive: [],
    lastNumber: input.before,
    strikes: 0,
    lastGood: undefined,
    refused: undefined,
    refusedRevision: undefined,
    reason: undefined,
  }),
  initial: 'resting',
  on: {
    wanted: { actions: 'noteWanted' },
    unwanted: { actions: 'noteUnwanted' },
    removed: { target: '.leaving', actions: 'revokeAll' },
    'stop.requested': { target: '.leaving', actions: 'revokeAll' },
    'xstate.done.actor.*': { actions: { type: 'noteEnd', ...ended } },
    'xstate.error.actor.*': { actions: { type: 'noteEnd', ...ended } },
  },
  states: {
    /** What the look found decides, and nothing runs. */
    resting: {
      initial: 'discovered',
      on: { assessed: [known, ...evaluated] },
      states: {
        discovered: {},
        'permission-required': { always: { guard: 'canRestore', target: `${RUNNING}.starting.restoring` } },
        disabled: {},
        trusted: { always: { guard: 'mayEnable', target: RUNNING } },
        failed: {
          on: {
            'restore.requested': { guard: 'canRestore', target: `${RUNNING}.starting.restoring`, actions: 'forgiveStrikes' },
            'conflict.changed': { guard: 'mayEnable', target: RUNNING, actions: ['clearReason', 'forgiveStrikes'] },
          },
        },
      },
    },
    /** It was approved and is wanted: which generation serves decides. */
    running: {
      initial: 'starting',
      on: { 'generation.unavailable': lost, assessed: [known, ...kept, ...withdrawn, renewed], unwanted },
      states: {
        starting: {
          tags: ['starting'],
          initial: 'enabled',
          on: { 'generation.unavailable': missed },
          states: {
            enabled: {
              invoke: {
                id: 'keepCopy',
                src: 'keepCopy',
                input: ({ context }) => ({ key: context.key, revision: context.assessment?.revision ?? '' }),
                onDone: { target: 'loading' },
                onError: [
                  { guard: 'isServing', target: `${RUNNING}.serving.update-available`, actions: refusal },
                  { target: `${AT_REST}.failed`, actions: refusal },
                ],
              },
            },
            loading: {
              entry: ['nameCandidate', 'spawnCandidate'],
              on: {
                'generation.published': {
                  guard: { type: 'isCandidate', ...number },
                  target: `${RUNNING}.serving`,
                  actions: ['supersedeServing', 'promote'],
                },
                'xstate.done.actor.*': loadingEnded,
                'xstate.error.actor.*': loadingEnded,
              },
            },
            restoring: {
              entry: ['nameRestored', 'spawnCandidate'],
              on: {
                'generation.published': [
                  { guard: { type: 'isCandidateFound', ...number }, target: `${RUNNING}.serving`, actions: 'promote' },
                  { guard: { type: 'isCandidate', ...number }, target: `${RUNNING}.serving.update-available`, actions: 'promote' },
                ],
                'xstate.done.actor.*': restoringEnded,
                'xstate.error.actor.*': restoringEnded,
              },
            },
          },
        },
        serving: {
          tags: ['serving'],
          initial: 'active',
          states: {
            active: {
              after: { restartWindow: { actions: 'forgiveStrikes' } },
              on: { 'hook.failed': { guard: { type: 'isServingNumber', ...number }, target: `${RUNNING}.degraded`, actions: reason } },
            },
            'update-available': {
              after: { restartWindow: { actions: 'forgiveStrikes' } },
              on: {
                'restore.requested': { guard: 'isTrusted', target: `${RUNNING}.starting` },
                'conflict.changed': { guard: 'isTrusted', target: `${RUNNING}.starting` },
              },
            },
          },
        },
        degraded: {
          always: { guard: 'isGivenUp', target: `${AT_REST}.failed` },
          after: { restartDelay: { guard: 'canRestore', target: 'starting.restoring' } },
          on: {
            'hook.succeeded': { guard: { type: 'isServingNumber', ...number }, target: 'serving', actions: 'clearReason' },
            'hook.failed': { guard: { type: 'isServingNumber', ...number }, actions: reason },
            'restore.requested': { guard: 'canRestore', target: 'starting.restoring' },
          },
        },
      },
    },
    leaving: {
      tags: ['leaving'],
      always: { guard: 'isAlone', target: 'gone' },
      on: { removed: {}, 'stop.requested': {}, wanted: {}, unwanted: {} },
    },
    gone: { type: 'final' },
  },
})

/** Other content than that of the candidate served before and is still approved. */
function mayFallBack({ assessment, candidate, lastGood }: PackageContext): boolean {
  return lastGood !== undefined && lastGood !== candidate?.revision && assessment?.approved.includes(lastGood) === true
}

/** What may be brought back: trusted content that was found, unless it did not start; else approved content of which a copy is kept. */
function revisionToRestore({ assessment, refused, lastGood }: PackageContext): string | undefined {
  if (assessment === undefined || assessment.verdict === 'disabled' || assessment.verdict === 'ungranted') return undefined
  if (assessment.verdict !== 'trusted') return assessment.retained
  const fallsBack = refused === assessment.signature && lastGood !== undefined && assessment.approved.includes(lastGood)
  return fallsBack ? lastGood : assessment.revision
}

function named(context: PackageContext, revision: string): Pick<PackageContext, 'candidate' | 'lastNumber'> {
  const { assessment, lastNumber } = context
  const isFound = assessment?.verdict === 'trusted' && assessment.revision === revision
  return {
    lastNumber: lastNumber + 1,
    candidate: { number: lastNumber + 1, revision, signature: isFound ? assessment.signature : `retained ${revision}` },
  }
}

function reasonOf({ output, error }: { readonly output?: unknown; readonly error?: unknown }): string {
  if (typeof output === 'object' && output !== null && 'reason' in output && typeof output.reason === 'string') return output.reason
  return error instanceof Error ? error.message : 'it ended without a reason'
}
