/** Effects of the compaction machine: what it opens, streams and records. Decides nothing. */
import type { CompactionReason } from '../../../machines/session/compaction.machine.js'
import { estimateTokens } from '../../../machines/session/compaction/tokens.js'
import { type CompactionPolicy, compactionOverrides, policyOf } from '../../../machines/session/compaction/window.js'
import { type Failure, SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Session } from '../../../protocol/session/session.js'
import type { AgentView, ResolvedModel } from '../../../ports/facades.js'
import type { GenerateRequest, StreamPart } from '../../../ports/provider-adapter.js'
import { COMPACTION_PROMPT } from '../../resource/catalog/agent-prompts.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import { sessionOrThrow, type Rows, type Work, type Sources } from '../state/core.js'
import type { Project } from '../state/project.js'
import type { RunTarget } from '../admission/target.js'
import { endRun, type RunSlot } from '../admission/slot.js'
import { type CompactionPlan, planCompaction, summarisedText } from './compaction-plan.js'
import { failCompaction, keepSummary, markCompacting, type OpenCompaction } from './open-compaction.js'
import { openSummary } from './summary-recorder.js'
import { cleanSummary, summaryPrompt } from './summary-text.js'

const CANCELLED = 'The compaction was cancelled.'

/** What a compaction goes by. */
export interface Sight {
  /** Agent and model of the conversation. */
  readonly target: RunTarget
  readonly policy: CompactionPolicy
  readonly project: Project
}

/** What a compaction reads of the run it happens in. */
export interface CompactingRun {
  readonly session: Session
  readonly rootId: string
  readonly place: { readonly world: Sight | undefined; readonly step: { readonly segmentId: string } | undefined }
}

/** What a compaction is opened for. */
export interface Cause {
  readonly reason: CompactionReason
  /** Tokens of the latest request of its run, or of the one that is to be made; undefined = somebody asked for it. */
  readonly tokens: number | undefined
}

/** One compaction from its request to its end. */
export interface CompactionScope {
  readonly slot: RunSlot
  readonly markId: string
  /** The run it happens in; undefined = somebody asked for it, and the slot is its own. */
  readonly run: CompactingRun | undefined
  sight(): Promise<Sight>
  open: OpenCompaction | undefined
}

/** False = there is nothing to compact; a compaction somebody asked for has then ended well. Changes nothing once it is aborted. */
export async function openCompaction(
  core: Rows & Work & Sources,
  scope: CompactionScope,
  { reason, tokens }: Cause,
  aborted: AbortSignal,
): Promise<boolean> {
  const { sessionId, rootId, runId } = scope.slot
  const session = sessionOrThrow(core, sessionId)
  const { directory } = session
  const { target, policy, project } = await scope.sight()
  if (reason !== 'manual' && !policy.auto) return false
  const writer = await writerOf(core, session, target)
  aborted.throwIfAborted()
  const refused = reason === 'overflow' ? tokens : undefined
  const transcript = core.transcripts.of(sessionId)
  const plan = planCompaction(core.sizes, { transcript, reason, policy, ref: target.model.ref, refused })
  if (plan === undefined) return nothing(core, scope, { tokens, trigger: policy.trigger })
  const request = await requestOf(core, { sessionId, directory, plan, refused }, writer)
  aborted.throwIfAborted()
  const segmentId = core.effects.ids.next('evt')
  core.journal.commit('process', (tx) => {
    markCompacting(core, tx, sessionOrThrow(core, sessionId), core.effects.clock.now())
    const path = { cwd: directory, root: project.worktree ?? directory }
    const named = reason === 'manual' ? reason : 'auto'
    const recorder = openSummary(core, tx, {
      sessionId,
      markId: scope.markId,
      reason: named,
      tailStart: plan.tailStart,
      model: writer.model,
      path,
    })
    const step = scope.run?.place.step
    if (step !== undefined) core.executions.endSegment(tx, rootId, { segmentId: step.segmentId })
    core.executions.startSegment(tx, rootId, segmentId)
    const expected = tokens === undefined ? undefined : { rest: tokens - plan.gain, trigger: policy.trigger }
    const { longest } = plan
    const open = { sessionId, rootId, reason, segmentId, recorder, model: writer.model, request, longest, expected, usage: undefined }
    tx.after(() => (scope.open = open))
  })
  core.effects.log.info('a conversation is being compacted', { sessionId, runId, reason, messages: plan.summarised.length })
  return true
}

function nothing(
  core: Rows & Work,
  { slot, run }: CompactionScope,
  sizes: { readonly tokens: number | undefined; readonly trigger: number },
): false {
  if (run === undefined) core.journal.commit('process', (tx) => endRun(core, tx, slot, 'completed'))
  else {
    const { sessionId, runId } = slot
    core.effects.log.warn('a conversation is too large, and there is too little in it to compact', {
      sessionId,
      runId,
      ...sizes,
    })
  }
  return false
}

type Place = Pick<Session, 'id' | 'directory' | 'workspaceId'>

