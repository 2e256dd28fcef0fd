/** What an empty log says: why it is empty, and what to do. Pure. */

export interface EmptyLog {
  readonly text: string
  /** What a button beside it does. */
  readonly act?: 'show-all' | 'forward'
}

/** `held`: records there are; `past`: those up to the position; `hidden`: the filters that are on, in words. */
export function emptyLog(
  { held, past, isLive }: { readonly held: number; readonly past: number; readonly isLive: boolean },
  hidden: readonly string[],
): EmptyLog {
  if (held === 0 && !isLive) return { text: 'This trace holds no records.' }
  if (held === 0)
    return {
      text: 'Nothing has happened since you began to look. Begin something, such as svc run "hello" in a terminal: what it does is told here, line by line.',
    }
  if (past === 0) return { text: 'Nothing that is held had happened yet at this moment.', act: 'forward' }
  return { text: `None of the ${past} records up to here is shown: ${hidden.join(', ')}.`, act: 'show-all' }
}
