/** The state machines of svc as data: what a test may wait for, and what it may send. */
import type { AnyStateMachine } from 'xstate'
import { createCharts } from '../../actors/inspector/charts.js'
import { activationMachine } from '../../machines/workflows/activation.machine.js'
import { checkoutMachine } from '../../machines/vcs/checkout.machine.js'
import { cloneMachine } from '../../machines/workspace/clone.machine.js'
import { compactionMachine } from '../../machines/session/compaction.machine.js'
import { credentialLeaseMachine } from '../../machines/worker/credential-lease.machine.js'
import { embeddingsMachine } from '../../machines/semantic/embeddings.machine.js'
import { externalChildMachine } from '../../machines/external/external-child.machine.js'
import { previewMachine } from '../../machines/external/external-preview.machine.js'
import { externalTurnMachine } from '../../machines/external/external-turn.machine.js'
import { generationMachine } from '../../machines/plugin/generation.machine.js'
import { goalMachine } from '../../machines/goals/goal.machine.js'
import { handlesMachine } from '../../machines/plugin/handles.machine.js'
import { installationMachine } from '../../machines/plugin/installation.machine.js'
import { instanceMachine } from '../../machines/plugin/instance.machine.js'
import { interactionMachine } from '../../machines/interaction/interaction.machine.js'
import { jobMachine } from '../../machines/shell/job.machine.js'
import { leaseMachine } from '../../machines/plugin/lease.machine.js'
import { lspClientMachine } from '../../machines/lsp/lsp-client.machine.js'
import { mcpConnectionMachine } from '../../machines/mcp/mcp-connection.machine.js'
import { packageMachine } from '../../machines/plugin/package.machine.js'
import { ptyMachine } from '../../machines/pty/pty.machine.js'
import { restoreMachine } from '../../machines/session/restore.machine.js'
import { runMachine } from '../../machines/session/run.machine.js'
import { runtimeMachine } from '../../machines/runtime/runtime.machine.js'
import { searchIndexMachine } from '../../machines/semantic/search-index.machine.js'
import { sessionMachine } from '../../machines/session/session.machine.js'
import { signInMachine } from '../../machines/sign-in/sign-in.machine.js'
import { subscriptionMachine } from '../../machines/events/subscription.machine.js'
import { taskMachine } from '../../machines/subagents/task.machine.js'
import { titleMachine } from '../../machines/session/title.machine.js'
import { toolCallMachine } from '../../machines/session/tool-call.machine.js'
import { workflowEngineMachine } from '../../machines/workflows/workflow-engine.machine.js'
import { workflowRunMachine } from '../../machines/workflows/workflow-run.machine.js'
import { workspaceMachine } from '../../machines/plugin/workspace.machine.js'
import type { InspectedState } from '../../protocol/system/inspector.js'
import type { ActorKind } from './actor-types.js'

export const MACHINES: Readonly<Record<ActorKind, AnyStateMachine>> = {
  activation: activationMachine,
  checkout: checkoutMachine,
  clone: cloneMachine,
  compaction: compactionMachine,
  'credential-lease': credentialLeaseMachine,
  embeddings: embeddingsMachine,
  'external-child': externalChildMachine,
  'external-preview': previewMachine,
  'external-turn': externalTurnMachine,
  generation: generationMachine,
  goal: goalMachine,
  handles: handlesMachine,
  installation: installationMachine,
  instance: instanceMachine,
  interaction: interactionMachine,
  job: jobMachine,
  lease: leaseMachine,
  'lsp-client': lspClientMachine,
  'mcp-connection': mcpConnectionMachine,
  package: packageMachine,
  pty: ptyMachine,
  restore: restoreMachine,
  run: runMachine,
  runtime: runtimeMachine,
  'search-index': searchIndexMachine,
  session: sessionMachine,
  'sign-in': signInMachine,
  subscription: subscriptionMachine,
  task: taskMachine,
  title: titleMachine,
  'tool-call': toolCallMachine,
  'workflow-engine': workflowEngineMachine,
  'workflow-run': workflowRunMachine,
  workspace: workspaceMachine,
}

const charts = createCharts()

/** Paths of all states of a kind, outer ones before inner ones. */
export function statesOfKind(kind: ActorKind): readonly string[] {
  const root = charts.of(MACHINES[kind])?.root
  return root === undefined ? [] : root.states.flatMap(pathsOf)
}

/** Types of the events a kind knows, without those XState makes. */
export function eventsOfKind(kind: ActorKind): readonly string[] {
  const types: readonly string[] = MACHINES[kind].events
  return types.filter((type) => !type.startsWith('xstate.')).toSorted((a, b) => a.localeCompare(b))
}

function pathsOf(state: InspectedState): readonly string[] {
  return [state.path, ...state.states.flatMap(pathsOf)]
}