interface Writer {
  readonly model: ResolvedModel
  readonly agent: AgentView['record'] | undefined
}

/** The model of the agent `compaction` where it has one, else `smallModel` where its window is as large, else that of the conversation. */
async function writerOf(core: Sources, session: Place, { model }: RunTarget): Promise<Writer> {
  const { id, directory, workspaceId } = session
  const agent = await core.resources.agent(directory, 'compaction', id).then(
    ({ record }) => record,
    (error: unknown) => {
      if (error instanceof SvcError && error.code === 'resource.not_found') return undefined
      throw error
    },
  )
  return {
    agent,
    model:
      agent?.model === undefined
        ? await smallOr(core, session, model)
        : await core.providers.resolve(directory, agent.model, workspaceId, id),
  }
}

async function smallOr({ providers }: Sources, { id, directory, workspaceId }: Place, model: ResolvedModel): Promise<ResolvedModel> {
  const ref = await providers.smallModel(directory, workspaceId, id)
  if (ref === undefined) return model
  const small = await providers.resolve(directory, ref, workspaceId, id)
  return small.model.limit.context >= model.model.limit.context ? small : model
}

interface Subject {
  readonly sessionId: string
  readonly directory: string
  readonly plan: CompactionPlan
  readonly refused: number | undefined
}

async function requestOf(core: Rows, { sessionId, directory, plan, refused }: Subject, { model, agent }: Writer): Promise<GenerateRequest> {
  const { limit } = model.model
  const overrides = compactionOverrides(core.effects.env)
  const { usable } = policyOf(limit, {}, overrides)
  const text = await summarisedText(plan, Math.min(usable, refused === undefined ? usable : Math.floor(refused / 2)))
  return {
    sessionId,
    directory,
    model: model.ref,
    messages: [
      { role: 'system', text: agent?.prompt ?? COMPACTION_PROMPT },
      { role: 'user', content: [{ type: 'text', text: summaryPrompt(text, plan.previous) }] },
    ],
    tools: [],
    options: { ...model.options, ...agent?.options },
    ...(agent?.temperature === undefined ? {} : { temperature: agent.temperature }),
    ...(agent?.topP === undefined ? {} : { topP: agent.topP }),
    ...(limit.output > 0 ? { maxOutputTokens: Math.min(limit.output, overrides.maxOutput) } : {}),
  }
}

/** Streams the summary into its message; `heard` is called at most once in `LIMITS.compaction.heard`. */
export async function streamSummary(core: Rows, open: OpenCompaction, heard: () => void, signal: AbortSignal): Promise<void> {
  const { clock } = core.effects
  let last = clock.now()
  const push = (part: StreamPart): void => {
    if (signal.aborted) return
    if (part.type === 'text') open.recorder.add(part.delta)
    if (part.type === 'finish') open.usage = part.usage
    if (clock.now() - last < LIMITS.compaction.heard) return
    last = clock.now()
    heard()
  }
  await open.model.adapter.generate(open.request, push, signal)
}

/** False = what was written is no summary; nothing is stored then. */
export function recordSummary(core: Rows & Work, scope: CompactionScope, failure: Failure | undefined): boolean {
  const { open, slot, run } = scope
  if (open === undefined) return false
  const text = cleanSummary(wellFormed(open.recorder.text), open.longest)
  if (text === '' || (failure !== undefined && text.length < LIMITS.compaction.partial)) return false
  const { sessionId, runId } = slot
  const note = noteOf(open, text)
  if (failure !== undefined)
    core.effects.log.warn('a summary broke off; what there is of it is used', { sessionId, runId, cause: failure.message })
  if (note !== undefined) core.effects.log.warn('a compacted conversation is still too large', { sessionId, runId, note })
  core.journal.commit('process', (tx) => {
    keepSummary(core, tx, open, { text, note })
    if (run === undefined) endRun(core, tx, slot, 'completed')
  })
  return true
}

function noteOf({ expected }: OpenCompaction, text: string): string | undefined {
  if (expected === undefined) return undefined
  const tokens = expected.rest + estimateTokens(text)
  if (tokens < expected.trigger) return undefined
  return `The next request still has about ${tokens} tokens, and a conversation is compacted from ${expected.trigger} on. It is not compacted again before it has grown.`
}

export function recordCompactionEnd(core: Rows & Work, { open, slot, run }: CompactionScope, failure: Failure | undefined): void {
  const { sessionId, runId } = slot
  const error =
    failure === undefined ? { message: CANCELLED, interrupted: true as const } : { message: `The compaction failed: ${failure.message}` }
  if (failure !== undefined) core.effects.log.warn('a conversation could not be compacted', { sessionId, runId, cause: failure.message })
  core.journal.commit('process', (tx) => {
    if (open !== undefined) failCompaction(core, tx, open, error)
    if (run === undefined) endRun(core, tx, slot, failure === undefined ? 'interrupted' : 'error', error.message)
  })
}
