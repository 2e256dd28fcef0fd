/** What `svc session` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const ID = {
  name: 'id',
  needs: 'the id of a session, its short name or how one of them begins; see svc session list',
  completes: 'session',
} as const satisfies Word
const COMMON = { server: { ...SERVER, otherwise: 'the local one, or one for the moment' }, json: JSON_OUT } as const

export const SESSION = {
  name: 'session',
  alias: 'sessions',
  summary: 'list, show, rename, fork, undo, release, export and delete conversations',
  pages: [
    {
      name: 'session list',
      summary: 'the sessions of a directory, the latest first, their forks and subagents below them',
      words: [],
      options: {
        dir: DIRECTORY,
        all: { type: 'flag', help: 'of every directory' },
        limit: { type: 'number', value: 'number', least: 1, most: 200, help: 'at most so many', otherwise: '20' },
        cursor: { type: 'text', value: 'cursor', help: 'go on where the page before has ended; it says so' },
        ...COMMON,
      },
      examples: [
        ['svc session list', 'those of the current directory'],
        ['svc session list --all --json', 'all of them, for a program'],
      ],
    },
    {
      name: 'session show',
      summary: 'what it is, what it waits for, and what was said last',
      words: [ID],
      options: { messages: { type: 'number', value: 'number', least: 1, most: 100, help: 'so many messages', otherwise: '4' }, ...COMMON },
      examples: [['svc session show ses_… --messages 20', 'the last twenty messages']],
    },
    {
      name: 'session rename',
      summary: 'give it another title',
      words: [ID, { name: 'title', needs: 'the new title', many: true }],
      options: COMMON,
      examples: [['svc session rename ses_… "the parser"', 'shown in lists from now on']],
    },
    {
      name: 'session fork',
      summary: 'copy it, to go on another way; prints the id of the copy',
      words: [ID],
      options: { message: { type: 'text', value: 'id', help: 'only up to this message' }, ...COMMON },
      examples: [['svc run --session "$(svc session fork ses_…)" "try it with a map"', 'another way from here']],
    },
    {
      name: 'session undo',
      summary: 'take back the last turn with what it changed on disk; nothing when that was changed since',
      words: [ID],
      options: { message: { type: 'text', value: 'id', help: 'everything from this message on' }, ...COMMON },
      examples: [['svc session undo ses_…', 'the last turn and its edits']],
    },
    {
      name: 'session redo',
      summary: 'bring back the next undone turn',
      words: [ID],
      options: { message: { type: 'text', value: 'id', help: 'everything before this message' }, ...COMMON },
      examples: [['svc session redo ses_…', 'what was undone last']],
    },
    {
      name: 'session release',
      summary: 'give the oldest prompt its turn that is held, as those of an imported conversation are',
      words: [ID],
      options: {
        message: { type: 'text', value: 'id', help: 'that of this message' },
        all: { type: 'flag', help: 'every one that is held, in order' },
        ...COMMON,
      },
      examples: [['svc session release ses_…', 'the next prompt that came with a conversation']],
    },
    {
      name: 'session export',
      summary: 'print it as JSON; without an id every session of a directory',
      words: [{ name: 'id' }],
      options: { dir: DIRECTORY, artifacts: { type: 'flag', help: 'with what was uploaded to it' }, ...COMMON },
      examples: [
        ['svc session export ses_… > conversation.json', 'one conversation'],
        ['svc session export --artifacts > all.json', 'everything of the current directory'],
      ],
    },
    {
      name: 'session import',
      summary: 'add what was exported under new ids, which are printed; nothing of it runs before svc session release',
      words: [{ name: 'file', needs: 'a file', completes: 'file' }],
      options: { dir: { ...DIRECTORY, help: 'paths lie in this directory from then on' }, ...COMMON },
      examples: [['svc session import conversation.json', 'into the current directory']],
    },
    {
      name: 'session delete',
      summary: 'remove it for good, with its forks and subagents, after asking',
      words: [ID],
      options: {
        yes: { type: 'flag', help: 'without asking' },
        'keep-forks': { type: 'flag', help: 'forks stay, as conversations of their own' },
        ...COMMON,
      },
      examples: [
        ['svc session delete ses_… --yes', 'without asking'],
        ['svc session delete ses_… --keep-forks', 'and what was forked from it is kept'],
      ],
    },
  ],
} as const satisfies Group
