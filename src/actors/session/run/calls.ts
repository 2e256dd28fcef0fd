/** Effects of one tool call: judging, asking, executing; each records its own outcome (sessions-events §8.10, §10.1). */
import type { Refusal, Verdict } from '../../../machines/session/tool-call.machine.js'
import { type JudgedNeed, judge } from '../../../machines/permission/permission.js'
import type { PermissionAction } from '../../../protocol/interaction/interaction.js'
import { LIMITS } from '../../../protocol/limits.js'
import { SvcError } from '../../../protocol/errors.js'

import { settleOutput } from '../../artifact/outputs.js'
import { HookedResult } from '../../plugin/calls/hook-values.js'
import { runHooks } from '../../plugin/calls/hooks.js'
import { type PermissionNeed, type ToolContext, type ToolContribution, ToolError, type ToolResult } from '../../../ports/plugin.js'
import { escapedText } from '../../../protocol/text/visible-text.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import { approvalsOf } from '../../interaction/approvals.js'
import { callContext, changeNote, goneTool, makeAttempt } from './attempt.js'
import { isUnprompted, UNPROMPTED } from '../state/imported.js'
import { keepContents } from '../state/shown-files.js'
import type { SessionCore } from '../state/core.js'
import { isOffered } from './offered-tools.js'
import { refreshRules } from './rules-now.js'
import { type Asking, layersOf, refusedTools, type OpenCall, type RunScope } from './run-scope.js'

