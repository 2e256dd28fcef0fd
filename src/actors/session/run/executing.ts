/** Executing a tool call: through the door of its generation, past the hooks, and what of its output is kept (sessions-events §10.1). */
import type { Stopping } from '../../../kernel/stopping.js'
import type { Refusal } from '../../../machines/session/tool-call.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import { type ToolContribution, ToolError, type ToolResult } from '../../../ports/plugin.js'
import type { RegistryView } from '../../../ports/view.js'
import { settleOutput } from '../../artifact/outputs.js'
import { HookedResult } from '../../plugin/calls/hook-values.js'
import { runHooks } from '../../plugin/calls/hooks.js'
import type { Rows, Sources } from '../state/core.js'
import { keepContents } from '../state/shown-files.js'
import { callContext, changeNote, contextOf, goneTool, judgeAttempt, servingView } from './judging.js'
import type { OpenCall, RunScope } from './run-scope.js'
import { rulesNow } from './world.js'

/** Runs the tool and records its result; answers how it ended. Never rejects. */
export async function executeCall(
  core: Rows & Sources,
  run: RunScope,
  call: OpenCall,
  work: Stopping,
): Promise<'completed' | 'failed' | 'aborted'> {
  const tool = call.tool.contribution.id
  try {
    await settleBefore(core, run, call)
    const own = await invokeTool(core, run, call, work)
    const hooking = hookResult(core, run, call, own, work)
    const result = withNotes(hooking instanceof Promise ? await hooking : hooking, call.attempt.tool.contribution, own.metadata)
    const settling = settleOutput(result, { tool, sessionId: run.session.id, outputs: core.outputs })
    const keeping = keepContents(core, run.session.id, settling instanceof Promise ? await settling : settling)
    const settled = keeping instanceof Promise ? await keeping : keeping
    call.step.callCompleted(call.callId, { ...settled, metadata: { ...settled.metadata, ...changeNote(call.attempt) } })
    return 'completed'
  } catch (error) {
    if (work.isStopped) {
      if (error instanceof ToolError && call.attempt.tool.contribution.notesChanges === true)
        call.step.callProgress(call.callId, { ...notesOf(error.metadata), changing: undefined })
      return 'aborted'
    }
    failCall(core, run, call, error)
    return 'failed'
  }
}

/** Nothing is done for a claim that a loss of power could undo, and nothing is changed without a note that survives one. */
async function settleBefore(core: Rows & Sources, run: RunScope, call: OpenCall): Promise<void> {
  const isNoted = call.attempt.tool.contribution.notesChanges === true
  if (isNoted) call.step.callChanging(call.callId)
  await core.journal.synced(isNoted ? undefined : run.claimed)
  const hearing = core.pluginsHeard()
  if (hearing !== undefined) await hearing
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
async function invokeTool(core: Rows & Sources, run: RunScope, call: OpenCall, stopping: Stopping): Promise<ToolResult> {
  let begun = false
  const invoke = () => {
    const { tool, input } = call.attempt
    return tool.use(async () => {
      const asked = rulesNow(core, run, call.world)
      const context = contextOf(core, run, call, { rules: asked instanceof Promise ? await asked : asked, stopping })
      begun = true
      return tool.contribution.invoke(input, context)
    })
  }
  try {
    return await invoke()
  } catch (error) {
    if (begun || !(error instanceof SvcError) || error.code !== 'plugin.generation_closed') throw error
    const { denied, asking } = await judgeAttempt(core, run, call, { further: () => [], stopping })
    if (denied !== undefined || asking !== undefined) throw goneTool(call.tool)
    return invoke()
  }
}

/** The result after the hook `tool.after`; attachments stay as they are. */
function hookResult(
  core: Sources,
  run: RunScope,
  call: OpenCall,
  result: ToolResult,
  stopping: Stopping,
): ToolResult | Promise<ToolResult> {
  const view = servingView(core, run, call.attempt.view, ['tool.after'])
  const chain = view.hooks('tool.after').filter(({ tools }) => tools === undefined || tools.includes(call.attempt.tool.contribution.id))
  return chain.length === 0 ? result : resultPastHooks(chain, run, call, result, stopping.signal)
}

async function resultPastHooks(
  chain: ReturnType<RegistryView['hooks']>,
  run: RunScope,
  call: OpenCall,
  result: ToolResult,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { title, output, metadata } = result
  const value = { title, output, metadata: metadata ?? {} }
  const accept = (answer: unknown) => HookedResult.parse(answer)
  const hooked = await runHooks({ hooks: () => chain }, 'tool.after', callContext(run, call), value, { signal, accept })
  return { ...result, title: hooked.title, output: hooked.output, metadata: hooked.metadata }
}

const ROUNDS = 'The call needed more permission answers than are asked for one call.'

/** Records a call that never came to its execution, or fell out of it. */
export function refuseCall(core: Rows, run: RunScope, call: OpenCall, refusal: Refusal): void {
  failCall(core, run, call, refusal.reason === 'rounds' ? new ToolError(ROUNDS) : refusal.error)
}

/** A failure that cannot be recorded leaves the call open; the step ends it when it is closed. */
function failCall(core: Rows, run: RunScope, call: OpenCall, error: unknown): void {
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
