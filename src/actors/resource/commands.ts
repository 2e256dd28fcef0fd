/** Commands: prompts with a name (subsystems b.9). */
import { CommandConfig } from '../../protocol/agent-config.js'
import type { Command } from '../../protocol/resource.js'
import { isRecord, recordAt } from './config-merge.js'
import type { ConfigSnapshot } from './snapshot.js'

const INIT_TEMPLATE = `Study this project and write AGENTS.md at its top: what a coding agent must know to work here and cannot see at a glance.

Look at the manifests, the build, lint and test configuration, the continuous integration files, the README and the code itself. Then write, briefly:
- the commands to install, build, check and test, and how to run a single test;
- the structure: main parts, entry points, where new code of each kind belongs;
- conventions the code follows but no tool enforces, and pitfalls a newcomer would meet.

Write only what you verified in the files. Leave out advice that holds for every project. If AGENTS.md or a similar file exists, improve it instead of starting again, and keep what is still true.

$ARGUMENTS`

const NATIVE: Readonly<Record<string, CommandConfig>> = {
  init: { description: 'Study the project and write AGENTS.md.', template: INIT_TEMPLATE },
  summarize: { description: 'Summarise the conversation so far.' },
}

/** Built-in commands, those of plugins and configured ones by name; each may change the one before it key by key. */
export function listCommands(snapshot: ConfigSnapshot, plugins: ReadonlyMap<string, CommandConfig> = new Map()): Command[] {
  const configured = recordAt(snapshot.document, 'command')
  const keys = [...new Set([...Object.keys(NATIVE), ...plugins.keys(), ...Object.keys(configured)])].toSorted()
  return keys.map((key) => {
    const own = configured[key]
    const {
      name = key,
      description,
      template,
      agent,
      model,
      subtask,
    } = CommandConfig.parse({ ...NATIVE[key], ...plugins.get(key), ...(isRecord(own) ? own : {}) })
    return {
      name,
      ...(description !== undefined && { description }),
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(template !== undefined && { template }),
      ...(subtask !== undefined && { subtask }),
    }
  })
}

/** Whether a command of this name exists without being configured. */
export function isNativeCommand(name: string): boolean {
  return Object.hasOwn(NATIVE, name)
}