async function contextOf(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<ToolContext> {
  const standing = await standingOf(core, run)
  return {
    sessionId: run.session.id,
    messageId: call.step.info.id,
    callId: call.callId,
    agent: run.target.agent.record.name,
    directory: run.session.directory,
    signal,
    refused: refusedTools(run),
    unattended: run.prompt.unattended === true,
    progress: (metadata) => call.step.callProgress(call.callId, metadata),
    decisions: (permission, patterns) => decisionsOf(core, run, call, { permission, patterns }, standing),
  }
}

/** Judges every need of a call anew, with what hooks make of its input; remembers which to ask about. A denial is recorded on the part. */
export async function judgeCall(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<Verdict> {
  const name = call.tool.contribution.id
  const { denied, asking } = await judgeAttempt(core, run, call, { further: () => doomLoop(run, call), signal })
  if (denied !== undefined) {
    const message = `A permission rule denies ${denied.permission} for ${denied.patterns.join(', ')}.`
    call.step.callFailed(call.callId, name, message)
    return 'deny'
  }
  call.asking = asking
  return asking === undefined ? 'allow' : 'ask'
}

/** A need that is denied, else the first to ask about; neither = allowed. */
interface Judgement {
  readonly denied?: JudgedNeed
  readonly asking?: Asking
}

/** Makes the next attempt of a call and judges it: what hooks changed is judged as if the model had asked for it. */
async function judgeAttempt(
  core: SessionCore,
  run: RunScope,
  call: OpenCall,
  { further, signal }: { readonly further: () => readonly PermissionNeed[]; readonly signal: AbortSignal },
): Promise<Judgement> {
  await refreshRules(core, run)
  // What hides a tool by now would not have let it be called.
  if (!isOffered(layersOf(run), call.tool.contribution)) return { denied: { permission: call.tool.contribution.id, patterns: ['*'] } }
  const attempt = await makeAttempt(core, run, call, signal)
  call.attempt = attempt
  if (attempt.isChanged) call.step.callProgress(call.callId, changeNote(attempt))
  const wanted = [...(await attempt.tool.contribution.needs(attempt.input, await contextOf(core, run, call, signal))), ...further()]
  const explicit = explicitOf(core, run, call)
  const needs = wanted.map((need) => (explicit === undefined ? need : { explicit, ...need }))
  const standing = await standingOf(core, run)
  let asking: PermissionNeed | undefined
  for (const need of needs) {
    const { decision, patterns } = judgeNeed(core, run, call, need, { ...standing, bypass: standing.bypass || need.harmless === true })
    if (decision === 'deny') return { denied: { ...need, patterns } }
    if (decision === 'ask') asking ??= { ...need, patterns }
  }
  return asking === undefined ? {} : { asking: { need: asking, approvals: standing.approvals } }
}

/** Why every need of a call takes an answer of its own. */
function explicitOf(core: SessionCore, run: RunScope, call: OpenCall): string | undefined {
  return call.explicit ?? (isUnprompted(core, run.session.id) ? UNPROMPTED : undefined)
}

/** What counts besides the rules of the run. */
interface Standing {
  readonly bypass: boolean
  /** See `Project.approvals`. */
  readonly approvals: string
}

async function standingOf(core: SessionCore, { session: { directory } }: RunScope): Promise<Standing> {
  const [config, { approvals }] = await Promise.all([core.configs.load(directory), core.projects.identify(directory)])
  return { bypass: config['dangerouslySkipPermissions'] === true, approvals }
}

function decisionsOf(core: SessionCore, run: RunScope, call: OpenCall, { permission, patterns }: JudgedNeed, standing: Standing) {
  const all = patterns.length > 0 ? patterns : ['*']
  const common = judgingOf(core, run, call, standing)
  const explicit = isUnprompted(core, run.session.id) ? UNPROMPTED : undefined
  return all.map((pattern): PermissionAction => judge({ ...common, need: { permission, patterns: [pattern], explicit } }).decision)
}

function judgeNeed(core: SessionCore, run: RunScope, call: OpenCall, need: JudgedNeed, standing: Standing) {
  return judge({ ...judgingOf(core, run, call, standing), need })
}

function judgingOf(core: SessionCore, run: RunScope, call: OpenCall, { bypass, approvals }: Standing) {
  const remembered = approvalsOf(core.store, { session: run.session, approvals })
  return { layers: layersOf(run), approvals: remembered, grants: call.grants, bypass }
}

/** The same call three times in a row needs the group `doom_loop` (sessions-events §4.15). */
function doomLoop(run: RunScope, call: OpenCall): PermissionNeed[] {
  const print = `${call.tool.contribution.id} ${JSON.stringify(call.input)}`
  if (call.grants.length === 0) run.recent.push(print)
  if (run.recent.length > LIMITS.run.doomLoop) run.recent.shift()
  const repeats = run.recent.length === LIMITS.run.doomLoop && run.recent.every((other) => other === print)
  if (!repeats) return []
  const tool = call.tool.contribution.id
  return [{ permission: 'doom_loop', patterns: [tool], title: `Call ${tool} again with the same arguments` }]
}

/** Asks the user, at once, about the need the judge stopped at; false = rejected, recorded on the part. */
export async function askCall(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<boolean> {
  if (call.asking === undefined) return true
  const { need, approvals } = call.asking
  const request = {
    messageId: call.step.info.id,
    title: escapedText(need.title),
    permission: need.permission,
    patterns: [...need.patterns],
    always: need.explicit === undefined ? [...need.patterns] : [],
    tool: { messageID: call.step.info.id, callID: call.callId },
    metadata: {
      ...need.metadata,
      tool: call.tool.contribution.id,
      input: call.attempt.input,
      ...(need.explicit === undefined ? suggestion(need) : { explicit: need.explicit }),
    },
  }
  const isAllowedBy = (remembered: Parameters<typeof judge>[0]['approvals']) => {
    return judge({ layers: layersOf(run), approvals: remembered, grants: call.grants, need, bypass: false }).decision === 'allow'
  }
  const answer = await core.interactions.askPermission({ session: run.session, approvals, runId: run.runId, request, isAllowedBy }, signal)
  if (!answer.granted) {
    call.step.callFailed(call.callId, call.tool.contribution.id, answer.message)
    return false
  }
  for (const pattern of need.patterns) call.grants.push({ permission: need.permission, pattern })
  return true
}

function suggestion({ patterns, widen }: PermissionNeed): { readonly alwaysPatterns?: readonly string[] } {
  const wider = new Set(patterns.flatMap((pattern) => widen?.(pattern) ?? []))
  return wider.size === 0 ? {} : { alwaysPatterns: [...wider] }
}

/** Runs the tool and records its result; answers how it ended. Never rejects. */
export async function executeCall(
  core: SessionCore,
  run: RunScope,
  call: OpenCall,
  signal: AbortSignal,
): Promise<'completed' | 'failed' | 'aborted'> {
  const tool = call.tool.contribution.id
  try {
    await settleBefore(core, run, call)
    const own = await invokeTool(core, run, call, signal)
    const result = withNotes(await hookResult(core, run, call, own, signal), call.attempt.tool.contribution, own.metadata)
    const bounded = await settleOutput(result, { tool, sessionId: run.session.id, outputs: core.outputs })
    const settled = await keepContents(core, run.session.id, bounded)
    call.step.callCompleted(call.callId, { ...settled, metadata: { ...settled.metadata, ...changeNote(call.attempt) } })
    return 'completed'
  } catch (error) {
    if (signal.aborted) {
      if (error instanceof ToolError && call.attempt.tool.contribution.notesChanges === true)
        call.step.callProgress(call.callId, { ...notesOf(error.metadata), changing: undefined })
      return 'aborted'
    }
    failCall(core, run, call, error)
    return 'failed'
  }
}

/** Nothing is done for a claim that a loss of power could undo, and nothing is changed without a note that survives one. */
async function settleBefore(core: SessionCore, run: RunScope, call: OpenCall): Promise<void> {
  const isNoted = call.attempt.tool.contribution.notesChanges === true
  if (isNoted) call.step.callChanging(call.callId)
  if (!run.isSynced || isNoted) await core.journal.synced()
  run.isSynced = true
  await core.pluginsHeard()
}

/** What a result says of changed files is what the tool itself has said, if it is one that is believed. */
function withNotes(result: ToolResult, { notesChanges }: ToolContribution, own: ToolResult['metadata']): ToolResult {
  const { snapshots: _snapshots, unkept: _unkept, ...metadata } = result.metadata ?? {}
  return { ...result, metadata: notesChanges === true ? { ...metadata, ...notesOf(own) } : metadata }
}

function notesOf(metadata: ToolResult['metadata']): Readonly<Record<string, unknown>> {
  const { snapshots, unkept } = metadata ?? {}
  return { ...(snapshots !== undefined && { snapshots }), ...(unkept !== undefined && { unkept }) }
}

/** A generation that closed after the judgement is replaced once, when nothing has to be asked for it; what has begun is never repeated. */
async function invokeTool(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<ToolResult> {
  let begun = false
  const invoke = () => {
    const { tool, input } = call.attempt
    return tool.use(async () => {
      const context = await contextOf(core, run, call, signal)
      begun = true
      return tool.contribution.invoke(input, context)
    })
  }
  try {
    return await invoke()
  } catch (error) {
    if (begun || !(error instanceof SvcError) || error.code !== 'plugin.generation_closed') throw error
    const { denied, asking } = await judgeAttempt(core, run, call, { further: () => [], signal })
    if (denied !== undefined || asking !== undefined) throw goneTool(call.tool)
    return invoke()
  }
}

/** The result after the hook `tool.after`; attachments stay as they are. */
async function hookResult(core: SessionCore, run: RunScope, call: OpenCall, result: ToolResult, signal: AbortSignal): Promise<ToolResult> {
  const view = core.plugins.current(run.session.directory, run.session.id)
  const chain = view.hooks('tool.after').filter(({ tools }) => tools === undefined || tools.includes(call.attempt.tool.contribution.id))
  if (chain.length === 0) return result
  const { title, output, metadata } = result
  const value = { title, output, metadata: metadata ?? {} }
  const accept = (answer: unknown) => HookedResult.parse(answer)
  const hooked = await runHooks({ hooks: () => chain }, 'tool.after', callContext(run, call), value, { signal, accept })
  return { ...result, title: hooked.title, output: hooked.output, metadata: hooked.metadata }
}

const ROUNDS = 'The call needed more permission answers than are asked for one call.'

/** Records a call that never came to its execution, or fell out of it. */
export function refuseCall(core: SessionCore, run: RunScope, call: OpenCall, refusal: Refusal): void {
  failCall(core, run, call, refusal.reason === 'rounds' ? new ToolError(ROUNDS) : refusal.error)
}

/** A failure that cannot be recorded leaves the call open; the step ends it when it is closed. */
function failCall(core: SessionCore, run: RunScope, call: OpenCall, error: unknown): void {
  const tool = call.tool.contribution.id
  if (!(error instanceof ToolError))
    core.effects.log.warn('a tool failed unexpectedly', { tool, sessionId: run.session.id, cause: traceOf(error) })
  try {
    call.step.callFailed(
      call.callId,
      tool,
      messageOf(error),
      undefined,
      error instanceof ToolError && error.metadata !== undefined ? { ...error.metadata, ...changeNote(call.attempt) } : undefined,
    )
  } catch (fault) {
    core.effects.log.warn('the failure of a tool could not be recorded', { tool, cause: String(fault) })
  }
}

function traceOf(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error)
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? wellFormed(error.message) : 'The tool failed.'
}
