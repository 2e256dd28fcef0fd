import { LATER } from './retries.js'
import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of the search in what was said. Sizes in characters, times in ms. */
export const searchLimits = {
  search: {
    query: 2_000,
    /** Words of a query that are looked for; what follows them is ignored. */
    words: 24,
    /** Characters of a word that are indexed and looked for. */
    word: 64,
    results: 20,
    maxResults: 100,
    /** Bytes of all texts that are indexed, unless the configuration says otherwise. The file takes three to four times as much. */
    storedBytes: 1024 * MiB,
    /** Of a message, what is indexed. */
    text: 8_000,
    excerpt: 200,
    /** Messages that are looked at in one step. */
    step: 8,
    /** Characters after which a step takes no further message. */
    stepText: 2_000,
    /** Characters that come and go before the steps that did it are committed, where no step finds nothing left to do before. */
    commitText: 32_000,
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
    /** Of those that have anything in common with it, what is compared. */
    related: 20_000,
    /** Words of a query that are taken for mistyped. */
    mistyped: 6,
    corrections: 6,
    /** Searches that are answered or wait for it, and of one caller; one more is refused. */
    waiting: 200,
    waitingEach: 100,
    /** Sessions a caller who may see only some is shown hits of, the newest. */
    sessions: 20_000,
    /** Nothing has changed for so long: what was said before is indexed. */
    gathering: 200,
    /** How long changes wait while others follow, how many do, and how many characters of them: what a search has to catch up with. */
    longest: 2 * SECOND,
    backlog: 512,
    backlogText: 32_000,
    /** After the start, unless somebody searches or says something. */
    rest: 5 * SECOND,
    /** How long a search waits for what was said just before it. */
    patience: 1 * SECOND,
    /** How soon a failed step is tried again. */
    retry: LATER,
  },
  embeddings: {
    /** Texts of one request, and of each what is sent. */
    batch: 32,
    text: 8_000,
    /** Numbers of a vector, at most, and as they are asked for where a model can answer fewer. */
    dimensions: 4_096,
    asked: 256,
    /** Characters that are sent in an hour. */
    hourly: 8_000_000,
    hour: 60 * MINUTE,
    timeout: 1 * MINUTE,
    /** How long a search waits for the vector of its query, and how many of these are remembered. */
    patience: 2 * SECOND,
    remembered: 100,
    /** Bytes of an answer. */
    answer: 8 * MiB,
    retry: LATER,
    /** Messages that are looked at by meaning, and the cosine distance beyond which nothing is meant. */
    nearest: 200,
    farthest: 0.75,
    /** Vectors that are removed in one step. */
    swept: 256,
  },
} as const
