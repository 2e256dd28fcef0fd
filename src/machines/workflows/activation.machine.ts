/**
 * One workflow in one workspace: whether it runs by schedule, and the next moment it does (service.md, Workflow activation;
 * subsystems a.7–a.9; threat-model §6.3).
 *
 * I1 An occurrence is claimed once: what was claimed or refused is behind `lastScheduledAt`, and only later ones are due. Going
 *    back in time changes nothing of that.
 * I2 Missed occurrences collapse into the latest one; finding it costs the same however many were missed.
 * I3 Nothing is due that lies before the activation, or before the schedule was written as it is now.
 * I4 A file that is not valid, or gone, is not executed: what is claimed is the content that was noted last, and a claim that
 *    finds another one fails and is made again.
 * I5 `activate` and `pause` hold until the file changes; then its frontmatter is right again.
 */
import { assign, setup } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import { delayOf } from '../../protocol/retry.js'
import type { WorkflowSchedule } from '../../protocol/workflow/workflow.js'
import { latestOccurrence, nextOccurrence } from './schedule/occurrence.js'
import { requiredPromise } from '../required.js'

/** What matters of a valid file. The zone of the schedule is a name of IANA. */
interface ActivationFile {
  /** Of the content. */
  readonly hash: string
  readonly active: boolean
  readonly schedule: WorkflowSchedule
}

/** What was seen of the file, at a moment of the wall clock. */
export type FileReport =
  | ({ readonly type: 'file.saved'; readonly at: number } & ActivationFile)
  /** It is not valid, or gone. */
  | { readonly type: 'file.lost'; readonly at: number; readonly reason: string }

export interface ActivationInput {
  readonly activationId: string
  /** The present moment of the wall clock. */
  readonly at: number
  /** As it is stored; absent for a workflow that was never active. */
  readonly stored?: {
    /** The content that was noted last; undefined when the file was not valid, or gone. */
    readonly file: ActivationFile | undefined
    readonly active: boolean
    readonly activatedAt: number
    /** Occurrences before it are none; at least `activatedAt`. */
    readonly notBefore: number
    readonly lastScheduledAt: number | undefined
  }
  /** What was just seen of the file; the first decision counts it in. */
  readonly report?: FileReport
}

interface ActivationContext {
  readonly activationId: string
  /** The last moment that was told. */
  readonly at: number
  readonly file: ActivationFile | undefined
  /** Why there is no file, once it was not valid or gone. */
  readonly lost: string | undefined
  readonly active: boolean
  readonly activatedAt: number
  readonly notBefore: number
  readonly lastScheduledAt: number | undefined
  /** The occurrence that is being claimed. */
  readonly slot: number | undefined
}

export type ActivationEvent =
  | FileReport
  | { readonly type: 'activate.requested'; readonly at: number }
  | { readonly type: 'pause.requested'; readonly at: number }
  | { readonly type: 'clock.checked'; readonly at: number }
  | { readonly type: 'stop.requested' }

export interface ClaimInput {
  readonly activationId: string
  readonly scheduledAt: number
}

/** `refused`: the occurrence is taken, or the overlap rule drops it for good. */
export interface ClaimAnswer {
  readonly type: 'claimed' | 'refused'
  readonly at: number
}

const told = { params: ({ event }: { event: { at: number } }) => event.at } as const
const saved = { type: 'noteSaved', params: ({ event }: { event: FileReport & { type: 'file.saved' } }) => event } as const
const lost = {
  type: 'noteLost',
  params: ({ event }: { event: FileReport & { type: 'file.lost' } }) => ({ at: event.at, reason: event.reason }),
} as const
const answered = { params: ({ event }: { event: { output: ClaimAnswer } }) => event.output.at } as const

/** Noted in every state; what follows from it is decided anew. */
const decides = {
  'file.saved': { target: 'deciding', actions: saved },
  'file.lost': { target: 'deciding', actions: lost },
  'activate.requested': { target: 'deciding', actions: { type: 'activate', ...told } },
  'pause.requested': { target: 'deciding', actions: { type: 'pause', ...told } },
} as const

