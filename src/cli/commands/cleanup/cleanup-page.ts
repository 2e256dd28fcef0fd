/** What `svc cleanup` takes. */
import { JSON_OUT, type Page } from '../../line/page.js'

export const CLEANUP = {
  name: 'cleanup',
  summary: 'what is kept, how big it is and what would go; with --yes it goes',
  words: [],
  options: {
    'unused-for': {
      type: 'number',
      value: 'days',
      least: 1,
      most: 36_500,
      help: 'conversations nobody used for so many days go, too',
      otherwise: 'none go',
    },
    yes: { type: 'flag', help: 'do it' },
    json: JSON_OUT,
  },
  examples: [
    ['svc cleanup', 'looks, and changes nothing'],
    ['svc cleanup --unused-for 90 --yes', 'conversations of last season, and the room they took'],
  ],
  notes: [
    'A conversation that is pinned stays.',
    'A fork is a conversation: it goes or stays by its own last use, and is one of its own where what it came from goes. What subagents did belongs to the conversation they did it for.',
    'What goes anyway is made again when it is needed: the cache, the older half of the log, and room in the database that holds nothing. That needs a state directory no server uses.',
  ],
} as const satisfies Page

export interface CleanupOptions {
  /** Days; undefined = no conversation goes. */
  readonly unusedFor: number | undefined
  readonly yes: boolean
  readonly json: boolean
}
