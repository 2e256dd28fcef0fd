/**
 * Judging a tool call: what is attempted, what that needs, and what the rules say of it (plugin-protocol §3.4, §5.1; sessions-events §8.10).
 *
 * I1 Each attempt starts from what the model asked for; hooks never see the outcome of an earlier attempt.
 * I2 What hooks made of the input passes the schema of the tool before anything is judged, and what was judged is
 *    what is executed.
 * I3 The tool of a retired generation is replaced by the tool of the same id that the run would be offered now, and so are hooks of
 *    retired generations: then the view there is now is taken, whole. Nothing else in a step asks for it.
 */
import type { Stopping as Stoppable } from '../../../kernel/stopping.js'
import { type JudgedNeed, type Judgement as Judged, judge } from '../../../machines/permission/permission.js'
import type { Verdict } from '../../../machines/session/tool-call.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Approval, PermissionAction } from '../../../protocol/interaction/interaction.js'
import { LIMITS } from '../../../protocol/limits.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'
import type { HookName } from '../../../ports/contributions.js'
import type { PermissionNeed, ToolContext } from '../../../ports/plugin.js'
import type { RegisteredTool, RegistryView } from '../../../ports/view.js'
import { approvalsOf } from '../../interaction/approvals.js'
import { runHooks } from '../../plugin/calls/hooks.js'
import type { Rows, Sources } from '../state/core.js'
import { isUnprompted, UNPROMPTED } from '../state/imported.js'
import { hookedInput } from './accepting.js'
import { refusedTools } from './claimed-run.js'
import { isOffered, offeredTools } from './offered-tools.js'
import type { Asking, Attempt, OpenCall, RunScope } from './run-scope.js'
import { type Rules, rulesNow } from './world.js'

const HOOKS: readonly HookName[] = ['tool.before', 'tool.after']

/** A changed input is shown on the part up to this size. */
const SHOWN_BYTES = 64 * 1024

/** Judges every need of a call anew, with what hooks make of its input; remembers which to ask about. A denial is recorded on the part. */
export async function judgeCall(core: Rows & Sources, run: RunScope, call: OpenCall, stopping: Stopping): Promise<Verdict> {
  const name = call.tool.contribution.id
  const { denied, asking } = await judgeAttempt(core, run, call, { further: () => doomLoop(run, call), stopping })
  if (denied !== undefined) {
    const message = `A permission rule denies ${denied.permission} for ${denied.patterns.join(', ')}.`
    call.step.callFailed(call.callId, name, message)
    return 'deny'
  }
  call.asking = asking
  return asking === undefined ? 'allow' : 'ask'
}

/** Asked for, its signal is made: most calls are judged without. */
type Stopping = Pick<Stoppable, 'signal'>

/** A need that is denied, else the first to ask about; neither = allowed. */
interface Judgement {
  readonly denied?: JudgedNeed
  readonly asking?: Asking
}

/** Makes the next attempt of a call and judges it: what hooks changed is judged as if the model had asked for it. */
export async function judgeAttempt(
  core: Rows & Sources,
  run: RunScope,
  call: OpenCall,
  { further, stopping }: { readonly further: () => readonly PermissionNeed[]; readonly stopping: Stopping },
): Promise<Judgement> {
  const ruling = rulesNow(core, run, call.world)
  const before = ruling instanceof Promise ? await ruling : ruling
  // What hides a tool by now would not have let it be called; its world did not hide it.
  if (before !== call.world && !isOffered(before.layers, call.tool))
    return { denied: { permission: call.tool.contribution.id, patterns: ['*'] } }
  const making = makeAttempt(core, run, call, stopping)
  const attempt = making instanceof Promise ? await making : making
  call.attempt = attempt
  if (attempt.isChanged) call.step.callProgress(call.callId, changeNote(attempt))
  const asked = rulesNow(core, run, call.world)
  const context = contextOf(core, run, call, { rules: asked instanceof Promise ? await asked : asked, stopping })
  const wanted = [...(await attempt.tool.contribution.needs(attempt.input, context)), ...further()]
  const explicit = explicitOf(core, run, call)
  const needs = wanted.map((need) => (explicit === undefined ? need : { explicit, ...need }))
  const judging = rulesNow(core, run, call.world)
  const rules = judging instanceof Promise ? await judging : judging
  let asking: PermissionNeed | undefined
  for (const need of needs) {
    const { decision, patterns } = judgingBy(core, run, call, { ...rules, bypass: rules.bypass || need.harmless === true })(need)
    if (decision === 'deny') return { denied: { ...need, patterns } }
    if (decision === 'ask') asking ??= { ...need, patterns }
  }
  return asking === undefined ? {} : { asking: { need: asking, layers: rules.layers } }
}

/** Why every need of a call takes an answer of its own. */
function explicitOf(core: Rows, run: RunScope, call: OpenCall): string | undefined {
  return call.explicit ?? (isUnprompted(core, run.session.id) ? UNPROMPTED : undefined)
}

function decisionsOf(core: Rows, run: RunScope, call: OpenCall, { permission, patterns }: JudgedNeed, rules: Rules) {
  const all = patterns.length > 0 ? patterns : ['*']
  const explicit = isUnprompted(core, run.session.id) ? UNPROMPTED : undefined
  const judged = judgingBy(core, run, call, rules)
  return all.map((pattern): PermissionAction => judged({ permission, patterns: [pattern], explicit }).decision)
}

