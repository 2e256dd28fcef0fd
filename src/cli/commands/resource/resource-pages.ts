/** What `svc agent`, `svc command`, `svc skill` and `svc tool` take. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'

export type ResourceKind = 'agent' | 'command' | 'skill' | 'tool'

const OPTIONS = {
  dir: { ...DIRECTORY, help: 'as this directory has them' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const

function group<K extends ResourceKind>(
  kind: K,
  summary: string,
  lists: string,
  shows: readonly [what: string, example: string],
  notes: readonly string[],
) {
  const [what, example] = shows
  const many = `${kind}s` as const
  return {
    name: kind,
    alias: many,
    summary: `${summary}; also svc ${many}`,
    pages: [
      { name: `${kind} list`, summary: lists, words: [], options: OPTIONS, examples: [[`svc ${many}`, lists]] },
      {
        name: `${kind} show`,
        summary: what,
        words: [{ name: 'name', needs: `the name of one; see svc ${many}`, completes: kind }],
        options: OPTIONS,
        examples: [[`svc ${kind} show ${example}`, what]],
      },
    ],
    notes,
  } as const satisfies Group
}

const AGENT = group(
  'agent',
  'list and show agents and what each does unasked',
  'agents, and what each does without asking',
  ['its rules, prompt and model', 'build'],
  [
    'Rules are those of the configuration, "permission" and "agent.<name>.permission"; what was remembered with "always" is asked no more, and stands below them: svc permissions lists, explains and takes it back.',
  ],
)
const COMMAND = group(
  'command',
  'list and show commands of the project and of yours',
  'commands that svc run "/name …" understands',
  ['what it asks the model', 'review'],
  ['Commands are Markdown files in commands/ of .svc and of ~/.config/svc, or "command" of the configuration.'],
)
const SKILL = group(
  'skill',
  'list and show skills',
  'skills a model may read',
  ['where it is, and its text', 'release'],
  ['Skills are folders with a SKILL.md in skills/ of .svc and of ~/.config/svc.'],
)
const TOOL = group(
  'tool',
  'list and show the tools a model is offered',
  'tools, built in and of plugins',
  ['its description and the JSON Schema of its input', 'edit'],
  [],
)
export const RESOURCES = [AGENT, COMMAND, SKILL, TOOL] as const
