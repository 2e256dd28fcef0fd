/** Commands: prompts with a name, and the expansion of their templates (subsystems b.9). */
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

/** Built-in and configured commands by name. */
export function listCommands(snapshot: ConfigSnapshot): Command[] {
  const configured = recordAt(snapshot.document, 'command')
  const keys = [...new Set([...Object.keys(NATIVE), ...Object.keys(configured)])].toSorted()
  return keys.map((key) => {
    const own = configured[key]
    const {
      name = key,
      description,
      template,
      agent,
      model,
      subtask,
    } = CommandConfig.parse({ ...NATIVE[key], ...(isRecord(own) ? own : {}) })
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

/** The prompt text of a command; one without a template is `/name args`. */
export function expandCommand(command: Pick<Command, 'name' | 'template'>, args: string): string {
  return command.template === undefined ? `/${command.name} ${args}`.trim() : expandTemplate(command.template, args)
}

/**
 * Fills `$1`…`$n` (the highest number takes all that remain) and `$ARGUMENTS` (the text as it was typed). A template
 * that uses neither gets non-blank arguments appended. What is inserted is not expanded again; nothing is executed.
 */
export function expandTemplate(template: string, args: string): string {
  const tokens = splitArguments(args)
  const highest = Math.max(0, ...Array.from(template.matchAll(/\$([1-9]\d*)/g), ([, digits]) => Number(digits)))
  let used = false
  const filled = template.replaceAll(/\$(?:([1-9]\d*)|ARGUMENTS\b)/g, (_match, digits: string | undefined) => {
    used = true
    if (digits === undefined) return args
    const position = Number(digits)
    return position === highest ? tokens.slice(position - 1).join(' ') : (tokens[position - 1] ?? '')
  })
  return (used || args.trim() === '' ? filled : `${filled}\n\n${args}`).trim()
}

/** Splits at white space; `'…'` and `"…"` are one token without their quotes, `[…]` one token with its brackets. */
export function splitArguments(args: string): string[] {
  return Array.from(args.matchAll(/"([^"]*)"|'([^']*)'|\[[^\]]*\]|\S+/g), ([token, double, single]) => double ?? single ?? token)
}
