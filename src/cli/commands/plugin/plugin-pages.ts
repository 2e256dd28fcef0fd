/** What `svc plugin` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const ID = { name: 'id', needs: 'the id of a plugin, such as dev.example.hello' } as const satisfies Word
const COMMON = { dir: { ...DIRECTORY, help: 'workspace' }, json: JSON_OUT } as const
const ASKED = { ...SERVER, otherwise: 'the local one, if it runs' } as const

export const PLUGIN = {
  name: 'plugin',
  alias: 'plugins',
  summary: 'make, list, approve and check plugins',
  pages: [
    {
      name: 'plugin init',
      summary: 'write a working package with one tool',
      words: [ID],
      options: {
        language: {
          type: 'text',
          value: 'name',
          choices: ['lua', 'typescript', 'javascript', 'python', 'ts', 'js', 'py'],
          help: 'lua, typescript (ts), javascript (js) or python (py)',
          otherwise: 'lua',
        },
        scope: {
          type: 'text',
          value: 'scope',
          choices: ['workspace', 'session', 'user', 'global'],
          help: 'workspace, session, user or global',
          otherwise: 'workspace',
        },
        ...COMMON,
      },
      examples: [['svc plugin init dev.example.hello --language ts', 'a package in TypeScript']],
    },
    {
      name: 'plugin list',
      summary: 'packages, their state and whether they are approved',
      words: [],
      options: { server: ASKED, ...COMMON },
      examples: [['svc plugin list', 'those of the installation and of the current directory']],
    },
    {
      name: 'plugin trust',
      summary: 'show what a package is and may do, ask, and approve exactly that',
      words: [ID],
      options: {
        capabilities: { type: 'text', value: 'a,b', help: 'approve these', otherwise: 'what it asks for' },
        source: {
          type: 'text',
          value: 'place',
          choices: ['user', 'workspace'],
          help: 'user or workspace, when both have the package',
        },
        session: { type: 'text', value: 'id', help: 'session of a package with the scope session' },
        user: { type: 'text', value: 'id', help: 'user of a package with the scope user', otherwise: 'you' },
        yes: { type: 'flag', help: 'approve without asking' },
        ...COMMON,
      },
      examples: [
        ['svc plugin trust dev.example.hello', 'after showing it'],
        ['svc plugin trust dev.example.hello --yes', 'without asking'],
      ],
    },
    {
      name: 'plugin configure',
      summary: 'give it the secrets and settings that it needs',
      words: [ID],
      options: {
        set: { type: 'text', value: 'alias', help: 'give one secret, read from standard input or typed' },
        unset: { type: 'text', value: 'alias', help: 'take one secret back' },
        source: { type: 'text', value: 'place', choices: ['user', 'workspace'], help: 'user or workspace, when both have the package' },
        ...COMMON,
      },
      examples: [
        ['svc plugin configure dev.example.hello', 'asks for what is missing'],
        ['svc plugin configure dev.example.hello --set token < token.txt', 'one secret, from a file'],
      ],
      notes: ['Secrets are kept in plugin-auth.json of the state directory, for you alone; nothing shows them again.'],
    },
    {
      name: 'plugin dev',
      summary: 'build, approve and serve it after every change, with what it says beside',
      words: [ID],
      options: { dir: COMMON.dir },
      examples: [['svc plugin dev dev.example.hello', 'until Ctrl-C; try it with svc plugin test in another terminal']],
      notes: [
        'It approves every change without a question, so use it on what you write yourself. Sources in plugin-sources/ with a script "build" are built by npm first.',
      ],
    },
    {
      name: 'plugin test',
      summary: 'call a tool once, as a model would',
      words: [ID, { name: 'tool', needs: 'the name of a tool of the plugin' }, { name: 'json' }],
      options: { server: { ...SERVER, otherwise: 'the local one, or one for the moment' }, ...COMMON },
      examples: [[`svc plugin test dev.example.hello hello '{"name": "Ada"}'`, 'prints what it answers; ends with 1 when it fails']],
    },
    {
      name: 'plugin untrust',
      summary: 'take an approval back',
      words: [ID],
      options: COMMON,
      examples: [['svc plugin untrust dev.example.hello', 'nothing of it runs from now on']],
    },
    {
      name: 'plugin remove',
      summary: 'take its approval back and delete the package',
      words: [ID],
      options: {
        source: { type: 'text', value: 'place', choices: ['user', 'workspace'], help: 'user or workspace, when both have the package' },
        yes: { type: 'flag', help: 'delete without asking' },
        ...COMMON,
      },
      examples: [['svc plugin remove dev.example.hello', 'after a question']],
    },
    {
      name: 'plugin restore',
      summary: 'put back the content that serves, or was approved last',
      words: [ID],
      options: {
        source: { type: 'text', value: 'place', choices: ['user', 'workspace'], help: 'user or workspace, when both have the package' },
        yes: { type: 'flag', help: 'replace without asking' },
        ...COMMON,
      },
      examples: [['svc plugin restore dev.example.hello', 'after a change that was no good; what the folder has now is lost']],
    },
    {
      name: 'plugin disable',
      summary: 'switch a plugin off',
      words: [ID],
      options: COMMON,
      examples: [['svc plugin disable dev.example.hello', 'it serves nothing from now on']],
    },
    {
      name: 'plugin enable',
      summary: 'switch it on again',
      words: [ID],
      options: COMMON,
      examples: [['svc plugin enable dev.example.hello', 'it serves again']],
    },
    {
      name: 'plugin doctor',
      summary: 'what keeps plugins from running, and what to do',
      words: [{ name: 'id' }],
      options: { server: ASKED, ...COMMON },
      examples: [['svc plugin doctor dev.example.hello', 'one package']],
    },
  ],
  notes: ['Approvals and switches are written to the configuration of the installation, never to the workspace.'],
} as const satisfies Group
