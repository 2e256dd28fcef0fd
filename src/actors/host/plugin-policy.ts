/** What rules say to plugins of others, and how they ask a person (`BrokerDoors.policy`). */
import { decidingRule } from '../../machines/permission/deciding-rule.js'
import { evaluateLayers, type PermissionLayers } from '../../machines/permission/permission.js'
import { escapedText } from '../../protocol/text/visible-text.js'
import type { BrokerPlace, PolicyDoor } from '../../ports/broker-doors.js'
import { approvalsOf } from '../interaction/approvals.js'
import { type Rows, sessionOrThrow, type Sources, type Work } from '../session/state/core.js'
import { standingOf } from './standing.js'

type Core = Pick<Rows, 'store'> & Pick<Sources, 'resources' | 'configs' | 'projects'> & Pick<Work, 'interactions' | 'statuses'>

export function createPolicyDoor(core: Core): PolicyDoor {
  return {
    async decisions(of, permission, patterns) {
      const layers = await layersAt(core, of)
      return patterns.map((pattern) => evaluateLayers(layers, permission, pattern))
    },
    async explain(of, permission, patterns) {
      const layers = await layersAt(core, of)
      const session = of.sessionId === undefined ? undefined : core.store.sessions.get(of.sessionId)
      const { approvals: place } = await core.projects.identify(of.directory)
      const approvals = session === undefined ? [] : approvalsOf(core.store, { session, approvals: place })
      const bypass = (await core.configs.load(of.directory))['dangerouslySkipPermissions'] === true
      return patterns.map((pattern) => decidingRule({ layers, approvals, bypass }, permission, pattern))
    },
    async ask(call, { pluginId, title, permission, patterns }, signal) {
      const session = sessionOrThrow(core, call.sessionId)
      const { approvals } = await core.projects.identify(session.directory)
      const runId = core.statuses.run(session.id)?.runId ?? ''
      const request = {
        messageId: call.messageId,
        title: escapedText(`Plugin ${pluginId} asks: ${title}`),
        permission,
        patterns: [...patterns],
        always: [],
        tool: { messageID: call.messageId, callID: call.callId },
        metadata: { plugin: pluginId },
      }
      return core.interactions.askPermission({ session, approvals, runId, request, isAllowedBy: () => false }, signal)
    },
  }
}

async function layersAt(core: Core, of: BrokerPlace): Promise<PermissionLayers> {
  return (await standingOf(core, of)).layers
}
