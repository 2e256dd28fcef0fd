/** Effects of one tool call: judging, asking, executing; each records its own outcome (sessions-events §8.10, §10.1). */
import type { Verdict } from '../../machines/tool-call.machine.js'
import { type JudgedNeed, judge } from '../../machines/permission.js'
import { LIMITS } from '../../protocol/limits.js'
import { settleOutput } from '../outputs.js'
import { type PermissionNeed, type ToolContext, ToolError } from '../plugin/native.js'
import { wellFormed } from '../well-formed.js'
import type { SessionCore } from './core.js'
import { approvalKey } from './interactions.js'
import { type OpenCall, type RunScope, trustedRules } from './run-scope.js'

function contextOf(run: RunScope, call: OpenCall, signal: AbortSignal): ToolContext {
  return {
    sessionId: run.session.id,
    messageId: call.step.info.id,
    callId: call.callId,
    agent: run.target.agent.record.name,
    directory: run.session.directory,
    signal,
    progress: (metadata) => call.step.callProgress(call.callId, metadata),
  }
}

/** Judges every need of a call; remembers which to ask about. A denial is recorded on the part. */
export async function judgeCall(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<Verdict> {
  const name = call.tool.contribution.id
  let needs: readonly PermissionNeed[]
  try {
    needs = [...(await call.tool.contribution.needs(call.input, contextOf(run, call, signal))), ...doomLoop(run, call)]
  } catch (error) {
    call.step.callFailed(call.callId, name, messageOf(error), undefined, error instanceof ToolError ? error.metadata : undefined)
    return 'deny'
  }
  const config = await core.configs.load(run.session.directory)
  const bypass = config['dangerouslySkipPermissions'] === true
  let asking: PermissionNeed | undefined
  for (const need of needs) {
    const { decision, patterns } = judgeNeed(core, run, call, need, bypass)
    if (decision === 'deny') {
      call.step.callFailed(call.callId, name, `A permission rule denies ${need.permission} for ${patterns.join(', ')}.`)
      return 'deny'
    }
    if (decision === 'ask') asking ??= { ...need, patterns }
  }
  call.asking = asking
  return asking === undefined ? 'allow' : 'ask'
}

function judgeNeed(core: SessionCore, run: RunScope, call: OpenCall, need: JudgedNeed, bypass: boolean) {
  const layers = { trusted: trustedRules(run), untrusted: run.target.agent.narrowing }
  const approvals = core.store.approvals.get(run.session.svcTenantId ?? 'local', approvalKey(run.session))
  return judge({ layers, approvals, grants: call.grants, need, bypass })
}

/** The same call three times in a row needs the group `doom_loop` (sessions-events §4.15). */
function doomLoop(run: RunScope, call: OpenCall): PermissionNeed[] {
  const print = `${call.tool.contribution.id} ${JSON.stringify(call.input)}`
  if (call.grants.length === 0) run.recent.push(print)
  if (run.recent.length > LIMITS.run.doomLoop) run.recent.shift()
  const repeats = run.recent.length === LIMITS.run.doomLoop && run.recent.every((other) => other === print)
  if (!repeats) return []
  const tool = call.tool.contribution.id
  return [{ permission: 'doom_loop', patterns: [tool], always: [tool], title: `Call ${tool} again with the same arguments` }]
}

/** Asks the user about the need the judge stopped at; false = rejected, recorded on the part. */
export async function askCall(core: SessionCore, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<boolean> {
  const need = call.asking
  if (need === undefined) return true
  const request = {
    messageId: call.step.info.id,
    title: need.title,
    permission: need.permission,
    patterns: [...need.patterns],
    always: need.explicit === undefined ? [...need.always] : [],
    tool: { messageID: call.step.info.id, callID: call.callId },
    metadata: {
      ...need.metadata,
      tool: call.tool.contribution.id,
      input: call.input,
      ...(need.explicit === undefined ? {} : { explicit: need.explicit }),
      deniedAfterMs: LIMITS.run.unattendedWait,
    },
  }
  const isAllowedBy = (approvals: Parameters<typeof judge>[0]['approvals']) => {
    const layers = { trusted: trustedRules(run), untrusted: run.target.agent.narrowing }
    return judge({ layers, approvals, grants: call.grants, need, bypass: false }).decision === 'allow'
  }
  const answer = await core.interactions.askPermission({ session: run.session, runId: run.runId, request, isAllowedBy }, signal)
  if (!answer.granted) {
    call.step.callFailed(call.callId, call.tool.contribution.id, answer.message)
    return false
  }
  for (const pattern of need.patterns) call.grants.push({ permission: need.permission, pattern })
  return true
}

/** Runs the tool and records its result; answers how it ended. Never rejects. */
export async function executeCall(
  core: SessionCore,
  run: RunScope,
  call: OpenCall,
  signal: AbortSignal,
): Promise<'completed' | 'failed' | 'aborted'> {
  const { contribution } = call.tool
  try {
    await core.journal.synced()
    const result = await contribution.invoke(call.input, contextOf(run, call, signal))
    const settled = await settleOutput(result, { tool: contribution.id, sessionId: run.session.id, outputs: core.outputs })
    call.step.callCompleted(call.callId, settled)
    return 'completed'
  } catch (error) {
    if (signal.aborted) return 'aborted'
    if (!(error instanceof ToolError))
      core.effects.log.warn('a tool failed unexpectedly', { tool: contribution.id, sessionId: run.session.id, cause: String(error) })
    failCall(core, call, error)
    return 'failed'
  }
}

/** A failure that cannot be recorded leaves the call open; the step ends it when it is closed. */
function failCall(core: SessionCore, call: OpenCall, error: unknown): void {
  try {
    call.step.callFailed(
      call.callId,
      call.tool.contribution.id,
      messageOf(error),
      undefined,
      error instanceof ToolError ? error.metadata : undefined,
    )
  } catch (fault) {
    core.effects.log.warn('the failure of a tool could not be recorded', { tool: call.tool.contribution.id, cause: String(fault) })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? wellFormed(error.message) : 'The tool failed.'
}
