/** Conversations that are compacted, whatever comes between. */
import type { History, Play, Step } from '../history.js'
import { abort, broken, compact, create, fails, fills, hangs, overflows, prompt, release, restart, retried, says, wait, when } from './steps.js'

/** So many characters are worth a compaction. */
const LONG = 60_000
const long = (name: number, plays: readonly Play[], summary: readonly Play[] = []): Step => prompt(name, plays, { characters: LONG, summary })

export const COMPACTIONS: Readonly<Record<string, History>> = {
  'a run compacts before it asks, and after': [create, long(1, [fills]), wait(), long(2, [fills, says]), wait(), long(3, [fills, fills, fills]), wait()],
  'a summary fails, is tried again, and falls silent': [
    create,
    long(1, [says], [retried, says]),
    wait(),
    compact,
    wait(5000),
    long(2, [says], [fails]),
    wait(),
    compact,
    wait(),
    long(3, [says], [hangs]),
    wait(),
    compact,
    wait(1_000_000),
    wait(1_000_000),
    long(4, [says], [{ as: 'cut', words: 0 }]),
    wait(),
    compact,
    wait(),
  ],
  'a summary is aborted wherever it is': [
    create,
    long(1, [says], [hangs]),
    wait(),
    compact,
    wait(),
    abort(),
    wait(),
    long(2, [says], [retried]),
    wait(),
    compact,
    when('compaction: waiting', abort()),
    wait(),
    when('compaction: opening', abort()),
    compact,
    wait(),
  ],
  'a summary cannot be stored': [
    create,
    long(1, [says]),
    wait(),
    when('compaction: opening', broken),
    compact,
    wait(40_000),
    when('compaction: recording', broken),
    compact,
    wait(40_000),
    when('compaction: recording', broken),
    when('compaction: ending', broken),
    compact,
    wait(40_000),
  ],
  'what was asked is too much': [create, long(1, [says]), wait(), long(2, [overflows, says], [says]), wait(), long(3, [overflows], [fails]), wait()],
  'the server stops while it compacts': [create, long(1, [says], [hangs]), wait(), compact, wait(), restart, compact, wait(), release(), wait()],
}