export const activationMachine = setup({
  types: { input: {} as ActivationInput, context: {} as ActivationContext, events: {} as ActivationEvent },
  actors: {
    /**
     * Reads the file again, and claims the occurrence by one conditional write before anything of the run exists; what was
     * claimed is run by somebody else. Rejects when it cannot be claimed now.
     */
    claim: requiredPromise<ClaimAnswer, ClaimInput>('claim'),
  },
  guards: {
    isLost: ({ context }) => context.lost !== undefined,
    isPaused: ({ context }) => !context.active && context.file?.active === true,
    isInactive: ({ context }) => !context.active,
    isDue: ({ context }) => dueOf(context) !== undefined,
    isExpected: ({ context }) => expectedOf(context) !== undefined,
  },
  actions: {
    noteTime: assign({ at: (_, at: number) => at }),
    noteSaved: assign(({ context }, file: FileReport & { type: 'file.saved' }) => withFile(context, file)),
    noteLost: assign((_, given: { at: number; reason: string }) => withoutFile(given)),
    /** I5. */
    activate: assign(({ context }, at: number) => (context.file === undefined || context.active ? { at } : begun(at))),
    pause: assign((_, at: number) => ({ at, active: false })),
    nameSlot: assign({ slot: ({ context }) => dueOf(context) }),
    /** I1. */
    passSlot: assign(({ context }, at: number) => ({ lastScheduledAt: context.slot, slot: undefined, at })),
    forgetSlot: assign({ slot: undefined }),
  },
  delays: { claimRetry: delayOf(LIMITS.workflows.claimRetry) },
}).createMachine({
  id: 'activation',
  context: ({ input }) => beginning(input),
  initial: 'deciding',
  on: { 'stop.requested': { target: '.stopped' } },
  states: {
    deciding: {
      always: [
        { guard: 'isLost', target: 'lost' },
        { guard: 'isPaused', target: 'paused' },
        { guard: 'isInactive', target: 'inactive' },
        { guard: 'isDue', target: 'claiming', actions: 'nameSlot' },
        { guard: 'isExpected', target: 'waiting' },
        { target: 'completed' },
      ],
    },
    /** Its frontmatter says so, or nothing was ever said. */
    inactive: { tags: ['resting'], on: decides },
    /** By request. */
    paused: { tags: ['resting'], on: decides },
    /** The file is not valid, or gone. */
    lost: { tags: ['resting'], on: decides },
    /** `clock.checked` is due when the wall clock has reached the next occurrence. */
    waiting: {
      tags: ['active', 'resting', 'expecting'],
      on: { ...decides, 'clock.checked': { target: 'deciding', actions: { type: 'noteTime', ...told } } },
    },
    /** Whatever happens meanwhile is noted, and decided upon when the claim is answered. */
    claiming: {
      tags: ['active'],
      invoke: {
        id: 'claim',
        src: 'claim',
        input: ({ context: { activationId, slot, at } }) => ({ activationId, scheduledAt: slot ?? at }),
        onDone: { target: 'deciding', actions: { type: 'passSlot', ...answered } },
        onError: [
          { guard: 'isInactive', target: 'deciding', actions: 'forgetSlot' },
          { target: 'retrying', actions: 'forgetSlot' },
        ],
      },
      on: {
        'file.saved': { actions: saved },
        'file.lost': { actions: lost },
        'activate.requested': { actions: { type: 'activate', ...told } },
        'pause.requested': { actions: { type: 'pause', ...told } },
      },
    },
    /** Nothing could be claimed just now. */
    retrying: {
      tags: ['active'],
      after: { claimRetry: { target: 'deciding' } },
      on: decides,
    },
    /** Active, and no occurrence is left. */
    completed: { tags: ['active', 'resting'], on: decides },
    stopped: { type: 'final' },
  },
})

function beginning({ activationId, at, stored, report }: ActivationInput): ActivationContext {
  const context: ActivationContext = {
    activationId,
    at,
    file: stored?.file,
    lost: stored !== undefined && stored.file === undefined ? 'the file is not valid, or gone' : undefined,
    active: stored?.active ?? false,
    activatedAt: stored?.activatedAt ?? at,
    notBefore: stored?.notBefore ?? at,
    lastScheduledAt: stored?.lastScheduledAt,
    slot: undefined,
  }
  if (report === undefined) return context
  return { ...context, ...(report.type === 'file.saved' ? withFile(context, report) : withoutFile(report)) }
}

/** The occurrence to claim: the latest one that is due, if it was not passed (I1–I3). */
function dueOf({ file, notBefore, lastScheduledAt, at }: ActivationContext): number | undefined {
  if (file === undefined) return undefined
  return latestOccurrence(file.schedule, Math.max(notBefore, (lastScheduledAt ?? Number.MIN_SAFE_INTEGER) + 1), at)
}

/** The next occurrence that will be due. */
function expectedOf({ file, notBefore, lastScheduledAt, at }: ActivationContext): number | undefined {
  if (file === undefined) return undefined
  return nextOccurrence(file.schedule, Math.max(at, notBefore - 1, lastScheduledAt ?? Number.MIN_SAFE_INTEGER))
}

function withoutFile({ at, reason }: { readonly at: number; readonly reason: string }): Partial<ActivationContext> {
  return { at, file: undefined, lost: reason, active: false }
}

/** The same content again changes nothing (I5); another one is right in everything. */
function withFile(
  context: ActivationContext,
  { at, hash, active, schedule }: FileReport & { type: 'file.saved' },
): Partial<ActivationContext> {
  if (context.file?.hash === hash) return { at }
  const noted = { at, file: { hash, active, schedule }, lost: undefined, active }
  if (active && !context.active) return { ...noted, ...begun(at) }
  return isSame(context.file?.schedule, schedule) ? noted : { ...noted, notBefore: at }
}

function begun(at: number): Partial<ActivationContext> {
  return { at, active: true, activatedAt: at, notBefore: at, lastScheduledAt: undefined }
}

function isSame(before: WorkflowSchedule | undefined, after: WorkflowSchedule): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}
