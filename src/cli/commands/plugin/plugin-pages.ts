/** What `svc plugin` takes. */
import { CHECK_FILE } from './check-file-name.js'
import { KINDS } from './plugin-kinds.js'
import { DIRECTORY, type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const ID = { name: 'id', needs: 'the id of a plugin, such as dev.example.hello', completes: 'plugin' } as const satisfies Word
const FOLDER_OR_ID = {
  ...ID,
  name: 'id or folder',
  needs: 'the id of a plugin, or its folder, such as ./hello',
  completes: 'directory',
} as const satisfies Word
const COMMON = { dir: { ...DIRECTORY, help: 'workspace' }, json: JSON_OUT } as const
const APPROVING = {
  trust: { type: 'flag', help: 'approve it at once, after showing it' },
  yes: { type: 'flag', help: 'with --trust: approve without asking' },
} as const
const ASKED = { ...SERVER, otherwise: 'the local one, if it runs' } as const

export const PLUGIN = {
  name: 'plugin',
  alias: 'plugins',
  summary: 'make, list, approve and check plugins',
  pages: [
    {
      name: 'plugin init',
      summary: 'write a working package, and what it is checked by',
      words: [
        {
          name: 'id or folder',
          needs: 'the id of a plugin, such as dev.example.hello, or a folder, such as ./hello',
          completes: 'directory',
        },
      ],
      options: {
        with: {
          type: 'text',
          value: 'kind',
          choices: KINDS,
          multiple: true,
          help: `with one of ${KINDS.join(', ')}; may be repeated`,
          otherwise: 'tool',
        },
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
        id: { type: 'text', value: 'id', help: 'id of a package in a folder', otherwise: 'dev.example. and the name of the folder' },
        ...COMMON,
      },
      examples: [
        ['svc plugin init dev.example.hello --language ts', 'a package in TypeScript, where svc finds it'],
        ['svc plugin init ./hello --with hook --with route --language py', 'in a folder of its own, to be tried, packed and added'],
      ],
      notes: ['A package in a folder is in <folder>/package; its sources and its checks are around it.'],
    },
    {
      name: 'plugin add',
      summary: 'install a package from a folder, an archive, npm or a repository',
      words: [{ name: 'source', needs: 'what to add: ./folder, package.tgz, the name of an npm package, or https://…', completes: 'file' }],
      options: {
        path: { type: 'text', value: 'folder', help: 'the folder in the archive or the repository that is the package' },
        ...APPROVING,
        ...COMMON,
      },
      examples: [
        ['svc plugin add ./dev.example.hello-0.1.0.tgz', 'an archive that svc plugin pack made'],
        ['svc plugin add @example/svc-hello@1.2.0 --trust', 'of the npm registry; shows it and asks'],
        ['svc plugin add https://example.org/plugins.git#v2 --path hello', 'the folder hello of a tag or branch'],
      ],
      notes: [
        'The package gets into ~/.config/svc/plugins/<id>. Nothing of it runs before it is approved, and no script of npm or git ever does; dependencies are not installed, so a package brings what it needs.',
      ],
    },
    {
      name: 'plugin update',
      summary: 'fetch a package anew, from where it was added or from another source',
      words: [ID, { name: 'source', completes: 'file' }],
      options: {
        path: { type: 'text', value: 'folder', help: 'the folder in the archive or the repository that is the package' },
        diff: { type: 'flag', help: 'show what differs line by line' },
        force: { type: 'flag', help: 'also when its folder was changed here' },
        ...APPROVING,
        ...COMMON,
      },
      examples: [
        ['svc plugin update dev.example.hello --diff', 'what it was serves on until what it is now is approved'],
        ['svc plugin update dev.example.hello ./dev.example.hello-0.2.0.tgz', 'from another archive; later updates come from there'],
      ],
    },
    {
      name: 'plugin pack',
      summary: 'build a package and make an archive of it',
      words: [FOLDER_OR_ID],
      options: {
        dir: COMMON.dir,
        output: { type: 'text', value: 'file', help: 'write it here', otherwise: '<id>-<version>.tgz', completes: 'file' },
        force: { type: 'flag', help: 'write over another file' },
        json: JSON_OUT,
      },
      examples: [['svc plugin pack ./hello', 'the same bytes for the same files; add it with svc plugin add']],
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
        capabilities: {
          type: 'text',
          value: 'a,b',
          help: 'approve these, among which is all that it asks for',
          otherwise: 'what it asks for',
        },
        source: {
          type: 'text',
          value: 'place',
          choices: ['user', 'workspace'],
          help: 'user or workspace, when both have the package',
        },
        session: { type: 'text', value: 'id', help: 'session of a package with the scope session' },
        user: { type: 'text', value: 'id', help: 'user of a package with the scope user', otherwise: 'you' },
        native: { type: 'flag', help: 'approve its native part, which runs inside of the server and may do all that svc may' },
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
      notes: [
        'Secrets are kept in plugin-auth.json of the state directory, for you alone; nothing shows them again. One has at least 8 characters.',
      ],
    },
    {
      name: 'plugin dev',
      summary: 'build, approve and serve it after every change, with what it says beside',
      words: [FOLDER_OR_ID],
      options: { dir: COMMON.dir },
      examples: [['svc plugin dev dev.example.hello', 'until Ctrl-C; try it with svc plugin test in another terminal']],
      notes: [
        'It approves every change without a question, so use it on what you write yourself. TypeScript is built by the script "build" of its package.json where npm install has been, else by leaving its types out. A package in a folder of its own is installed at every change, and stays so.',
      ],
    },
    {
      name: 'plugin test',
      summary: 'check a whole package, or call one tool once',
      words: [FOLDER_OR_ID, { name: 'tool' }, { name: 'json' }],
      options: { server: { ...SERVER, otherwise: 'the local one, or one for the moment' }, ...COMMON },
      examples: [
        ['svc plugin test ./hello', 'builds it, runs it apart from any server, and checks it; ends with 1 when something is wrong'],
        [`svc plugin test dev.example.hello hello '{"name": "Ada"}'`, 'calls a tool as a model would, and prints what it answers'],
      ],
      notes: [`What a package is to do besides is in ${CHECK_FILE}, around the folder "package" or in plugin-sources/<id>.`],
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
        'keep-data': { type: 'flag', help: 'keep its entry in the configuration, and its secrets' },
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
      words: [{ name: 'id', completes: 'plugin' }],
      options: { server: ASKED, ...COMMON },
      examples: [['svc plugin doctor dev.example.hello', 'one package']],
    },
  ],
  notes: ['Approvals and switches are written to the configuration of the installation, never to the workspace.'],
} as const satisfies Group
