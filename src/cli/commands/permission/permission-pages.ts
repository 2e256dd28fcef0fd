/** What `svc permission` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'

const COMMON = {
  dir: { ...DIRECTORY, help: 'of the repository, or directory, this one belongs to' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const

export const PERMISSION = {
  name: 'permission',
  alias: 'permissions',
  summary: 'list, explain and take back what was allowed for good; also svc permissions',
  pages: [
    {
      name: 'permission list',
      summary: 'answers that are remembered: what, who gave it, when and in which session',
      words: [],
      options: COMMON,
      examples: [['svc permissions', 'of the current directory']],
    },
    {
      name: 'permission explain',
      summary: 'what would be decided of a command, and by which rule or answer; nothing runs',
      words: [{ name: 'command', needs: 'a command in quotes; or what --kind is asked for', many: true }],
      options: {
        kind: { type: 'text', value: 'permission', help: 'of a permission instead: read, edit, webfetch, external_directory, …' },
        agent: { type: 'text', value: 'name', completes: 'agent', help: 'as this agent' },
        session: { type: 'text', value: 'id', completes: 'session', help: 'as in this session' },
        ...COMMON,
      },
      examples: [
        ["svc permissions explain 'git push'", 'a line of the shell'],
        ['svc permissions explain --kind read .env', 'a file that is read'],
      ],
    },
    {
      name: 'permission revoke',
      summary: 'take an answer back: from now on it is asked again, also in sessions under way',
      words: [{ name: 'answer', many: true }],
      options: { all: { type: 'flag', help: 'every one of the directory' }, ...COMMON },
      examples: [
        ['svc permissions revoke ans_1c9e', 'by its id, or how that begins'],
        ["svc permissions revoke 'npm test *'", 'by what it allows'],
      ],
    },
  ],
  notes: [
    'Remembered is what somebody answered with "always"; it turns a question into a yes, and never undoes a denial. Rules are in the configuration: svc agents tells what they come to.',
  ],
} as const satisfies Group
