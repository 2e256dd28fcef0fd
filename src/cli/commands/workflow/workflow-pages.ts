/** What `svc workflow` takes. */
import { LIMITS } from '../../../protocol/limits.js'
import { DIRECTORY, type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const ID = { name: 'id', needs: 'the id of a workflow' } as const satisfies Word
const COMMON = { dir: { ...DIRECTORY, help: 'workspace' }, json: JSON_OUT } as const
const ON_SERVER = { ...COMMON, server: { ...SERVER, otherwise: 'the local one' } } as const
const { preview, previewMax, historyDefault, historyMax } = LIMITS.workflows

export const WORKFLOW = {
  name: 'workflow',
  alias: 'workflows',
  summary: 'write, check, preview, run, pause and delete scheduled workflows',
  pages: [
    {
      name: 'workflow list',
      summary: 'the workflows of a workspace',
      words: [],
      options: ON_SERVER,
      examples: [['svc workflow list', 'those of the current directory, and when they run next']],
    },
    {
      name: 'workflow preview',
      summary: 'when it will run; an id of the workspace does too',
      words: [{ name: 'file', needs: 'a workflow file', completes: 'file' }],
      options: {
        count: { type: 'number', value: 'number', least: 1, most: previewMax, help: 'so many occurrences', otherwise: String(preview) },
        from: { type: 'text', value: 'time', help: 'a day or a moment, such as 2026-05-04T09:00:00+02:00', otherwise: 'now' },
        ...COMMON,
      },
      examples: [['svc workflow preview daily-report --count 3', 'the next three']],
    },
    {
      name: 'workflow validate',
      summary: 'every mistake of files and directories',
      words: [{ name: 'path', many: true, completes: 'file' }],
      options: COMMON,
      examples: [['svc workflow validate', 'those of the workspace']],
    },
    {
      name: 'workflow accept',
      summary: 'run its file by schedule, as it is now: what came with a checkout needs it',
      words: [ID],
      options: ON_SERVER,
      examples: [['svc workflow accept daily-report', 'this content, and no other']],
    },
    {
      name: 'workflow show',
      summary: 'one of them: its schedule, what is wrong with it, its last runs and its prompt',
      words: [ID],
      options: ON_SERVER,
      examples: [['svc workflow show daily-report', 'all of it']],
    },
    {
      name: 'workflow activate',
      summary: 'run it by schedule from now on, as it is now',
      words: [ID],
      options: ON_SERVER,
      examples: [['svc workflow activate daily-report', 'until its file changes']],
    },
    {
      name: 'workflow pause',
      summary: 'do not run it by schedule, until its file changes or it is activated',
      words: [ID],
      options: ON_SERVER,
      examples: [['svc workflow pause daily-report', 'what runs goes on']],
    },
    {
      name: 'workflow run',
      summary: 'run it now',
      words: [ID],
      options: { wait: { type: 'flag', help: 'until it has ended; 1 when it failed, 3 when something was refused' }, ...ON_SERVER },
      examples: [
        ['svc workflow run daily-report', 'and does not wait for it'],
        ['svc workflow run daily-report --wait', 'and tells how it ended'],
      ],
    },
    {
      name: 'workflow retry',
      summary: 'run again what failed, was interrupted or was replaced',
      words: [ID, { name: 'run' }],
      options: ON_SERVER,
      examples: [['svc workflow retry daily-report', 'the latest of those']],
    },
    {
      name: 'workflow delete',
      summary: 'remove its file, after asking; its history stays',
      words: [ID],
      options: { yes: { type: 'flag', help: 'without asking' }, ...ON_SERVER },
      examples: [['svc workflow delete daily-report --yes', 'without asking']],
    },
    {
      name: 'workflow runs',
      summary: 'its runs, the newest first',
      words: [ID],
      options: {
        limit: { type: 'number', value: 'number', least: 1, most: historyMax, help: 'at most so many', otherwise: String(historyDefault) },
        ...ON_SERVER,
      },
      examples: [['svc workflow runs daily-report --limit 5', 'the last five']],
    },
    {
      name: 'workflow new',
      summary: 'write a workflow file to begin with',
      words: [{ name: 'id', needs: 'the id of the new workflow, such as daily-report' }],
      options: { global: { type: 'flag', help: 'for every workspace, beside your configuration' }, ...COMMON },
      examples: [['svc workflow new daily-report', 'in .svc/workflows of the current directory']],
    },
  ],
  notes: ['Mistakes go to standard error as "file:line: message", and the exit code is 1.'],
} as const satisfies Group
