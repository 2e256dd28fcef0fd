import { KiB, MINUTE, SECOND } from './units.js'

/** Limits of the search in what was said. Sizes in characters, times in ms. */
export const searchLimits = {
  search: {
    query: 2_000,
    /** Words of a query that are looked for; what follows them is ignored. */
    words: 24,
    results: 20,
    maxResults: 100,
    /** Of a message, what is indexed. */
    text: 8_000,
    excerpt: 200,
    /** Messages that are looked at in one step. */
    step: 8,
    /** Events that are looked at in one step, and bytes of them: many tell of one message. */
    events: 256,
    eventBytes: 512 * KiB,
    /** Matches that are ranked, the newest. */
    ranked: 2_000,
    /** Words any of which is looked for, where no message has all: the rarest. */
    telling: 6,
    /** Different words that are remembered to find what was mistyped; so many that are like a word, and so many that stand for it. */
    vocabulary: 400_000,
    alike: 200,
    corrections: 6,
    /** Sessions a caller who may see only some is shown hits of, the newest. */
    sessions: 20_000,
    /** How long a change waits for others. */
    gathering: 200,
    /** After the start, unless somebody searches or says something. */
    rest: 5 * SECOND,
    /** How long a search waits for what was said just before it. */
    patience: 1 * SECOND,
    /** How soon a failed step is tried again. */
    retry: 1 * MINUTE,
  },
} as const
