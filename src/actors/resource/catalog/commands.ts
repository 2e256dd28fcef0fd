/** Commands: prompts with a name (subsystems b.9). */
import { CommandConfig } from '../../../protocol/resource/agent-config.js'
import type { UsableCommand } from '../../../ports/facades.js'
import { type AgentEntry, findAgent, parseModel } from './agents.js'
import { isRecord } from '../../../protocol/text/json.js'
import { recordAt } from '../config/config-merge.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'

const INIT_TEMPLATE = `Study this project and write AGENTS.md at its top: what a coding agent must know to work here and cannot see at a glance.

Look at the manifests, the build, lint and test configuration, the continuous integration files, the README and the code itself. Then write, briefly:
- the commands to install, build, check and test, and how to run a single test;
- the structure: main parts, entry points, where new code of each kind belongs;
- conventions the code follows but no tool enforces, and pitfalls a newcomer would meet.

Write only what you verified in the files. Leave out advice that holds for every project. If AGENTS.md or a similar file exists, improve it instead of starting again, and keep what is still true.

$ARGUMENTS`
const SUMMARIZE_TEMPLATE = `Summarise the conversation so far for somebody who takes over: what was asked, what was done and found, what is left to do. Name files and commands exactly, call no tools.

$ARGUMENTS`

const NATIVE: Readonly<Record<string, CommandConfig>> = {
  init: { description: 'Study the project and write AGENTS.md.', template: INIT_TEMPLATE },
  summarize: { description: 'Summarise the conversation so far.', template: SUMMARIZE_TEMPLATE },
}

/** A command that cannot be run, and why. */
interface UnusableCommand {
  readonly name: string
  /** The key at fault. */
  readonly key: 'template' | 'agent' | 'model' | 'subtask'
  /** The rest of a sentence that starts with the key. */
  readonly reason: string
  /** Nothing this server could do, as opposed to a mistake. */
  readonly isUnsupported: boolean
}

export interface Commands {
  readonly usable: readonly UsableCommand[]
  readonly unusable: readonly UnusableCommand[]
}

/** Built-in commands, those of plugins and configured ones by name; each may change the one before it key by key. */
export function readCommands(
  snapshot: ConfigSnapshot,
  agents: readonly AgentEntry[],
  plugins: ReadonlyMap<string, CommandConfig> = new Map(),
): Commands {
  const configured = recordAt(snapshot.document, 'command')
  const keys = [...new Set([...Object.keys(NATIVE), ...plugins.keys(), ...Object.keys(configured)])].toSorted()
  const usable: UsableCommand[] = []
  const unusable: UnusableCommand[] = []
  for (const key of keys) {
    const own = configured[key]
    const native = Object.hasOwn(NATIVE, key) ? NATIVE[key] : {}
    const judged = judge(key, CommandConfig.parse({ ...native, ...plugins.get(key), ...(isRecord(own) ? own : {}) }), agents)
    if (judged.ok) usable.push(judged.command)
    else unusable.push(judged.problem)
  }
  return { usable, unusable }
}

type Judgement = { readonly ok: true; readonly command: UsableCommand } | { readonly ok: false; readonly problem: UnusableCommand }

function judge(key: string, config: CommandConfig, agents: readonly AgentEntry[]): Judgement {
  const { name = key, description, template, agent, model, subtask } = config
  const not = (at: UnusableCommand['key'], reason: string, isUnsupported = false): Judgement => {
    return { ok: false, problem: { name: key, key: at, reason, isUnsupported } }
  }
  if (template === undefined || template.trim() === '') return not('template', 'is missing or empty')
  const known = agent === undefined ? undefined : findAgent(agents, agent)
  if (agent !== undefined && known === undefined) return not('agent', `there is no agent "${agent}"`)
  if (model !== undefined && parseModel(model) === undefined) return not('model', `"${model}" is not of the form provider/model`)
  const command = {
    name,
    template,
    ...(description !== undefined && { description }),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...((subtask !== undefined || known?.view.record.mode === 'subagent') && {
      subtask: subtask === true || known?.view.record.mode === 'subagent',
    }),
  }
  return { ok: true, command }
}

/** Whether the installation says this template itself. */
export function isOwn({ trusted }: Pick<ConfigSnapshot, 'trusted'>, { template }: UsableCommand): boolean {
  const own = Object.values(recordAt(trusted, 'command'))
  return own.some((command) => isRecord(command) && command['template'] === template)
}
