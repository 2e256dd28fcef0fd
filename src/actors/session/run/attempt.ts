/**
 * An attempt to execute a tool call: which tool, with which input (plugin-protocol §3.4, §5.1).
 *
 * I1 Each attempt starts from what the model asked for; hooks never see the outcome of an earlier attempt.
 * I2 What hooks made of the input passes the schema of the tool before anything is judged, and what was judged is
 *    what is executed.
 * I3 The tool of a retired generation is replaced by the tool of the same id that the run would be offered now, and so are hooks of
 *    retired generations: then the view there is now is taken, whole. Nothing else in a step asks for it.
 */
import { cut } from '../../../kernel/cut.js'
import { SvcError } from '../../../protocol/errors.js'
import { type Fault, firstFault, isLarge } from '../../../protocol/text/first-fault.js'
import { LIMITS } from '../../../protocol/limits.js'
import { runHooks } from '../../plugin/calls/hooks.js'
import type { HookName } from '../../../ports/contributions.js'
import type { RegisteredTool, RegistryView } from '../../../ports/view.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'
import type { SessionCore } from '../state/core.js'
import { offeredTools } from './offered-tools.js'
import type { Attempt, OpenCall, RunScope } from './run-scope.js'

/** Faults of an input that are told, and characters of each. */
const FAULTS = 8
const FAULT_LENGTH = 500

const HOOKS: readonly HookName[] = ['tool.before', 'tool.after']

/** A changed input is shown on the part up to this size. */
const SHOWN_BYTES = 64 * 1024

/** Rejects with a sentence for the model: the tool is gone, a hook failed, or the input does not fit any more. */
export async function makeAttempt(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<Attempt> {
  const { world } = call
  const view = call.tool.open ? servingView(core, run, world.view, HOOKS) : current(core, run)
  const tool = call.tool.open ? call.tool : offeredTools(run, { ...world, view }).get(call.tool.contribution.id)
  if (tool === undefined || !tool.open) throw goneTool(call.tool)
  const input = tool === call.tool ? call.input : accept(tool, call.given)
  if (view.hooks('tool.before').length === 0) return { tool, input, isChanged: false, view }
  const hooked = await runHooks(view, 'tool.before', callContext(run, call), call.given, {
    signal,
    accept: (value) => accept(tool, wellFormedValue(value)),
  })
  const isChanged = JSON.stringify(hooked) !== JSON.stringify(call.input)
  return { tool, input: isChanged ? hooked : input, isChanged, view }
}

/** The view that was offered, as long as the generations of these hooks of it are open; else the one there is now. */
export function servingView(core: SessionCore, run: RunScope, view: RegistryView, hooks: readonly HookName[]): RegistryView {
  return hooks.every((name) => view.hooks(name).every(({ open }) => open)) ? view : current(core, run)
}

function current({ plugins }: SessionCore, { session }: RunScope): RegistryView {
  return plugins.current(session.directory, session.id)
}

/** Context of the hooks around a tool (plugin-protocol §5.1). */
export function callContext(run: RunScope, call: OpenCall): Readonly<Record<string, unknown>> {
  return {
    toolId: call.tool.contribution.id,
    directory: run.session.directory,
    sessionId: run.session.id,
    messageId: call.step.info.id,
    callId: call.callId,
  }
}

/** The input by the schema of the tool, or what is wrong with it. */
export function parseInput(tool: RegisteredTool, json: unknown): { readonly input: unknown } | { readonly problem: string } {
  const { input } = tool.contribution
  const fault = isLarge(json) ? firstFault(input, json) : undefined
  if (fault !== undefined) return { problem: told(fault) }
  const result = input.safeParse(json)
  return result.success ? { input: result.data } : { problem: result.error.issues.slice(0, FAULTS).map(told).join('; ') }
}

function told({ path, message }: Fault): string {
  const text = `${path.join('.') || 'input'}: ${message}`
  return cut(text, FAULT_LENGTH)
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

function accept(tool: RegisteredTool, json: unknown): unknown {
  const name = tool.contribution.id
  if (Buffer.byteLength(JSON.stringify(json) ?? '') > LIMITS.run.callBytes)
    throw new SvcError('request.invalid', `The arguments of "${name}" became longer than 512 KiB.`)
  const parsed = parseInput(tool, json)
  if ('problem' in parsed) throw new SvcError('request.invalid', `The arguments of "${name}" are not valid any more: ${parsed.problem}`)
  return parsed.input
}
