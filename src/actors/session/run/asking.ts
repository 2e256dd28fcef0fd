/** Asking for what a tool call needs (sessions-events §8.10). */
import { judge } from '../../../machines/permission/permission.js'
import type { Approval } from '../../../protocol/interaction/interaction.js'
import type { PermissionNeed } from '../../../ports/plugin.js'
import { escapedText } from '../../../protocol/text/visible-text.js'
import type { Work } from '../state/core.js'
import type { OpenCall, RunScope } from './run-scope.js'

/** Asks the user, at once, about the need the judge stopped at; false = rejected, recorded on the part. */
export async function askCall(core: Work, run: RunScope, call: OpenCall, signal: AbortSignal): Promise<boolean> {
  if (call.asking === undefined) return true
  const { need, layers } = call.asking
  const { approvals } = call.world.project
  const request = {
    messageId: call.step.info().id,
    title: escapedText(need.title),
    permission: need.permission,
    patterns: [...need.patterns],
    always: need.explicit === undefined ? [...need.patterns] : [],
    tool: { messageID: call.step.info().id, callID: call.shownAs ?? call.callId },
    metadata: {
      ...need.metadata,
      tool: call.tool.contribution.id,
      input: call.attempt.input,
      ...(need.explicit === undefined ? suggestion(need) : { explicit: need.explicit }),
    },
  }
  const isAllowedBy = (remembered: readonly Approval[]) => {
    return judge({ layers, approvals: () => remembered, grants: call.grants, need, bypass: false }).decision === 'allow'
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