/** Judges needs one after the other. Answers are read once, and only where rules leave something to them. */
function judgingBy(core: Rows, run: RunScope, { world, grants }: OpenCall, { layers, bypass }: Rules): (need: JudgedNeed) => Judged {
  let answers: readonly Approval[] | undefined
  const approvals = () => (answers ??= approvalsOf(core.store, { session: run.session, approvals: world.project.approvals }))
  return (need) => judge({ layers, grants, need, bypass, approvals })
}

/** The same call three times in a row needs the group `doom_loop` (sessions-events §4.15). */
function doomLoop(run: RunScope, call: OpenCall): PermissionNeed[] {
  if (call.shownAs !== undefined) return [] // It is the worker's own, which is not a model of ours.
  const print = `${call.tool.contribution.id} ${JSON.stringify(call.input)}`
  if (call.grants.length === 0) run.recent.push(print)
  if (run.recent.length > LIMITS.run.doomLoop) run.recent.shift()
  const repeats = run.recent.length === LIMITS.run.doomLoop && run.recent.every((other) => other === print)
  if (!repeats) return []
  const tool = call.tool.contribution.id
  return [{ permission: 'doom_loop', patterns: [tool], title: `Call ${tool} again with the same arguments` }]
}

/** What a tool is told of its call, and may ask. */
export function contextOf(
  core: Rows & Sources,
  run: RunScope,
  call: OpenCall,
  { rules, stopping }: { readonly rules: Rules; readonly stopping: Stopping },
): ToolContext {
  const trace = core.traces.of(run.session.id, call.callId)
  return {
    sessionId: run.session.id,
    messageId: call.step.info().id,
    callId: call.callId,
    agent: call.world.target.agent.record.name,
    directory: run.session.directory,
    signal: stopping.signal,
    refused: refusedTools(run),
    unattended: run.prompt.unattended === true,
    ...(rules.layers.floor !== undefined && { bounds: rules.layers.floor }),
    ...(trace !== undefined && { trace }),
    progress: (metadata) => call.step.callProgress(call.callId, metadata),
    decisions: (permission, patterns) => decisionsOf(core, run, call, { permission, patterns }, rules),
  }
}

/** Fails with a sentence for the model: the tool is gone, a hook failed, or the input does not fit any more. */
function makeAttempt(core: Sources, run: RunScope, call: OpenCall, stopping: Stopping): Attempt | Promise<Attempt> {
  const { world } = call
  const view = call.tool.open ? servingView(core, run, world.view, HOOKS) : current(core, run)
  const tool = call.tool.open ? call.tool : offeredTools(run, { ...world, view }).get(call.tool.contribution.id)
  if (tool === undefined || !tool.open) throw goneTool(call.tool)
  const { isOfPrompt } = call
  const input = tool === call.tool ? call.input : hookedInput({ tool, isOfPrompt }, call.given)
  const plain = { tool, input, isChanged: false, view }
  return view.hooks('tool.before').length === 0 ? plain : hookedAttempt(run, call, plain, stopping)
}

async function hookedAttempt(run: RunScope, call: OpenCall, { tool, input, view }: Attempt, stopping: Stopping): Promise<Attempt> {
  const { isOfPrompt } = call
  const hooked = await runHooks(view, 'tool.before', callContext(run, call), call.given, {
    signal: stopping.signal,
    accept: (value) => hookedInput({ tool, isOfPrompt }, wellFormedValue(value)),
  })
  const isChanged = JSON.stringify(hooked) !== JSON.stringify(call.input)
  return { tool, input: isChanged ? hooked : input, isChanged, view }
}

/** The view that was offered, as long as the generations of these hooks of it are open; else the one there is now. */
export function servingView(core: Sources, run: RunScope, view: RegistryView, hooks: readonly HookName[]): RegistryView {
  return hooks.every((name) => view.hooks(name).every(({ open }) => open)) ? view : current(core, run)
}

function current({ plugins }: Sources, { session }: RunScope): RegistryView {
  return plugins.current(session.directory, session.id)
}

/** Context of the hooks around a tool (plugin-protocol §5.1). */
export function callContext(run: RunScope, call: OpenCall): Readonly<Record<string, unknown>> {
  return {
    toolId: call.tool.contribution.id,
    directory: run.session.directory,
    sessionId: run.session.id,
    messageId: call.step.info().id,
    callId: call.callId,
  }
}

/** What the part of a call says about an input that hooks changed: `executedInput`, next to what the model asked for. */
export function changeNote({ input, isChanged }: Attempt): Readonly<Record<string, unknown>> {
  if (!isChanged) return {}
  const bytes = Buffer.byteLength(JSON.stringify(input))
  return { executedInput: bytes <= SHOWN_BYTES ? input : `(${bytes} bytes)` }
}

export function goneTool({ contribution: { id }, pluginId }: RegisteredTool): SvcError {
  return new SvcError(
    'plugin.generation_closed',
    `The tool "${id}" is not available any more: plugin ${pluginId} was replaced or stopped. Nothing was run.`,
    { pluginId, toolId: id },
  )
}
