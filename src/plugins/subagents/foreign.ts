/**
 * Tasks for agents of others (subsystems l.4): sessions that such an agent answers, under the rules and limits of any task.
 *
 * I1 What it does by itself no rule of ours judges, so that each delegation to it is asked about, whatever the rules allow.
 * I2 An agent of ours by that name comes before it. It is a program of this machine, and so for sessions of its owner alone.
 */
import type { NativeHost, PermissionNeed, ToolContext } from '../../ports/plugin.js'
import { LOCAL_TENANT } from '../../protocol/caller.js'
import { ExternalProvider } from '../../protocol/session/external-provider.js'
import type { ExternalAgent, Session } from '../../protocol/session/session.js'
import type { Delegation } from './delegation.js'

interface Asked {
  readonly subagent_type: string
  readonly description: string
  readonly task_id?: string | undefined
}

/** The agent of others that a new task of this session is for; undefined = it is for one of ours. */
export async function foreignTarget(
  host: Pick<NativeHost, 'agents'>,
  { subagent_type: name }: Asked,
  { id, directory, svcTenantId = LOCAL_TENANT }: Session,
): Promise<ExternalProvider | undefined> {
  const provider = ExternalProvider.safeParse(name).data
  if (provider === undefined || svcTenantId !== LOCAL_TENANT) return undefined
  return (await host.agents(directory, id)).some((agent) => agent.name === name) ? undefined : provider
}

/** I1, also where more work is given to a task it has. */
export async function foreignNeeds(
  { host, delegation }: { readonly host: Pick<NativeHost, 'agents' | 'sessions'>; readonly delegation: Delegation },
  asked: Asked,
  { sessionId }: Pick<ToolContext, 'sessionId'>,
): Promise<readonly PermissionNeed[]> {
  const { task_id: taskId } = asked
  const session = host.sessions.get(sessionId)
  if (session === undefined) return []
  const known = taskId === undefined ? undefined : delegation.find(sessionId, taskId)
  const provider =
    taskId === undefined ? await foreignTarget(host, asked, session) : known && host.sessions.get(known.id)?.externalAgent?.provider
  if (provider === undefined) return []
  return [
    {
      permission: 'external_agent',
      patterns: [`task: ${provider}`],
      title: `Delegate to ${provider}: ${asked.description}`,
      explicit: 'what an agent of others does by itself is not judged by the rules of the session',
    },
  ]
}

export function foreignSession(provider: ExternalProvider): { readonly externalAgent: ExternalAgent } {
  return { externalAgent: { runtime: 'acp', provider, agent: provider, status: 'created' } }
}
